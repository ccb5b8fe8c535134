"""Lesson 13's figures: what a clock sees of a GPU, and how fast attention is on one.

What makers of GPUs promise stands in `published.json`, with its source; what was measured in
`recorded/`. No number of either is written anywhere else.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from attnlab.figures.picture import (
    BLUE,
    GREY,
    ORANGE,
    PAGE,
    Picture,
    in_style,
    name_lines,
    new_figure,
)
from attnlab.lessons.gpu_sdpa.kept import recorded

TERA = 1e12
SHORTEST, WIDTH = 1024, 128  # tokens from which on, and width of a head, that are shown
CLEAR = 1.1  # times as fast, where two runs on one day do not differ by chance
# PyTorch's call as it chooses, and two single kernels.
OWN = {"sdpa": "PyTorch's call", "triton": "Lesson 13's kernel", "flash": "FlashAttention-2"}
LOOKS = {OWN["triton"]: (ORANGE, 4.5), OWN["flash"]: (BLUE, 3.5)}  # the two that are compared


def published() -> dict[str, Any]:
    """What GPUs can do at best, 'peaks', each with its source."""
    path = Path(__file__).with_name("published.json")
    return json.loads(path.read_text(encoding="utf-8"))


@in_style
def what_a_clock_sees() -> Picture:
    """A call that hands its work to a GPU, timed without waiting and with it. A sketch."""
    figure, panels = new_figure(columns=2, width=9.8, height=2.9)
    for axes, title, stop in zip(
        panels[0],
        ("Stopped at once, it times the handing over", "Synchronise first, and it times all"),
        (1.0, 7.0),
        strict=True,
    ):
        axes.axvspan(0, stop, 0, 0.72, color=BLUE, alpha=0.12, linewidth=0)
        axes.barh([1], [1.0], color=BLUE, height=0.5)
        axes.barh([0], [6.0], left=1.0, color="#bbbbbb", height=0.5)
        axes.text(4, 0, "works", ha="center", va="center")
        if stop > 1:
            axes.plot([1.0, stop], [1, 1], ":", color=BLUE, linewidth=2)
            axes.text(4, 1.1, "waits", ha="center", va="bottom", color=BLUE)
        axes.plot([0, 0, stop, stop], [1.5, 1.6, 1.6, 1.5], color=BLUE, linewidth=2)
        axes.text(0, 1.72, "what the clock says", color=BLUE, va="bottom")
        axes.set_title(title)
        axes.set_yticks([0, 1], ["GPU", "Python"])
        axes.set(ylim=(-0.45, 2.2), xlim=(-0.05, 7.05), xticks=[])
        axes.spines[:].set_visible(False)
        axes.tick_params(length=0, labelcolor="black")
        axes.set_xlabel("time →", loc="left")
    return Picture(
        figure,
        "Two timelines of the same call, a sketch. Python hands the work over in a moment, and "
        "the GPU then works for much longer. First, the clock is stopped when the call "
        "returns, before nearly all of the work. Then, Python waits until the GPU is done, "
        "and the clock is stopped then.",
        "A clock sees the GPU's work only if Python waits for it\nA sketch.",
    )


@in_style
def speeds() -> Picture:
    """TFLOP/s by length, as recorded here, and the device's peak."""
    where, own = _own()
    figure, [[axes]] = new_figure(width=PAGE, height=4)
    said, ahead = [], _ahead(own)
    for name, points in own.items():
        x, y = zip(*points, strict=True)
        colour, width = LOOKS.get(name, (GREY, 2))
        axes.plot(
            x, y, color=colour, marker="o", ms=2 * width, lw=width, label=f"{name}: {y[-1]:.0f}"
        )
        said.append(f"{name} from {y[0]:.0f} to {y[-1]:.0f}")
    if ahead:
        lengths, kernel, other = zip(*ahead, strict=True)
        axes.fill_between(lengths, kernel, other, color=ORANGE, alpha=0.15, lw=0)
        axes.plot(lengths[:1] * 2, [0, other[0]], ":", color=GREY, lw=1.5, zorder=0, label="_")
    for peak in published()["peaks"]:
        if " ".join(peak["device"].split()[:2]) in where:  # its maker and its name
            at = peak["flops"] / TERA
            axes.axhline(at, color=GREY, linewidth=1, label=f"the GPU's peak: {at:.0f}")
            said.append(f"{peak['device']} at best {at:.0f}")
    axes.set_xscale("log", base=2)
    axes.set(xlabel="N, tokens, log", xlim=(x[0] / 1.2, x[-1] * 1.1), ylim=(0, None))
    first = ahead[0][0] if ahead else x[-1]  # every other one has a name, this among them
    axes.set_xticks(x, [f"{n:,}" * ((m - x.index(first)) % 2 == 0) for m, n in enumerate(x)])
    axes.locator_params(axis="y", nbins=3)
    axes.minorticks_off()
    axes.yaxis.set_major_formatter("{x:,.0f}")
    axes.set_title("TFLOP/s")
    name_lines(axes)
    title = f"Lesson 13's kernel clearly beats {OWN['flash']} from {first:,} tokens"
    title = title if ahead else "How fast attention is"
    return Picture(
        figure,
        f"TFLOP/s over N, one line a kernel: {'; '.join(said)}.",
        f"{title}\n{where}.",
    )


def _ahead(own: Mapping[str, Sequence[tuple[int, float]]]) -> list[tuple[int, float, float]]:
    """The lengths from where on the lesson's kernel is the faster, with both speeds."""
    kernel, other = (dict(own.get(OWN[way], ())) for way in ("triton", "flash"))
    common = sorted({*kernel} & {*other})
    slower = [n for n in common if kernel[n] <= CLEAR * other[n]]
    if not slower or slower[-1] == common[-1]:
        return []
    return [(n, kernel[n], other[n]) for n in common[len(slower) :]]


def _own() -> tuple[str, dict[str, list[tuple[int, float]]]]:
    """TFLOP/s by length for each way in the newest run recorded on a GPU.

    Returns:
        How, on what and when it ran, and the speeds.
    """
    document, run = next(
        (document, run)
        for document in recorded()
        for run in document["runs"]
        if run["device"] == "cuda" and not run["causal"] and run["d"] == WIDTH
    )
    rows = [row for row in run["rows"] if row["seconds"] and row["n"] >= SHORTEST]
    flops = 4 * run["heads"] * WIDTH  # for each pair of tokens
    where = (
        f"{document['device']}, {document['date']}: {run['heads']} heads, {WIDTH} wide, "
        f"{run['dtype']}, not causal"
    )
    return where, {
        name: [(row["n"], flops * row["n"] ** 2 / row["seconds"] / TERA) for row in mine]
        for way, name in OWN.items()
        if (mine := [row for row in rows if row["name"] == way])
    }
