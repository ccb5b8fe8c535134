"""What the figures cost the browser, in a real JupyterLab: first paint, and a step by arrow key.

    python -m benchmarks.figures

First paint runs from the command to run the cell to the frame after the figure stands in the page,
the kernel's work included; the cell ran once before. A step is one arrow key: the time in the key's
handlers with style and layout, beside the 16 ms that a frame lasts; and all that the main thread
does until the next key, with painting (in software), Python's answer and JupyterLab's own work.
"""

from __future__ import annotations

import statistics
import tempfile
from pathlib import Path

from tests.figure_lab import FigureLab
from tests.figure_sources import LARGEST, SIZES, SOURCES
from tests.lab import browser, chromium_path, jupyterlab

RUNS = 31
FRAME = 16  # ms
# What an arrow key moves in each: at the most cells that it shows, or as the tests show it.
GRID = "[role=gridcell][tabindex='0']"
TARGETS = {
    **dict.fromkeys(("MaskPainter", "ByHand", "WhoListens"), GRID),
    "Saturation": "input[type=range]",
    "Cost": "input",
    "Heads": "[role=option][tabindex='0']",
    "SoftLookup": "[role=slider]",
}
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
_STEPS = """async ([target, runs]) => {
    const frame = document.querySelector('.attn-figure');
    const times = [];
    for (let run = 0; run < runs; run += 1) {
        const key = run % 2 ? 'ArrowUp' : 'ArrowDown';
        const node = frame.querySelector(target);
        const event = new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true });
        const start = performance.now();
        if (node.type === 'range') { // which a key that a script makes does not move
            node.value = Number(node.value) + (run % 2 ? -1 : 1);
            node.dispatchEvent(new InputEvent('input', { bubbles: true }));
        } else node.dispatchEvent(event);
        frame.getBoundingClientRect();
        times.push(performance.now() - start);
        await new Promise(done => setTimeout(done, 60));
    }
    return times;
}"""


def steps(lab: FigureLab, target: str) -> tuple[list[float], float]:
    """Milliseconds in each key's handlers, and of all that a step makes the main thread do."""
    session = lab.page.context.new_cdp_session(lab.page)
    session.send("Performance.enable")

    def worked() -> float:
        metrics = session.send("Performance.getMetrics")["metrics"]
        return 1000 * next(each["value"] for each in metrics if each["name"] == "TaskDuration")

    before = worked()
    times = lab.page.evaluate(_STEPS, [target, RUNS])
    return times, (worked() - before) / RUNS


def main() -> None:
    if not chromium_path():
        print("figures: there is no Chromium here")
        return
    print(f"{'figure':<14} {'paint ms':>9} {'key ms':>7} {'worst':>7} {'of 16':>7} {'all ms':>7}")
    with (
        tempfile.TemporaryDirectory() as scratch,
        jupyterlab(Path(scratch)) as server,
        browser() as chromium,
    ):
        lab = FigureLab(chromium, server, "figures")
        for name, target in TARGETS.items():
            largest = [f"{SIZES}figure = figures.live.{each}" for each in LARGEST.get(name, [])]
            lab.show([SOURCES[name], *largest][-1])
            paints = [lab.page.evaluate(_PAINT) for _ in range(5)]
            times, worked = steps(lab, target)
            print(
                f"{name:<14} {statistics.median(paints):9.0f} {statistics.median(times):7.2f} "
                f"{max(times):7.2f} {statistics.median(times) / FRAME:7.2f} {worked:7.2f}"
            )


if __name__ == "__main__":
    main()
