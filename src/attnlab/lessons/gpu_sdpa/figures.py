"""Lesson 13's figures: what a clock sees of a GPU, and speeds that others published.

What others measured stands in `published.json`, with its source; what was measured by one's own
hand in `recorded/`. No number of either is written anywhere else.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any

from attnlab.figures.picture import (
    BLUE,
    GREY,
    ORANGE,
    PURPLE,
    Picture,
    in_style,
    name_lines,
    new_figure,
)
from attnlab.lessons.gpu_sdpa.kept import recorded

TERA = 1e12
OURS = ((BLUE, "o"), (ORANGE, "s"), (PURPLE, "^"))
PUBLISHED = ((GREY, ""),) * 3
SHORTEST = 1024  # tokens that are shown; others published none for fewer
CLEAR = 1.1  # times as fast, where two runs on one day do not differ by chance
# Of what was measured by one's own hand: PyTorch's call as it chooses, and two single kernels.
OWN = {"sdpa": "PyTorch's call", "triton": "Lesson 13's kernel", "flash": "FlashAttention-2"}


def published() -> dict[str, Any]:
    """What others measured: 'speeds' and 'peaks', each with its source."""
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
        "A clock sees the GPU's work only if Python waits for it",
    )


@in_style
def speeds() -> Picture:
    """TFLOP/s by length: what is recorded here, what others published, and the device's peak."""
    given = published()["speeds"]
    when = date.fromisoformat(given["date"]).strftime("%B %Y")
    peak = next(p for p in published()["peaks"] if p["device"].startswith(given["device"]))
    ticks = sorted({row["n"] for row in given["rows"]})
    at, (here, own) = peak["flops"] / TERA, _own(given["d"])
    theirs = {
        name: [(row["n"], row["tflops"]) for row in given["rows"] if row["kernel"] == kernel]
        for kernel, name in given["kernels"].items()
    }
    figure, [[axes]] = new_figure(width=5.1, height=5.2)
    said = []
    for lines, looks, width, where in ((theirs, PUBLISHED, 1.3, when), (own, OURS, 3, here)):
        for (name, points), (colour, marker) in zip(lines.items(), looks, strict=False):
            x, y = zip(*points, strict=True)
            axes.plot(x, y, color=colour, marker=marker, markersize=7, linewidth=width, label=name)
            said.append(f"{name} ({where}) from {y[0]:.0f} to {y[-1]:.0f}")
    axes.axhline(at, color="black", linewidth=1.5)
    axes.text(ticks[0], at + 15, f"{peak['device']} at best: {at:.0f}", va="bottom")
    axes.set_xscale("log", base=2)
    axes.set(xlabel="N, tokens", ylim=(0, at * 1.1), xlim=(ticks[0] / 1.2, ticks[-1] * 1.1))
    axes.set_xticks(ticks[::2], [f"{n:,}" for n in ticks[::2]])
    axes.set_title("TFLOP/s")
    name_lines(axes)
    theirs_told = f"{when}, {given['heads']} heads of {given['batch']} texts, other versions"
    return Picture(
        figure,
        f"TFLOP/s over N, one line a kernel: {'; '.join(said)}. The line at {at:.0f} is "
        f"what the {peak['device']} can do at best.",
        "\n".join(
            [
                _passes(own) or "How fast attention is",
                *([f"In colour: {here}."] if own else []),
                f"Grey: published in {theirs_told}.",
            ]
        ),
    )


def _passes(own: Mapping[str, Sequence[tuple[int, float]]]) -> str:
    """From which length on the lesson's kernel is faster than another by more than chance."""
    kernel, other = (dict(own.get(OWN[way], ())) for way in ("triton", "flash"))
    slower = [n for n in kernel if n in other and kernel[n] <= CLEAR * other[n]]
    faster = [n for n in kernel if n in other and n > max(slower, default=0)]
    if not faster:
        return ""
    return f"{OWN['triton']} passes {OWN['flash']} from {min(faster):,} tokens"


def _own(d: int) -> tuple[str, dict[str, list[tuple[int, float]]]]:
    """TFLOP/s by length for each way in the newest run recorded on a GPU with heads d wide.

    Returns:
        How, on what and when it ran, and the speeds.
    """
    for document in recorded():
        for run in document["runs"]:
            if run["device"] != "cuda" or run["causal"] or run["d"] != d:
                continue
            where = (
                f"{document['device']}, {document['date']}, {run['heads']} heads of one text, "
                f"{d} wide, {run['dtype']}, not causal"
            )
            rows = [row for row in run["rows"] if row["seconds"] and row["n"] >= SHORTEST]
            flops = 4 * run["heads"] * run["d"]  # for each pair of tokens
            return where, {
                name: [(row["n"], flops * row["n"] ** 2 / row["seconds"] / TERA) for row in mine]
                for way, name in OWN.items()
                if (mine := [row for row in rows if row["name"] == way])
            }
    return "", {}
