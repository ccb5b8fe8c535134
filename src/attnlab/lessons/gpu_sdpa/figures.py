"""Lesson 13's figures: what a clock sees of a GPU, and speeds that others published.

What others measured stands in `published.json`, with its source; what was measured by one's own
hand in `recorded/`. No number of either is written anywhere else.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
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
PUBLISHED = ((GREY, "v"), (GREY, "D"), (GREY, "P"))
SHORTEST = 1024  # tokens that are shown; others published none for fewer
# Of what was measured by one's own hand: PyTorch's call as it chooses, and two single kernels.
OWN = {"sdpa": "PyTorch's call", "triton": "Lesson 13's kernel", "flash": "FlashAttention-2"}


def published() -> dict[str, Any]:
    """What others measured: 'speeds' and 'peaks', each with its source."""
    path = Path(__file__).with_name("published.json")
    return json.loads(path.read_text(encoding="utf-8"))


@in_style
def what_a_clock_sees() -> Picture:
    """A call that hands its work to a GPU, timed without waiting and with it. A sketch."""
    figure, panels = new_figure(rows=2, width=5.0, height=4.6)
    for axes, title, stop in zip(
        panels[:, 0],
        ("Stopped at once, it times the handing over", "Synchronise first, and it times all"),
        (1.0, 7.0),
        strict=True,
    ):
        axes.axvspan(0, stop, color=BLUE, alpha=0.12, linewidth=0)
        axes.barh([1], [1.0], color=BLUE, height=0.5)
        axes.barh([0], [6.0], left=1.0, color="#bbbbbb", height=0.5)
        axes.text(4, 0, "works", ha="center", va="center")
        if stop > 1:
            axes.plot([1.0, stop], [1, 1], ":", color=BLUE, linewidth=2)
            axes.text(4, 1.1, "waits", ha="center", va="bottom", color=BLUE)
        for at, word in ((0.0, "start"), (stop, "stop")):
            axes.axvline(at, color=BLUE, linewidth=2)
            axes.text(at + 0.08, 1.42, word, color=BLUE)
        axes.set_title(title)
        axes.set_yticks([0, 1], ["GPU", "Python"])
        axes.set(ylim=(-0.45, 1.75), xlim=(-0.1, 8.2), xticks=[])
        axes.spines[:].set_visible(False)
        axes.tick_params(length=0)
    axes.set_xlabel("time →", loc="left")
    return Picture(
        figure,
        "Two timelines of the same call, a sketch. Python hands the work over in a moment, and "
        "the GPU then works for much longer. Above, the clock is stopped when the call "
        "returns, before nearly all of the work. Below, Python waits until the GPU is done, "
        "and the clock is stopped then.",
    )


@in_style
def speeds() -> Picture:
    """TFLOP/s by length: what others published, what is recorded here, and the device's peak."""
    given = published()["speeds"]
    when = date.fromisoformat(given["date"]).strftime("%B %Y")
    peak = next(p for p in published()["peaks"] if p["device"].startswith(given["device"]))
    figure, [[axes]] = new_figure(width=8.2, height=4.8)
    said = []
    for (kernel, name), look in zip(given["kernels"].items(), PUBLISHED, strict=True):
        rows = [row for row in given["rows"] if row["kernel"] == kernel]
        numbers = [row["tflops"] for row in rows]
        label = f"{name}, {given['date'][:4]}"
        _line(axes, [row["n"] for row in rows], numbers, look, label, "--")
        said.append(f"{name} ({when}) from {numbers[0]:.0f} to {numbers[-1]:.0f}")
    here, own = _own(given["d"])
    for (name, points), look in zip(own.items(), OURS, strict=False):
        _line(axes, [n for n, _ in points], [speed for _, speed in points], look, name)
        said.append(f"{name} ({here}) from {points[0][1]:.0f} to {points[-1][1]:.0f}")
    at = peak["flops"] / TERA
    axes.axhline(at, color="black", linewidth=1.5)
    axes.annotate(
        f"peak of the {peak['device']}: {at:.0f}",
        (0, at),
        (4, -6),
        xycoords=("axes fraction", "data"),
        textcoords="offset points",
        va="top",
    )
    axes.set_xscale("log", base=2)
    axes.set(xlabel="N, tokens", ylabel="TFLOP/s", ylim=(0, at * 1.05))
    ticks = sorted({row["n"] for row in given["rows"]})
    axes.set_xticks(ticks, [f"{n:,}" for n in ticks])
    best, (name, points) = max(
        ((max(speed for _, speed in each[1]), each) for each in own.items()), default=(0, ("", []))
    )
    name_lines(axes)
    axes.set_title(
        f"{name} comes to {best / at:.0%} of the peak".replace("%", " %")
        + f"\nin colour: ours, {here}; dashed: published in {when}"
        if own
        else f"published in {when}"
    )
    return Picture(
        figure,
        f"TFLOP/s over N, one line a kernel: {'; '.join(said)}. The line at {at:.0f} is "
        f"what the {peak['device']} can do at best.",
    )


def _line(
    axes: Any,
    x: Sequence[float],
    y: Sequence[float],
    look: tuple[str, str],
    name: str,
    style: str = "-",
) -> None:
    axes.plot(
        x,
        y,
        style,
        color=look[0],
        marker=look[1],
        linewidth=2.5 if style == "-" else 1.2,
        label=name,
    )


def _own(d: int) -> tuple[str, dict[str, list[tuple[int, float]]]]:
    """TFLOP/s by length for each way in the newest run recorded on a GPU with heads d wide.

    Returns:
        On what and when it ran, and the speeds.
    """
    for document in recorded():
        for run in document["runs"]:
            if run["device"] != "cuda" or run["causal"] or run["d"] != d:
                continue
            where = f"{document['device']}, {document['date']}"
            rows = [row for row in run["rows"] if row["seconds"] and row["n"] >= SHORTEST]
            flops = 4 * run["heads"] * run["d"]  # for each pair of tokens
            return where, {
                name: [(row["n"], flops * row["n"] ** 2 / row["seconds"] / TERA) for row in mine]
                for way, name in OWN.items()
                if (mine := [row for row in rows if row["name"] == way])
            }
    return "", {}
