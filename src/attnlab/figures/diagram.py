"""The block of attention as one diagram, with the parts lit that a lesson is about.

    figures.block("softmax")

The geometry is the same in every lesson, so that a glance says where one is; only with heads do the
last steps make room for the one that joins them. Colour says what comes out of a part: queries are
orange, keys blue, values and their mix green, and all that has a number for each query and key is
purple.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch, PathPatch, Polygon, Rectangle
from matplotlib.path import Path

from attnlab.figures.picture import BLUE, GREEN, GREY, HATCH, ORANGE, PURPLE, Picture, new_figure

# Of each of the two panels, inches; 0 is the scores' line. The top is higher where frames are.
WIDE, LOW, TOP, HIGH = 5.04, -1.94, 1.16, 1.46
Place = tuple[float, float]


class Box(NamedTuple):
    """A step: its panel, label, middle and width, colour, and what stands under it."""

    panel: int
    label: str
    at: Place
    wide: float
    colour: str
    under: str = ""

    @property
    def left(self) -> Place:
        return (self.at[0] - self.wide / 2, self.at[1])

    @property
    def right(self) -> Place:
        return (self.at[0] + self.wide / 2, self.at[1])


class Table(NamedTuple):
    """What goes from step to step: its panel, its middle, colour, and the words above and below."""

    panel: int
    at: Place
    colour: str
    above: str
    under: str = ""


_Q, _K, _V, _ABOVE = 0.46, -0.46, -1.42, 0.62  # heights of the lines, and of tables above steps
BOXES = {
    "W_q": Box(0, "W_q", (1.56, _Q), 0.7, ORANGE, "(d, d_k)"),
    "W_k": Box(0, "W_k", (1.56, _K), 0.7, BLUE, "(d, d_k)"),
    "W_v": Box(0, "W_v", (1.56, _V), 0.7, GREEN, "(d, d_v)"),
    "scores": Box(0, "Q Kᵀ", (4.38, 0), 0.82, PURPLE),
    "scale": Box(1, "÷ √d_k", (0.46, 0), 0.76, PURPLE),
    "mask": Box(1, "mask", (1.33, 0), 0.62, PURPLE),
    "softmax": Box(1, "softmax", (2.27, 0), 0.9, PURPLE, "rows\nsum to 1"),
    "mix": Box(1, "A V", (3.31, 0), 0.6, GREEN),
    "W_o": Box(1, "W_o", (4.38, 0), 0.62, GREEN, "(d_v, d)"),
}
TABLES = {
    "X": Table(0, (0.5, _K), "black", "X", "(N, d)"),
    "context": Table(0, (0.5, (_K + _V) / 2), "black", "context", "(M, d)"),
    "Q": Table(0, (2.94, _Q), ORANGE, "Q (N, d_k)"),
    "K": Table(0, (2.94, _K), BLUE, "K (M, d_k)"),
    "V": Table(0, (2.94, _V), GREEN, "V (M, d_v)"),
}
# If heads are lit they are joined before W_o.
_JOIN = Box(1, "join", BOXES["W_o"].at, 0.8, GREEN)
_ASIDE = 0.12, 0.06  # of the copies of a step that each head has
_BELOW, _LOWEST = -0.62, -1.62  # then W_o is below it, and what comes out below that
# What comes out of a step, above it.
_MADE = {
    "scores": "(N, M)",
    "scale": "(N, M)",
    "mask": "(N, M)",
    "softmax": "A (N, M)",
    "mix": "Z (N, d_v)",
    "join": "(N, H·d_v)",
    "W_o": "output (N, d)",
}
# What can be lit around the steps: how far it goes, how many copies, and what they are.
AROUND = {"table": (2.83, 1, "N × M numbers"), "heads": (3.77, 3, "H heads")}
BEHIND = "behind"  # what is so called has a copy before it
_OPTIONAL = ("mask", "W_o")
_NAMES = {
    "scores": "the scores",
    "scale": "the scale",
    "mask": "the mask",
    "mix": "the mix A V",
    "context": "keys and values from a context",
    "Q": "the queries",
    "K": "the keys",
    "V": "the values",
    "table": "all that has N × M numbers",
    "heads": "the heads",
}
_DOES = {  # where it is all that is lit
    "scale": ", which divides scores by √d_k",
    "mask": ", which sets scores to −∞",
}
_SIZE = 13  # points: words that can be read on a phone, where a panel is as wide as the page
_TALL, _CELL = 0.38, 0.11  # of a step, and of a number in a table
_QUIET = "#e4e4e4"
_SCORES = np.array([[4.0, 1, 2, 0], [2, 5, 0, 3], [5, 1, 3, 1], [0, 4, 1, 3]])
_ALT = (
    "Attention as a diagram. {sources}, which make Q, (N, d_k), K, (M, d_k), and V, (M, d_v). "
    "Q and K meet in Q Kᵀ, (N, M); then come ÷ √d_k, a mask that is optional, and softmax, whose "
    "rows sum to 1: A, (N, M). A V is Z, (N, d_v); {after}, the output, (N, d)."
)
_JOINED = (
    "each of H heads has its own W_q, W_k and W_v; all Z are joined, (N, H·d_v), and go through W_o"
)


def block(*lit: str) -> Picture:
    """Attention from X to Z, with the shapes of all.

    Args:
        lit: names of TABLES, BOXES and AROUND: where one is.
    Raises:
        ValueError: there is no part of this name.
    """
    parts = TABLES | BOXES | AROUND
    for name in lit:
        if name not in parts:
            raise ValueError(f"the block has no part {name!r}; it has {', '.join(parts)}")
    sources = (
        "X, (N, d), goes through W_q, and context, (M, d), through W_k and W_v"
        if "context" in lit
        else "X, (N, d), goes through W_q, W_k and W_v, so M is N"
    )
    *most, last = [_NAMES.get(name, name) for name in lit] or [""]
    names = f"{', '.join(most)} and {last}" if most else last
    title = "Attention: queries score keys, and the weights mix the values"
    if lit:
        title = f"This lesson: {names}{'' if most else _DOES.get(lit[0], '')}"
    shown = f" Lit: {names}." if lit else ""
    after = _JOINED if "heads" in lit else "W_o after it is optional"
    return Picture(draw(lit), _ALT.format(sources=sources, after=after) + shown, title)


def draw(lit: tuple[str, ...]) -> Figure:
    """The diagram itself, with these parts lit: what makes the scores, and what they become."""
    top = HIGH if {"heads", "table"} & {*lit} else TOP
    figure, axes = new_figure(columns=2, width=2 * WIDE, height=top - LOW)
    figure.set_layout_engine("none")
    for n, place in enumerate(axes[0]):
        place.set_position((n / 2, 0, 0.4999, 1))  # lines go on from one to the other
        place.set(xlim=(0, WIDE), ylim=(LOW, top))
        place.set_axis_off()
    is_cross = "context" in lit  # keys and values come from another sequence
    tables = dict(TABLES)
    if is_cross:
        tables["X"] = tables["X"]._replace(at=(tables["X"].at[0], _Q))
    else:
        del tables["context"]
        _words(axes[0, 0], (TABLES["X"].at[0], -1.27), "M = N", GREY)
    has_heads = "heads" in lit
    boxes = _with_heads() if has_heads else BOXES
    _around(axes[0], lit)
    _lines(axes[0], tables, boxes, lit)
    if has_heads:
        _own(axes[0, 0])
    numbers = _numbers(is_cross)
    for name, box in boxes.items():
        is_optional = name in _OPTIONAL and not (has_heads and name == "W_o")
        _box(axes[0, box.panel], box, name in lit, is_optional)
        if name in _MADE:
            made = Table(box.panel, (box.at[0], _ABOVE), box.colour, _MADE[name])
            if box.at[1] == _BELOW:
                made = made._replace(at=(box.at[0], _LOWEST), above="")
                _words(axes[0, 1], (box.at[0] - 0.36, _LOWEST), _MADE[name], box.colour, ha="right")
            _table(axes[0, box.panel], made, numbers[name], 0.9 if name in lit else 0.6)
    for name, table in tables.items():
        over = _ASIDE[0] if has_heads and name in ("Q", "K", "V") else 0
        _table(axes[0, table.panel], table, numbers[name], 0.6, name in lit, over)
    return figure


def _with_heads() -> dict[str, Box]:
    """The steps with one more, which joins what comes out of all heads."""
    last = BOXES["W_o"]._replace(at=(_JOIN.at[0], _BELOW), under="(H·d_v, d)")
    steps = {name: box for name, box in BOXES.items() if name != "W_o"}
    return steps | {"join": _JOIN, "W_o": last}


def _own(place: Axes) -> None:
    """What each head has for itself: steps and tables with copies, and a bracket that says it."""
    steps = [BOXES[name] for name in ("W_q", "W_k", "W_v")]
    spans = [(box.at, box.wide, _TALL) for box in steps]
    spans += [(TABLES[name].at, 3 * _CELL + 0.08, 4 * _CELL + 0.08) for name in ("Q", "K", "V")]
    look = {"facecolor": "white", "edgecolor": "#b5b5b5", "linewidth": 1.2, "zorder": 1.5}
    for (x, y), wide, tall in spans:
        for aside in (*_ASIDE, 0):
            corner = (x - wide / 2 - aside, y - tall / 2 + aside)
            _rounded(place, corner, wide, tall, gid=BEHIND, **look)
    left, right, high = steps[0].left[0] - _ASIDE[0], TABLES["Q"].at[0] + 0.45, 1.14
    path = Path([(left, high - 0.07), (left, high), (right, high), (right, high - 0.07)])
    place.add_patch(PathPatch(path, facecolor="none", edgecolor=PURPLE, linewidth=1.6))
    _words(place, ((left + right) / 2, high + 0.16), "each head has its own", PURPLE, weight="bold")


def _numbers(is_cross: bool) -> dict[str, np.ndarray]:
    """How dark each number of a table is: nan is blocked."""
    scores = np.hstack([_SCORES, _SCORES[:, 1:2]]) if is_cross else _SCORES
    n, m = scores.shape
    wide = 3
    blocked = np.arange(m) >= m - 1 if is_cross else np.triu(np.ones((n, m), bool), 1)
    masked = np.where(blocked, np.nan, scores / wide**0.5)
    weights = np.nan_to_num(np.exp(masked))
    values = np.tile([[0.9, 0.3, 0.6], [0.2, 0.8, 0.5]], (m, 1))[:m]
    weights /= weights.sum(axis=-1, keepdims=True)
    mixed = weights @ values
    return {
        "X": np.full((n, 5), 0.5),
        "context": np.full((m, 5), 0.5),
        "Q": np.full((n, wide), 0.7),
        "K": np.full((m, wide), 0.7),
        "V": values,
        "scores": scores / scores.max(),
        "scale": scores / scores.max() / wide**0.5,
        "mask": masked / scores.max(),
        "softmax": np.where(np.isnan(masked), np.nan, weights),
        "mix": mixed,
        "join": np.hstack([mixed, mixed[::-1], mixed[:, ::-1]]),
        "W_o": np.full((n, 5), 0.5),
    }


def _words(
    place: Axes, at: Place, words: str, ink: str = "black", level: str = "center", **look: Any
) -> None:
    options: dict[str, Any] = {"ha": "center", "va": level, "color": ink, "size": _SIZE}
    place.text(*at, words, **(options | look))


def _rounded(place: Axes, corner: Place, wide: float, high: float, **look: Any) -> None:
    style = "round,pad=0,rounding_size=0.1"
    place.add_patch(FancyBboxPatch(corner, wide, high, boxstyle=style, **look))


def _box(place: Axes, box: Box, is_lit: bool, is_optional: bool) -> None:
    x, y = box.at
    colour = box.colour if is_lit else _QUIET
    dashed = is_optional and not is_lit
    _rounded(
        place,
        (x - box.wide / 2, y - _TALL / 2),
        box.wide,
        _TALL,
        facecolor="white" if dashed else colour,
        edgecolor=GREY if dashed else colour,
        linestyle="--" if dashed else "-",
        zorder=2,
    )
    weight = "bold" if is_lit else "normal"
    _words(place, (x, y - 0.01), box.label, "white" if is_lit else "black", "center", weight=weight)
    under = "\n".join(filter(None, (box.under, "optional" if dashed else "")))
    if under:
        _words(place, (x, y - _TALL / 2 - 0.05), under, GREY, "top", linespacing=1.25)


def _table(
    place: Axes,
    table: Table,
    numbers: np.ndarray,
    strong: float,
    is_lit: bool = False,
    over: float = 0.0,
) -> None:
    """Its numbers as cells, the darker the larger, with its name and shape."""
    rows, columns = numbers.shape
    x, y = table.at
    left, top = x - columns * _CELL / 2, y + rows * _CELL / 2
    if is_lit:
        wide, pad = (0.96, 0.13) if table.under else (1.14, 0.07)
        low = top - rows * _CELL - pad - (0.25 if table.under else 0)
        look = {"facecolor": table.colour, "edgecolor": table.colour, "zorder": 2}
        _rounded(place, (x - wide / 2, low), wide, top + 0.23 + pad - low, **look)
    cells = "white" if is_lit else table.colour
    for (row, column), number in np.ndenumerate(numbers):
        corner = (left + column * _CELL, top - (row + 1) * _CELL)
        is_blocked = bool(np.isnan(number))
        side = _CELL - 0.018
        cell = Rectangle(corner, side, side, linewidth=0.6, zorder=3)
        cell.set_facecolor("none" if is_blocked else (cells, 0.1 + strong * float(number)))
        cell.set_edgecolor(HATCH if is_blocked else "none")
        place.add_patch(cell)
    ink = "white" if is_lit else table.colour
    weight = "bold" if is_lit else "normal"
    _words(place, (x, top + 0.05 + over), table.above, ink, "bottom", weight=weight)
    if table.under:
        _words(place, (x, top - rows * _CELL - 0.05), table.under, ink, "top", weight=weight)


def _around(panels: np.ndarray, lit: tuple[str, ...]) -> None:
    """Frames around the steps from Q Kᵀ on, which go on from the first panel to the second."""
    scores = BOXES["scores"]
    for right, copies, label in (AROUND[name] for name in lit if name in AROUND):
        for copy in reversed(range(copies)):
            aside = 0.08 * copy
            low, high = -0.86 + aside, 1.14 + aside
            left = scores.at[0] - scores.wide / 2 - 0.14 - aside
            spans = ((left, 2 * WIDE), (-WIDE, right - aside))
            for place, (x, to_x) in zip(panels, spans, strict=True):
                for face, edge in (("white", "none"), ((PURPLE, 0.14), PURPLE)):
                    look = {"facecolor": face, "edgecolor": edge, "linewidth": 1.6, "zorder": 0}
                    gid = BEHIND if copy else ""
                    _rounded(place, (x, low), to_x - x, high - low, gid=gid, **look)
        _words(panels[1], (0.1, -0.6), label, PURPLE, ha="left", weight="bold")


def _lines(
    panels: np.ndarray, tables: dict[str, Table], boxes: dict[str, Box], lit: tuple[str, ...]
) -> None:
    first, second = panels
    copies = _ASIDE[0] if "heads" in lit else 0
    for to in ("W_q", "W_k", "W_v"):
        source = "X" if to == "W_q" or "context" not in tables else "context"
        x, y = tables[source].at
        beside = 0.5 if source in lit else 2.5 * _CELL + 0.06
        end = (boxes[to].left[0] - copies, boxes[to].at[1])
        _line(first, (x + beside, y), end, "black" if source in lit else GREY)
    x, _ = boxes["scores"].left
    ends = {"W_q": (x, 0.08), "W_k": (x, -0.08), "W_v": (2 * WIDE, _V)}
    for (made, end), name in zip(ends.items(), ("Q", "K", "V"), strict=True):
        (x, y), colour = tables[name].at, tables[name].colour
        beside, thick = (0.6, 3.2) if name in lit else (1.5 * _CELL + 0.05, 1.6)
        _line(first, boxes[made].right, (x - beside - copies, y), colour, thick)
        _line(first, (x + beside, y), end, colour, thick)
    x, _ = boxes["mix"].at
    thick = 3.2 if "V" in lit else 1.6
    _line(second, (0, _V), (x, -_TALL / 2), GREEN, thick, up=True)
    _line(first, boxes["scores"].right, (2 * WIDE, 0), GREY)
    _line(second, (0, 0), boxes["scale"].left, GREY)
    for box, after in pairwise(box for box in boxes.values() if box.panel == 1):
        if after.at[1] == _BELOW:
            (x, y), high = after.at, _TALL / 2
            _line_down(second, x, -high, y + high)
            _line_down(second, x, y - high - 0.32, _LOWEST + 2 * _CELL)  # under its shape
        else:
            _line(second, box.right, after.left, GREY)


def _line_down(place: Axes, x: float, y: float, to_y: float) -> None:
    place.add_patch(
        PathPatch(Path([(x, y), (x, to_y + 0.1)]), edgecolor=GREY, linewidth=1.6, zorder=1)
    )
    head = [(x, to_y + 0.02), (x - 0.07, to_y + 0.13), (x + 0.07, to_y + 0.13)]
    place.add_patch(Polygon(head, closed=True, facecolor=GREY, edgecolor="none", zorder=1))


def _line(
    place: Axes, start: Place, end: Place, colour: str, thick: float = 1.6, up: bool = False
) -> None:
    """A curve that leaves to the right and ends in a head, to the right or upward."""
    (x, y), (to_x, to_y) = start, end
    if up:
        tip, turn = (to_x, to_y - 0.1), (to_x, y)
        points = [start, (to_x - 0.4, y), turn, turn, (to_x, y + 0.4), tip]
        codes = [Path.MOVETO, Path.LINETO, *[Path.CURVE4] * 3, Path.LINETO]
        head = [(to_x, to_y - 0.02), (to_x - 0.07, to_y - 0.13), (to_x + 0.07, to_y - 0.13)]
    else:
        tip, middle = (to_x - 0.1, to_y), (x + to_x - 0.1) / 2
        points = [start, (middle, y), (middle, to_y), tip]
        codes = [Path.MOVETO, *[Path.CURVE4] * 3]
        head = [(to_x - 0.02, to_y), (to_x - 0.13, to_y + 0.07), (to_x - 0.13, to_y - 0.07)]
    curve = Path(points, [int(code) for code in codes])
    look = {"facecolor": "none", "edgecolor": colour, "linewidth": thick, "zorder": 1}
    place.add_patch(PathPatch(curve, **look))
    place.add_patch(Polygon(head, closed=True, facecolor=colour, edgecolor="none", zorder=1))
