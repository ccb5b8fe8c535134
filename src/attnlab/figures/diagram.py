"""The block of attention as one diagram, with the parts lit that a lesson is about.

    figures.block("softmax")

The geometry is the same in every lesson, so that a glance says where one is.
"""

from __future__ import annotations

from itertools import pairwise

from matplotlib.axes import Axes

from attnlab.figures.picture import BLUE, GREY, Picture, new_figure

# Each box: its label, the place of its middle, and what stands under it.
BOXES = {
    "X": ("X", (0.0, 1.0), "(N, d)"),
    "W_q": ("W_q", (1.35, 2.0), "(d, d_k)"),
    "W_k": ("W_k", (1.35, 1.0), "(d, d_k)"),
    "W_v": ("W_v", (1.35, 0.0), "(d, d_v)"),
    "scores": ("Q Kᵀ", (3.75, 1.5), "(N, M)"),
    "scale": ("÷ √d_k", (5.0, 1.5), "(N, M)"),
    "mask": ("mask", (6.25, 1.5), "optional"),
    "softmax": ("softmax", (7.5, 1.5), "rows sum to 1"),
    "mix": ("A V", (8.75, 1.5), ""),
    "W_o": ("W_o", (10.75, 1.5), "lesson 07"),
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
_HALF, _TALL = 0.5, 0.3  # of a box: half its width, half its height
_SMALL = 9  # points, of what stands under a box
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
    figure, axes = new_figure(width=8.8, height=2.4)
    place = axes[0, 0]
    place.set(xlim=(-0.6, 11.9), ylim=(-0.75, 2.85))
    place.set_axis_off()
    for name, (label, middle, below) in BOXES.items():
        _box(place, label, middle, below, name in lit, name in DASHED)
    for name, (start, end, label) in ARROWS.items():
        _arrow(place, BOXES[start][1], BOXES[end][1], label, name in lit)
    for start, end in pairwise(_CHAIN):
        label = "Z\n(N, d_v)" if start == "mix" else ""
        _arrow(place, BOXES[start][1], BOXES[end][1], label, False)
    x, y = BOXES["W_o"][1]
    _arrow(place, (x, y), (x + 1.3, y), "", False)
    here = [BOXES[name][1] for name in lit if name in BOXES]
    if here:
        x, y = here[0]
        level = [each for each, height in here if height == y]
        x = (min(level) + max(level)) / 2
        place.text(
            x, y + _TALL + 0.1, "you are here", ha="center", va="bottom", color=BLUE, size=_SMALL
        )
    shown = f" Lit: {', '.join(lit)}." if lit else ""
    return Picture(figure, _ALT + shown)


def _box(
    place: Axes,
    label: str,
    middle: tuple[float, float],
    below: str,
    is_lit: bool,
    is_dashed: bool,
) -> None:
    place.text(
        *middle,
        label,
        ha="center",
        va="center",
        color="white" if is_lit else "black",
        fontweight="bold" if is_lit else "normal",
    )
    x, y = middle
    place.text(x, y - _TALL - 0.08, below, ha="center", va="top", color="black", size=_SMALL)
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
    """From one box to the next, or below the chain to one that is far."""
    (x, y), (to_x, to_y) = (start[0] + _HALF, start[1]), (end[0] - _HALF, end[1])
    colour, width = (BLUE, 3.0) if is_lit else (GREY, 1.2)
    if end[0] - start[0] > 3:  # V passes below the chain
        place.plot([x, end[0]], [y, y], color=colour, linewidth=width, solid_capstyle="butt")
        x, to_x, to_y = end[0], end[0], end[1] - _TALL
        middle = ((start[0] + end[0]) / 2, y)
    else:
        middle = ((x + to_x) / 2, (y + to_y) / 2)
    place.annotate(
        "",
        (to_x, to_y),
        (x, y),
        arrowprops={
            "arrowstyle": "-|>",
            "color": colour,
            "linewidth": width,
            "shrinkA": 0,
            "shrinkB": 0,
        },
    )
    if label:
        rises = to_y > y and to_x > x  # its label is under it, or it would be on it
        place.text(
            middle[0] - (0.2 if rises else 0),
            middle[1] + (-0.2 if rises else 0.2 if to_y < y else 0.1),
            label,
            ha="left" if to_y != y and to_x > x else "center",
            va="top" if rises else "bottom",
            size=_SMALL,
            color=BLUE if is_lit else "black",
        )
