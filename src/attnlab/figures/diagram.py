"""The block of attention as one diagram, with the parts lit that a lesson is about.

    figures.block("softmax")

The geometry is the same in every lesson, so that a glance says where one is.
"""

from __future__ import annotations

from itertools import pairwise

from matplotlib.axes import Axes

from attnlab.figures.picture import BLUE, GREY, Picture, new_figure

# Each box: its label, and the place of its middle.
BOXES = {
    "X": ("X", (0.0, 1.0)),
    "W_q": ("W_q", (1.35, 2.0)),
    "W_k": ("W_k", (1.35, 1.0)),
    "W_v": ("W_v", (1.35, 0.0)),
    "scores": ("Q Kᵀ", (2.95, 1.5)),
    "scale": ("÷ √d_k", (4.2, 1.5)),
    "mask": ("mask", (5.45, 1.5)),
    "softmax": ("softmax", (6.7, 1.5)),
    "mix": ("· V", (7.95, 1.5)),
    "W_o": ("W_o", (9.2, 1.5)),
}
# Each arrow that can be lit: where it begins, where it ends, what is written on it.
ARROWS = {
    "X to W_q": ("X", "W_q", ""),
    "X to W_k": ("X", "W_k", ""),
    "X to W_v": ("X", "W_v", ""),
    "Q": ("W_q", "scores", "Q"),
    "K": ("W_k", "scores", "K"),
    "V": ("W_v", "mix", "V"),
}
_CHAIN = ("scores", "scale", "mask", "softmax", "mix", "W_o")
_HALF, _TALL = 0.5, 0.3  # of a box: half its width, half its height
_ALT = (
    "Attention as a diagram. X goes through W_q, W_k and W_v, which make Q, K and V. Q and K meet "
    "in Q Kᵀ; then come ÷ √d_k, mask, softmax, the product with V, and W_o."
)


def block(*lit: str) -> Picture:
    """Attention from X to W_o.

    Args:
        lit: names of boxes and arrows, of BOXES and ARROWS.
    Raises:
        ValueError: there is no part of this name.
    """
    for name in lit:
        if name not in BOXES and name not in ARROWS:
            raise ValueError(f"the block has no part {name!r}; it has {', '.join(BOXES | ARROWS)}")
    figure, axes = new_figure(width=8.2, height=2.0)
    place = axes[0, 0]
    place.set(xlim=(-0.6, 10.3), ylim=(-0.4, 2.4))
    place.set_axis_off()
    for name, (label, middle) in BOXES.items():
        _box(place, label, middle, name in lit)
    for name, (start, end, label) in ARROWS.items():
        _arrow(place, BOXES[start][1], BOXES[end][1], label, name in lit)
    for start, end in pairwise(_CHAIN):
        _arrow(place, BOXES[start][1], BOXES[end][1], "", False)
    x, y = BOXES["W_o"][1]
    _arrow(place, (x, y), (x + 1.3, y), "", False)
    shown = f" Lit: {', '.join(lit)}." if lit else ""
    return Picture(figure, _ALT + shown)


def _box(place: Axes, label: str, middle: tuple[float, float], is_lit: bool) -> None:
    place.text(
        *middle,
        label,
        ha="center",
        va="center",
        color="white" if is_lit else "black",
        fontweight="bold" if is_lit else "normal",
    )
    x, y = middle
    place.fill(
        [x - _HALF, x + _HALF, x + _HALF, x - _HALF],
        [y - _TALL, y - _TALL, y + _TALL, y + _TALL],
        facecolor=BLUE if is_lit else "none",
        edgecolor=BLUE if is_lit else GREY,
        linewidth=1.2,
    )


def _arrow(
    place: Axes, start: tuple[float, float], end: tuple[float, float], label: str, is_lit: bool
) -> None:
    """From one box to the next, or below the chain to one that is far."""
    (x, y), (to_x, to_y) = (start[0] + _HALF, start[1]), (end[0] - _HALF, end[1])
    colour, width = (BLUE, 3.0) if is_lit else (GREY, 1.2)
    if end[0] - start[0] > 2:  # V passes below the chain
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
        place.text(
            middle[0],
            middle[1] + 0.14,
            label,
            ha="center",
            va="bottom",
            color=BLUE if is_lit else "black",
        )
