"""The block of attention as one diagram, with the parts lit that a lesson is about.

    figures.block("softmax")

The geometry is the same in every lesson, so that a glance says where one is.
"""

from __future__ import annotations

from itertools import pairwise

from matplotlib.axes import Axes

from attnlab.figures.picture import BLUE, GREY, Picture, new_figure

# Each box: its label, the place of its middle, and what stands beside it.
BOXES = {
    "X": ("X", (0.0, 3.7), "(N, d)"),
    "W_q": ("W_q", (1.5, 5.0), "(d, d_k)"),
    "W_k": ("W_k", (1.5, 3.7), "(d, d_k)"),
    "W_v": ("W_v", (1.5, 1.0), "(d, d_v)"),
    "scores": ("Q Kᵀ", (4.25, 5.0), "(N, M)"),
    "scale": ("÷ √d_k", (4.25, 4.0), "(N, M)"),
    "mask": ("mask", (4.25, 3.0), "optional"),
    "softmax": ("softmax", (4.25, 2.0), "rows\nsum to 1"),
    "mix": ("A V", (4.25, 1.0), ""),
    "W_o": ("W_o", (4.25, 0.0), "lesson 07"),
}
DASHED = ("mask", "W_o")
# Each arrow that can be lit: where it begins, where it ends, what is written on it.
ARROWS = {
    "X to W_q": ("X", "W_q", ""),
    "X to W_k": ("X", "W_k", ""),
    "X to W_v": ("X", "W_v", ""),
    "Q": ("W_q", "scores", "Q (N, d_k)"),
    "K": ("W_k", "scores", "K (M, d_k)"),
    "V": ("W_v", "mix", "V (M, d_v)"),
}
_CHAIN = ("scores", "scale", "mask", "softmax", "mix", "W_o")
_HALF, _TALL = 0.55, 0.28  # of a box: half its width, half its height
_SIZE = 13  # points: words that can be read on a phone, where the picture is half as large
_ALT = (
    "Attention as a diagram. X, (N, d), goes through W_q, W_k and W_v, which make Q, (N, d_k), K, "
    "(M, d_k), and V, (M, d_v). Q and K meet in Q Kᵀ, (N, M); then come ÷ √d_k, a mask that is "
    "optional, and softmax, whose rows sum to 1: A. A V is Z, (N, d_v); W_o after it is optional."
)


def block(*lit: str) -> Picture:
    """Attention from X to Z, with the shapes of all.

    Args:
        lit: names of boxes and arrows, of BOXES and ARROWS: where one is.
    Raises:
        ValueError: there is no part of this name.
    """
    for name in lit:
        if name not in BOXES and name not in ARROWS:
            raise ValueError(f"the block has no part {name!r}; it has {', '.join(BOXES | ARROWS)}")
    figure, axes = new_figure(width=4.9, height=4.3)
    place = axes[0, 0]
    place.set(xlim=(-0.6, 6.15), ylim=(-0.6, 5.7))
    place.set_axis_off()
    for name, (label, middle, beside) in BOXES.items():
        _box(place, label, middle, beside, name in lit, name in DASHED)
    for name, (start, end, label) in ARROWS.items():
        _arrow(place, BOXES[start][1], BOXES[end][1], label, name in lit)
    for start, end in pairwise(_CHAIN):
        _arrow(place, BOXES[start][1], BOXES[end][1], "Z (N, d_v)" if start == "mix" else "", False)
    here = [BOXES[name][1] for name in lit if name in BOXES]
    if here:
        x, y = here[0]
        at = x + 0.12 if x == BOXES["scores"][1][0] else x - _HALF
        _words(place, (at, y + _TALL + 0.04), "you are here", "left", "bottom", BLUE)
    shown = f" Lit: {', '.join(lit)}." if lit else ""
    return Picture(figure, _ALT + shown)


def _words(
    place: Axes, at: tuple[float, float], words: str, side: str, level: str, ink: str = "black"
) -> None:
    place.text(*at, words, ha=side, va=level, color=ink, size=_SIZE)


def _box(
    place: Axes,
    label: str,
    middle: tuple[float, float],
    beside: str,
    is_lit: bool,
    is_dashed: bool,
) -> None:
    x, y = middle
    place.text(
        x,
        y,
        label,
        ha="center",
        va="center",
        color="white" if is_lit else "black",
        fontweight="bold" if is_lit else "normal",
        size=_SIZE,
    )
    if x == BOXES["scores"][1][0]:
        _words(place, (x + _HALF + 0.12, y), beside, "left", "center")
    else:
        _words(place, (x, y - _TALL - 0.06), beside, "center", "top")
    place.fill(
        [x - _HALF, x + _HALF, x + _HALF, x - _HALF],
        [y - _TALL, y - _TALL, y + _TALL, y + _TALL],
        facecolor=BLUE if is_lit else "none",
        edgecolor=BLUE if is_lit else GREY,
        linewidth=1.2,
        linestyle="--" if is_dashed else "-",
    )


def _arrow(
    place: Axes, start: tuple[float, float], end: tuple[float, float], label: str, is_lit: bool
) -> None:
    """To the next box, at the right or below."""
    is_down = start[0] == end[0]
    tail = (start[0], start[1] - _TALL) if is_down else (start[0] + _HALF, start[1])
    tip = (end[0], end[1] + _TALL) if is_down else (end[0] - _HALF, end[1])
    colour, width = (BLUE, 3.0) if is_lit else (GREY, 1.2)
    place.annotate(
        "",
        tip,
        tail,
        arrowprops={
            "arrowstyle": "-|>",
            "color": colour,
            "linewidth": width,
            "shrinkA": 0,
            "shrinkB": 0,
        },
    )
    if label:
        x, y = (tail[0] + tip[0]) / 2, (tail[1] + tip[1]) / 2
        rises = tip[1] > tail[1]  # its label is under it, or it would be on it
        at = (tail[0] + 0.12, y) if is_down else (x + 0.06, tail[1] if rises else y + 0.06)
        level = "center" if is_down else "top" if rises else "bottom"
        _words(
            place, at, label, "left" if is_down else "center", level, BLUE if is_lit else "black"
        )
