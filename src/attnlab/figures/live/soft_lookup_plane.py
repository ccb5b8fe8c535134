"""The plane of SoftLookup: where things stand on it, its shaded ground, and its still form."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import cycle, product
from typing import Any

import numpy as np

from attnlab.checks.reference import weights as soft_weights
from attnlab.figures.live import fallback
from attnlab.figures.live.on_paper import written
from attnlab.figures.live.strokes import svg, text
from attnlab.figures.palette import ORANGE, SERIES

ROOM = 1.5  # the plane reaches so much further than the farthest entry of a key
EDGE, MARGIN = 100, 24  # of the drawing, from its middle; around it, for the names of the axes
SLOPE_LENGTH, HEAD = 30, 7  # of the slope's arrow, and of any arrow's head
KNOB, HIGH, WIDE, GAP = 9, 7, 3.6, 7  # radius; half of a label, of each letter, and around it
QUERY = "query"  # at its knob
FOLDED = "Weights and slopes"
CELLS = 24  # of the shaded ground, along an edge
Values = dict[str, Any]


def reach_of(keys: np.ndarray) -> float:
    """The largest entry that a query may have."""
    return float(np.ceil(ROOM * np.abs(keys).max() * 10) / 10)


def place(vector: np.ndarray, reach: float) -> np.ndarray:
    """Where a vector's tip is drawn; in a drawing, y grows downwards."""
    return EDGE / reach * vector * np.array([1, -1])


def path(start: np.ndarray, tip: np.ndarray) -> str:
    """An arrow from start to tip, both (2,), as an SVG path."""
    length = float(np.linalg.norm(tip - start))
    if not length:
        return ""
    along = (tip - start) / length
    across = np.array([-along[1], along[0]])
    wings = [tip - HEAD * along + side * HEAD / 2 * across for side in (1, -1)]
    points = [f"{x:.1f} {y:.1f}" for x, y in (start, tip, wings[0], tip, wings[1])]
    return "M{} L{} M{} L{} L{}".format(*points)


def arrow(tip: np.ndarray) -> str:
    return path(np.zeros(2), tip)


def steepest(tip: np.ndarray, slope: np.ndarray) -> np.ndarray:
    """The end of an arrow along which the soft answer grows fastest; its tip if that shows as 0."""
    steepness = float(np.linalg.norm(slope))
    if steepness < 0.005:
        return tip
    return tip + SLOPE_LENGTH * slope / steepness * np.array([1, -1])


def ground(keys: np.ndarray, values: np.ndarray, temperature: float) -> list[float]:
    """The soft answer all over the plane, as a share of the way from the least value to the most.

    Args:
        keys: (M, 2).
        values: (M,), the entry that is shaded.
        temperature: above 0.
    Returns:
        CELLS · CELLS shares, row by row from the top left.
    """
    least, most = values.min(), values.max()
    if least == most:
        return [0.0] * CELLS**2
    middles = reach_of(keys) * ((2 * np.arange(CELLS) + 1) / CELLS - 1)
    across, up = np.meshgrid(middles, middles[::-1])
    queries = np.stack([across.ravel(), up.ravel()], axis=1)
    answers = soft_weights(queries, keys.copy(), scale=1 / temperature) @ values
    shares: list[float] = ((answers - least) / (most - least)).round(2).tolist()
    return shares


