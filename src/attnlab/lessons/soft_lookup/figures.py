"""Figures of lesson 01: one learned head, a query that turns over the shelf, the temperature."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from attnlab.checks.reference import softmax
from attnlab.figures.live.figure import Figure
from attnlab.figures.live.recording import replay
from attnlab.figures.palette import SERIES
from attnlab.figures.picture import GREY, ORANGE, Picture, in_style, new_figure
from attnlab.lessons.soft_lookup.turning import shelf as shelf

# A book keeps its colour and its line in every figure of the lesson.
COLOURS = tuple(colour.light for colour in SERIES)
LINES = ("-.", "-", "--", ":")
QUERY = ANSWER = "black"
# Where a book's name is written over the temperature: its middle.
NAMED = ((5.2, 0.255), (6.5, 0.58), (0.22, 0.17), (22.0, 0.06))
SALT = 0  # the entry of a page that is plotted where one is enough
Numbers = Sequence[float]
Table = Sequence[Sequence[float]]
Answer = Callable[[np.ndarray], float]  # a query (2,) to the salt in its answer

HEAD = Path(__file__).with_name("one_head.json")


def one_head() -> Figure:
    """Who listens to whom in the small model: the head that finds a verb's subject, and the others.

    Recorded by `make model`, so that nothing has to be computed here.
    """
    figure = replay(json.loads(HEAD.read_text(encoding="utf-8")))
    figure.row = len(figure.state["queries"]) - 1
    figure.view = "arcs"
    return figure


@in_style
def sliding_query(
    query: Numbers,
    keys: Table,
    values: Table,
    books: Sequence[str],
    degrees: tuple[int, int] = (-60, 130),
) -> Picture:
    """Salt in the answer for three kinds of lookup as the query turns, and its slope at a query.

    Args:
        query: (2,), marked in every panel; its length is kept while it turns.
        keys: (M, 2).
        values: (M, d_v); entry 0 is the salt.
        books: M titles.
        degrees: the first and the last direction of the query.
    """
    length = float(np.linalg.norm(query))
    spines, salt = np.array(keys, dtype=float), np.array(values, dtype=float)[:, SALT]
    lookups: dict[str, Answer] = {
        "exact match": lambda q: float((spines == q).all(axis=1) @ salt),
        "closest key": lambda q: float(salt[np.argmax(spines @ q)]),
        "soft": lambda q: float(softmax(spines @ q) @ salt),
    }
    # Off the round numbers, so that no sample falls on a key or on the border between two.
    angles = np.arange(degrees[0] + 0.1, degrees[1], 0.5)
    figure, axes = new_figure(columns=3, width=10.5, height=3.4)
    ours = _direction(query)
    for place, (name, lookup) in zip(axes[0], lookups.items(), strict=True):
        answers = np.array([lookup(_turned(angle, length)) for angle in angles])
        slopes = np.array([_slope(lookup, angle, length) for angle in angles])
        steps = np.flatnonzero(np.abs(np.diff(answers)) > 5)
        broken = [np.insert(each, steps + 1, np.nan) for each in (angles, answers)]
        look: dict = {"color": ORANGE if slopes.any() else ANSWER, "linewidth": 3.5}
        if place is axes[0, 0]:  # 0 is no answer there: nothing has a weight
            look = {"color": GREY, "linewidth": 1.5, "linestyle": "--"}
        place.plot(*broken, **look)
        place.axvline(ours, color=GREY, lw=1.2, ls=":", zorder=0)
        here, slope = lookup(np.array(query, dtype=float)), _slope(lookup, ours, length)
        place.plot(ours, here, "o", color="black", markersize=9, zorder=4)
        said = f"slope {slope:.2f}" if slope else "slope 0"
        colour = ORANGE if slope else "black"
        place.annotate(
            said, (ours, here), (10, -17), textcoords="offset points", color=colour, weight="bold"
        )
        place.set_title(name)
        place.set(xlabel="direction of the query (°)", xticks=range(-60, 121, 60))
        place.set(ylim=(-9, 1.2 * salt.max()), yticks=range(0, 41, 10))
    matches = [
        (_direction(key), page, book, colour)
        for key, page, book, colour in zip(keys, salt, books, COLOURS, strict=True)
        if degrees[0] <= _direction(key) <= degrees[1]
    ]
    for angle, page, book, colour in matches:
        axes[0, 0].plot(angle, page, "o", color=colour, markersize=8)
        axes[0, 0].annotate(
            book, (angle, page), (0, 8), textcoords="offset points", ha="center", color=colour
        )
    axes[0, 0].text(degrees[1], 2, "no match: 0", color=GREY, ha="right", va="bottom")
    axes[0, 0].annotate(
        "our question",
        (ours, 0.99),
        (-5, 0),
        xycoords=("data", "axes fraction"),
        textcoords="offset points",
        ha="right",
        va="top",
    )
    axes[0, 0].set_ylabel("salt in the answer (g/l)")
    return Picture(
        figure,
        f"Three panels: exact match, closest key, soft. Salt in the answer while the query turns "
        f"from {degrees[0]} to {degrees[1]} degrees, orange where it has a slope. Exact match has "
        f"no weight for any book, so 0, except at {len(matches)} points, the closest key a "
        "staircase; the slope of both is 0 "
        f"wherever there is one. The soft answer is a smooth curve. Its slope is {slope:.2f} g/l "
        f"per degree at our question, where the answer is {here:.1f} g/l.",
        f"At our question only the soft answer has a slope other than 0: {slope:.2f} g/l a degree.",
    )


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
    figure, axes = new_figure(rows=2, width=5.05, height=6.2, sharex=True, height_ratios=(5, 4))
    upper, lower = axes[:, 0]
    looks = zip(shares.T, books, COLOURS, LINES, NAMED, strict=True)
    for share, book, colour, line, (warm, high) in looks:
        upper.plot(temperatures, share, color=colour, ls=line, lw=2, zorder=4)
        upper.text(warm, high, book, color=colour, ha="center", va="center")
    upper.set(ylabel="weight", ylim=(-0.02, 1.02), title="a share for each page")
    lower.plot(temperatures, salt, color=ANSWER, lw=2)
    limits = ((pages[best], f"the page of {books[best]}"), (pages.mean(), "the plain mean"))
    for level, name in limits:
        lower.axhline(level, color=GREY, ls="--", lw=1)
        lower.annotate(
            name,
            (1.0, level),
            (-4, -4),
            xycoords=("axes fraction", "data"),
            textcoords="offset points",
            ha="right",
            va="top",
        )
    lower.set(ylabel="salt (g/l)", title="the answer", xscale="log", xlabel="temperature τ")
    lower.set_ylim(min(salt.min(), pages.mean()) - 1.6, salt.max() + 1.0)
    for place in (upper, lower):
        place.axvline(temperatures[peak], color=ORANGE, ls=":", lw=1.5, zorder=0)
    lower.plot(temperatures[peak], salt[peak], "o", color=ORANGE, markersize=8)
    lower.annotate(
        f"{salt[peak]:.1f} at τ = {temperatures[peak]:.2g}",
        (temperatures[peak], salt[peak]),
        (12, 0),
        textcoords="offset points",
        color=ORANGE,
        va="center",
    )
    second = int(np.argsort(shares[0])[-2])
    return Picture(
        figure,
        f"Two panels over temperature, {coldest:.2g} to {hottest:g} on a logarithmic axis. Above, "
        f"the weights: at the cold end {books[best]} has {shares[0, best]:.3f}, at the hot end "
        f"each has between {shares[-1].min():.3f} and {shares[-1].max():.3f}. Below, salt in the "
        f"answer: {salt[0]:.2f} g/l at the cold end, where the page of {books[best]} says "
        f"{pages[best]:g}; at most {salt[peak]:.1f}, near temperature {temperatures[peak]:.2g}; "
        f"{salt[-1]:.2f} at the hot end, where the plain mean is {pages.mean():g}.",
        f"On the way from {pages[best]:g} g/l to {pages.mean():g} the answer peaks at "
        f"{salt[peak]:.1f}, because {books[second]} come in first.",
    )


def _direction(vector: Numbers) -> float:
    """Angle of a vector (2,) against the first axis, degrees."""
    return float(np.degrees(np.arctan2(vector[1], vector[0])))


def _turned(degrees: float, length: float) -> np.ndarray:
    """The vector (2,) of a direction and a length."""
    angle = np.radians(degrees)
    return length * np.array([np.cos(angle), np.sin(angle)])


def _slope(answer: Answer, degrees: float, length: float, nudge: float = 1e-3) -> float:
    """Change of an answer for each degree of turning, measured by a nudge to either side."""
    after, before = (answer(_turned(degrees + by, length)) for by in (nudge, -nudge))
    return (after - before) / (2 * nudge)
