"""The block of attention as one diagram, with the parts lit that a lesson is about.

    figures.block("softmax")

The geometry is the same in every lesson, so that a glance says where one is.
"""

from __future__ import annotations

from itertools import pairwise

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from attnlab.figures.picture import BLUE, GREY, Picture, new_figure

_LEFT, _WEIGHTS, _RIGHT = 0.0, 1.66, 4.55  # the three columns' middles
_HALF, _TALL = 0.62, 0.29  # of a box: half its width, half its height
_BESIDE = _RIGHT + _HALF + 0.42  # where words begin that stand beside the right column
# Each box: its label, the place of its middle, and what stands beside it.
BOXES = {
    "X": ("X", (_LEFT, 5.3), "(N, d)"),
    "context": ("context", (_LEFT, 4.1), "(M, d)"),
    "W_q": ("$W_q$", (_WEIGHTS, 5.3), "(d, $d_k$)"),
    "W_k": ("$W_k$", (_WEIGHTS, 4.1), "(d, $d_k$)"),
    "W_v": ("$W_v$", (_WEIGHTS, 0.2), "(d, $d_v$)"),
    "scores": ("Q Kᵀ", (_RIGHT, 4.7), "(N, M)"),
    "scale": (r"÷ $\sqrt{d_k}$", (_RIGHT, 3.3), "(N, M)"),
    "mask": ("mask ◥", (_RIGHT, 2.4), "optional"),
    "softmax": ("softmax", (_RIGHT, 1.5), "A (N, M)\nrows sum\nto 1"),
    "mix": ("A V", (_RIGHT, 0.2), "Z (N, $d_v$)"),
    "W_o": ("$W_o$", (_RIGHT, -1.0), "lesson 07"),
}
_DASHED = ("mask", "W_o")
_DOWN = ("scores", "scale", "mask", "softmax", "mix", "W_o")
# Each arrow that can be lit: where it begins, where it ends, what is written on it.
ARROWS = {
    "Q": ("W_q", "scores", "Q (N, $d_k$)"),
    "K": ("W_k", "scores", "K (M, $d_k$)"),
    "V": ("W_v", "mix", "V (M, $d_v$)"),
}
# What can be lit around the boxes from Q Kᵀ to A V: how many copies, and what they are.
AROUND = {"table": (1, "N × M"), "heads": (3, "H heads")}
_SIZE = 13  # points: words that can be read on a phone, where the picture is half as large
_ALT = (
    "Attention as a diagram. {sources}, which make Q, (N, d_k), K, (M, d_k), and V, (M, d_v). "
    "Q and K meet in Q Kᵀ, (N, M); then come ÷ √d_k, a mask that is optional, and softmax, whose "
    "rows sum to 1: A, (N, M). A V is Z, (N, d_v); W_o after it is optional."
)


def block(*lit: str) -> Picture:
    """Attention from X to Z, with the shapes of all.

    Args:
        lit: names of BOXES, ARROWS and AROUND: where one is.
    Raises:
        ValueError: there is no part of this name.
    """
    parts = BOXES | ARROWS | AROUND
    for name in lit:
        if name not in parts:
            raise ValueError(f"the block has no part {name!r}; it has {', '.join(parts)}")
    sources = (
        "X, (N, d), goes through W_q, and context, (M, d), through W_k and W_v"
        if "context" in lit
        else "X, (N, d), goes through W_q, W_k and W_v, so M is N"
    )
    shown = f" Lit: {', '.join(lit)}." if lit else ""
    return Picture(draw(lit), _ALT.format(sources=sources) + shown)


def draw(lit: tuple[str, ...]) -> Figure:
    """The diagram itself, with these parts lit."""
    figure, axes = new_figure(width=5.0, height=4.9)
    place = axes[0, 0]
    place.set(xlim=(-0.66, 6.85), ylim=(-1.35, 6.0))
    place.set_axis_off()
    _around(place, lit)
    is_cross = "context" in lit  # keys and values come from another sequence
    source = "context" if is_cross else "X"
    for start, end in (("X", "W_q"), *pairwise(_DOWN)):
        _arrow(place, start, end)
    for end in ("W_k", "W_v"):
        _arrow(place, source, end, is_lit=is_cross)
    for name, (start, end, label) in ARROWS.items():
        _arrow(place, start, end, label, name in lit)
    for name in BOXES:
        if name != "context" or is_cross:
            _box(place, name, name in lit)
    if not is_cross:
        _words(place, (_LEFT, BOXES["W_k"][1][1]), "M = N", "center", "center")
    return figure


def _words(
    place: Axes, at: tuple[float, float], words: str, side: str, level: str, ink: str = "black"
) -> None:
    place.text(*at, words, ha=side, va=level, color=ink, size=_SIZE)


def _high(name: str) -> float:
    """Half a box's height: that of Q Kᵀ takes in both Q and K."""
    return 0.6 + _TALL if name == "scores" else _TALL


def _around(place: Axes, lit: tuple[str, ...]) -> None:
    top, bottom, half = BOXES["scores"][1][1] + 1.04, BOXES["mix"][1][1] - 0.44, _HALF + 0.15
    for copies, label in (AROUND[name] for name in lit if name in AROUND):
        for copy in reversed(range(copies)):
            corner = (_RIGHT - half + 0.08 * copy, bottom + 0.08 * copy)
            for look in ({"facecolor": "white"}, {"facecolor": (BLUE, 0.14), "edgecolor": BLUE}):
                place.add_patch(Rectangle(corner, 2 * half, top - bottom, linewidth=1.8, **look))
        _words(place, (_RIGHT - half - 0.14, BOXES["mask"][1][1]), label, "right", "center", BLUE)


def _box(place: Axes, name: str, is_lit: bool) -> None:
    label, (x, y), beside = BOXES[name]
    high = _high(name)
    place.add_patch(
        Rectangle(
            (x - _HALF, y - high),
            2 * _HALF,
            2 * high,
            facecolor=BLUE if is_lit else "white",
            edgecolor=BLUE if is_lit else GREY,
            linewidth=1.2,
            linestyle="--" if name in _DASHED else "-",
        )
    )
    _words(place, (x, y), label, "center", "center", "white" if is_lit else "black")
    if x == _RIGHT:
        _words(place, (_BESIDE, y + 0.17), beside, "left", "top")  # its first line, beside the box
    else:
        _words(place, (x, y - high - 0.06), beside, "center", "top")


def _arrow(place: Axes, start: str, end: str, label: str = "", is_lit: bool = False) -> None:
    """To the next box, at the right or below; a step down is on the way."""
    (x, y), (to_x, to_y) = BOXES[start][1], BOXES[end][1]
    is_down = x == to_x
    if is_down:
        points = [(x, y - _high(start)), (x, to_y + _high(end) + 0.09)]
    elif end == "scores":
        points = [(x + _HALF, y), (to_x - _HALF - 0.07, y)]
    else:
        turn = x + _HALF + 0.16
        points = [(x + _HALF, y), (turn, y), (turn, to_y), (to_x - _HALF - 0.07, to_y)]
    colour = BLUE if is_lit else GREY
    place.plot(
        *zip(*points, strict=True),
        color=colour,
        linewidth=2.6 if is_lit else 1.2,
        marker="v" if is_down else ">",
        markersize=8 if is_lit else 6,
        markevery=[-1],
        zorder=2,
    )
    if label:
        at = ((x + to_x) / 2 - 0.11, points[-1][1] + 0.06)
        _words(place, at, label, "center", "bottom", BLUE if is_lit else "black")
