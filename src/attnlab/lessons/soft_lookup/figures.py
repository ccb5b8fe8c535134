"""Figures of lesson 01: one learned head, the film of the shelf, the temperature."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from attnlab.figures.live.figure import Figure
from attnlab.figures.live.recording import replay
from attnlab.figures.palette import SERIES
from attnlab.figures.picture import GREY, ORANGE, Picture, in_style, new_figure
from attnlab.lessons.soft_lookup.turning import shelf as shelf

# A book keeps its colour and its line in every figure of the lesson.
COLOURS = tuple(colour.light for colour in SERIES)
LINES = ("-.", "-", "--", ":")
ANSWER = "black"
# Where a book's name is written over the temperature: where it begins.
NAMED = ((2.15, 0.266), (4.4, 0.6), (0.1, 0.16), (18.0, 0.07))
SALT = 0  # the entry of a page that is plotted where one is enough
Numbers = Sequence[float]
Table = Sequence[Sequence[float]]

HEAD = Path(__file__).with_name("one_head.json")


def one_head() -> Figure:
    """Who listens to whom in the small model: the head that finds a verb's subject, and the others.

    Recorded by `make model`, so that nothing has to be computed here.
    """
    figure = replay(json.loads(HEAD.read_text(encoding="utf-8")))
    figure.row = len(figure.state["queries"]) - 1
    figure.view = "arcs"
    figure.title = "After “sees” comes the verb of “dogs”. Which head looks there?"
    return figure


@in_style
def temperature(
    temperatures: Numbers, weights: Table, outputs: Table, values: Table, books: Sequence[str]
) -> Picture:
    """Weights and salt in the answer over temperature, with the two limits.

    Args:
        temperatures: (T,), rising.
        weights: (T, M), a row for each temperature.
        outputs: (T, d_v).
        values: (M, d_v); entry 0 is the salt.
        books: M titles.
    """
    shares, salt = np.array(weights), np.array(outputs)[:, SALT]
    pages = np.array(values)[:, SALT]
    coldest, hottest = temperatures[0], temperatures[-1]
    best = int(np.argmax(shares[0]))
    peak = int(np.argmax(salt))
    figure, axes = new_figure(columns=2, width=9.8, height=4)
    left, right = axes[0]
    looks = zip(shares.T, books, COLOURS, LINES, NAMED, strict=True)
    for share, book, colour, line, (warm, high) in looks:
        left.plot(temperatures, share, color=colour, ls=line, lw=2, zorder=4)
        left.text(warm, high, book, color=colour, va="center")
    left.set(ylabel="weight", ylim=(-0.02, 1.02), title="a share for each page")
    right.plot(temperatures, salt, color=ANSWER, lw=2)
    limits = ((pages[best], f"the page of {books[best]}"), (pages.mean(), "the plain mean"))
    for level, name in limits:
        right.axhline(level, color=GREY, ls="--", lw=1)
        right.annotate(
            name,
            (1.0, level),
            (-4, -4),
            xycoords=("axes fraction", "data"),
            textcoords="offset points",
            ha="right",
            va="top",
        )
    right.set(ylabel="salt (g/l)", title="the answer")
    right.set_ylim(min(salt.min(), pages.mean()) - 1.6, salt.max() + 1.4)
    for place in (left, right):
        place.set(xscale="log", xlabel="temperature τ")
        place.xaxis.set_major_formatter("{x:g}")
        place.minorticks_off()
        place.axvline(temperatures[peak], color=ORANGE, ls=":", lw=1.5, zorder=0)
    right.plot(temperatures[peak], salt[peak], "o", color=ORANGE, markersize=8)
    right.annotate(
        f"{salt[peak]:.1f} at τ = {temperatures[peak]:.2g}",
        (temperatures[peak], salt[peak]),
        (12, 6),
        textcoords="offset points",
        color=ORANGE,
        va="center",
    )
    second = int(np.argsort(shares[0])[-2])
    return Picture(
        figure,
        f"Two panels over temperature, {coldest:.2g} to {hottest:g} on a logarithmic axis. Left, "
        f"the weights: at the cold end {books[best]} has {shares[0, best]:.3f}, at the hot end "
        f"each has between {shares[-1].min():.3f} and {shares[-1].max():.3f}. Right, salt in the "
        f"answer: {salt[0]:.2f} g/l at the cold end, where the page of {books[best]} says "
        f"{pages[best]:g}; at most {salt[peak]:.1f}, near temperature {temperatures[peak]:.2g}; "
        f"{salt[-1]:.2f} at the hot end, where the plain mean is {pages.mean():g}.",
        f"Warmer, {books[second]} come in first: salt rises from {salt[0]:.3g} to "
        f"{salt[peak]:.1f} g/l"
        if salt[peak] > max(salt[0], salt[-1])
        else "",
    )