def labels(tips: np.ndarray, words: Sequence[str], query: np.ndarray) -> list[list[float]]:
    """Where the keys' names stand: near their tips, and on no arrow, no knob and no other name.

    Args:
        tips: (M, 2), where the keys' arrows end in the drawing, or a slope's.
        words: M names.
        query: (2,), where the query's arrow ends, with the knob.
    Returns:
        The middle of each name.
    """
    along = np.linspace(0, 1, 60)[:, None]
    turns = np.arange(0, 2 * np.pi, np.pi / 6)
    circle = np.stack([np.cos(turns), np.sin(turns)], axis=1)
    lines = np.concatenate([along * tip for tip in [*tips, query]])
    taken = np.concatenate(
        [query + share * KNOB * circle for share in (0, 0.5, 1)]
        + [tip + 5 * circle for tip in tips]
    )
    middles: list[list[float]] = []
    for tip, word in zip(tips, words, strict=True):
        room = np.array([WIDE * len(word), HIGH])
        outwards = np.arctan2(tip[1], tip[0])
        best, least = tip, np.inf
        near_first = sorted(turns, key=lambda turn: min(turn, 2 * np.pi - turn))
        for gap, turn in product((GAP, GAP + KNOB, GAP + 3 * KNOB), near_first):
            way = np.array([np.cos(outwards + turn), np.sin(outwards + turn)])
            middle = tip + way * (room + gap)
            crossed, met = (
                (np.abs(dots - middle) < room + 1).all(axis=1) for dots in (lines, taken)
            )
            met_or_out = met.any() or (np.abs(middle) + room > EDGE).any()
            bad = crossed.sum() + len(lines) * met_or_out
            if bad < least:
                best, least = middle, bad
        middles.append(best.round(1).tolist())
        taken = np.concatenate([taken, _filled(best, room)])
    return middles


def _filled(middle: np.ndarray, half: np.ndarray) -> np.ndarray:
    """(81, 2), places all over a box that reaches half as far from its middle as it is large."""
    sides = (np.linspace(-side, side, 9) for side in half)
    places: np.ndarray = middle + np.stack(np.meshgrid(*sides), axis=-1).reshape(-1, 2)
    return places


def drawing(state: Values) -> str:
    """The plane as an SVG, with the classes that the style sheet has, and colours of its own."""
    arrows = state["arrows"]
    line = 'fill="none" stroke-linecap="round"'
    keys = "".join(
        f'<path d="{path}" {line} stroke="{colour.drawn}" stroke-width="{1.5 + 5 * share:.1f}"/>'
        + text(x, y + 3, book, "middle")
        for path, (x, y), book, share, colour in zip(
            arrows["keys"],
            arrows["labels"],
            state["books"],
            state["soft"]["weights"],
            cycle(SERIES),
            strict=False,
        )
    )
    across = f"M{-EDGE} 0H{EDGE} M0 {-EDGE}V{EDGE}"
    right, up = state["axes"]
    axes = (
        f'<path d="{across}" {line} stroke="currentColor" stroke-width="0.5"/>'
        + text(EDGE, EDGE + 13, f"{right} →", "end")
        + text(0, -EDGE - 9, f"↑ {up}", "middle")
    )
    size = EDGE + MARGIN
    return svg(
        state["told"],
        (-size, -size, 2 * size, 2 * size),
        axes,
        keys,
        f'<path d="{arrows["query"]}" {line} stroke="currentColor" stroke-width="3"/>',
        f'<path d="{arrows["slope"]}" {line} stroke="{ORANGE.drawn}" stroke-width="2"/>',
        *(
            text(x, y + 3, name, "middle")
            for (x, y), name in zip(
                arrows["labels"][len(state["books"]) :], (QUERY, state["more"]), strict=False
            )
        ),
        wide=380,
        size=9,
    )


def columns(state: Values) -> str:
    """The hard and the soft answer side by side; all but its first entry folded away."""
    first, sides = state["entries"][0], [state["hard"], state["soft"]]
    answers = {entry: ("answer", j, 1) for j, entry in enumerate(state["entries"])}
    shown = {first: answers.pop(first)}
    folded = {
        **answers,
        **{f"weight of {book}": ("weights", m, 3) for m, book in enumerate(state["books"])},
        **{
            f"slope of {first} along {axis}": ("slope", i, 2)
            for i, axis in enumerate(state["axes"])
        },
    }

    def table(lines: dict[str, tuple[str, int, int]]) -> str:
        rows = [
            [
                name,
                *(
                    "none" if side[kind] is None else written(side[kind][at], digits)
                    for side in sides
                ),
            ]
            for name, (kind, at, digits) in lines.items()
        ]
        return fallback.lines("", rows, ("", "hard", "soft"))

    return f"<div>{table(shown)}<details><summary>{FOLDED}</summary>{table(folded)}</details></div>"
