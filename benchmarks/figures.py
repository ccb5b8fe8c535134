"""What the figures cost the browser, in a real JupyterLab: first paint, and a step of a control.

    python -m benchmarks.figures [Race Tiles …]

First paint runs from the command to run the cell to the frame after the figure stands in the page,
the kernel's work included; the cell ran once before. A step is one move of a control. *page* is the
time in its handlers with style and layout, beside the 16 ms that a frame lasts. *Python* runs from
the step to the frame after Python's answer is drawn; – where the page does not ask it. *all* is
what the main thread does until the next step, with painting (in software) and JupyterLab's own
work. A goal that is missed has an exclamation mark.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
from pathlib import Path

from tests.figure_lab import FigureLab
from tests.figure_sources import LARGEST, SIZES, SOURCES
from tests.lab import browser, chromium_path, jupyterlab

RUNS = 31
PAGE, PYTHON = 16, 100  # ms: goals
# The control of each figure that is moved: a key, a slider's stop, or a press.
GRID, SLIDER, OPTION = "[role=gridcell]", "input[type=range]", "[role=option]"
CONTROLS = {
    "ByHand": GRID,
    "Cost": SLIDER,
    "Film": SLIDER,
    "Heads": OPTION,
    "MaskPainter": GRID,
    "Quiz": "button:not([aria-disabled])",
    "Race": SLIDER,
    "Roofline": SLIDER,
    "RotaryArrows": SLIDER,
    "Saturation": SLIDER,
    "Slopes": GRID,
    "SoftLookup": "[role=slider]",
    "Tiles": SLIDER,
    "TrainingScrubber": SLIDER,
    "WhoListens": OPTION,
}
FILM = """from attnlab.lessons.real_model import opening

figure = opening.opening()"""
_PAINT = """async () => {
    const old = document.querySelector('.attn-figure');
    const start = performance.now();
    window.jupyterapp.commands.execute('notebook:run-cell');
    for (;;) {
        await new Promise(requestAnimationFrame);
        const now = document.querySelector('.attn-figure');
        if (now && now !== old && now.getBoundingClientRect().height) break;
    }
    await new Promise(requestAnimationFrame);
    return performance.now() - start;
}"""
# An answer is a message with a state for the figure; the one that Python sends last counts.
_STEPS = """async ([control, runs]) => {
    const frame = document.querySelector('.attn-figure');
    const { kernel } = window.jupyterapp.shell.currentWidget.sessionContext.session;
    let start, answer;
    const hear = (_, { direction, msg }) => {
        const { method, state } = msg.content?.data ?? {};
        if (direction !== 'recv' || method !== 'update' || !state?.state) return;
        requestAnimationFrame(() => { answer = performance.now() - start; });
    };
    kernel.anyMessage.connect(hear);
    const [page, python] = [[], []];
    for (let run = 0; run < runs; run += 1) {
        const nodes = frame.querySelectorAll(control);
        const node = [...nodes].find((each) => each.tabIndex === 0) ?? nodes[0];
        if (!node) break;
        const back = run % 2;
        answer = null;
        start = performance.now();
        if (node.type === 'range') { // which a key that a script makes does not move
            node.value = Number(node.value) + (back ? -1 : 1) * (Number(node.step) || 1);
            node.dispatchEvent(new InputEvent('input', { bubbles: true }));
        } else if (node.matches('select')) {
            node.selectedIndex = (node.selectedIndex + 1) % node.options.length;
            node.dispatchEvent(new Event('change', { bubbles: true }));
        } else if (node.matches('button')) node.click();
        else {
            const key = back ? 'ArrowUp' : 'ArrowDown';
            const how = { key, bubbles: true, cancelable: true };
            node.dispatchEvent(new KeyboardEvent('keydown', how));
        }
        frame.getBoundingClientRect();
        page.push(performance.now() - start);
        await new Promise((done) => setTimeout(done, 300));
        if (answer !== null) python.push(answer);
    }
    kernel.anyMessage.disconnect(hear);
    return [page, python];
}"""


def steps(lab: FigureLab, control: str) -> tuple[list[float], list[float], float]:
    """Milliseconds of each step in the page and until Python's answer, and of the main thread."""
    session = lab.page.context.new_cdp_session(lab.page)
    session.send("Performance.enable")

    def worked() -> float:
        metrics = session.send("Performance.getMetrics")["metrics"]
        return 1000 * next(each["value"] for each in metrics if each["name"] == "TaskDuration")

    before = worked()
    page, python = lab.page.evaluate(_STEPS, [control, RUNS])
    return page, python, (worked() - before) / len(page)


def row(name: str, lab: FigureLab) -> str:
    """A line of the table: of a figure at its largest, or as the tests show it; of a real film."""
    largest = [f"{SIZES}figure = figures.live.{each}" for each in LARGEST.get(name, [])]
    lab.show(FILM if name == "Film" else [SOURCES[name], *largest][-1])
    paints = [lab.page.evaluate(_PAINT) for _ in range(5)]
    page, python, worked = steps(lab, CONTROLS[name])
    return (
        f"{name:<16} {statistics.median(paints):6.0f} {_against(PAGE, page):>16} "
        f"{_against(PYTHON, python):>16} {worked:6.1f}"
    )


def _against(goal: int, times: list[float]) -> str:
    """Median and worst, with a mark where the median misses the goal."""
    if not times:
        return "–"
    middle = statistics.median(times)
    return f"{middle:.1f} ({max(times):.0f}){'!' if middle > goal else ' '}"


def main() -> None:
    if not chromium_path():
        print("figures: there is no Chromium here")
        return
    if missing := SOURCES.keys() ^ CONTROLS.keys():
        raise SystemExit(f"figures: no control, or no figure: {', '.join(sorted(missing))}")
    print(f"{'figure':<16} {'paint':>6} {'page (worst)':>16} {'Python (worst)':>16} {'all':>6}  ms")
    with (
        tempfile.TemporaryDirectory() as scratch,
        jupyterlab(Path(scratch)) as server,
        browser() as chromium,
    ):
        lab = FigureLab(chromium, server, "figures")
        for name in sys.argv[1:] or CONTROLS:
            print(row(name, lab), flush=True)


if __name__ == "__main__":
    main()
