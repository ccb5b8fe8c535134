"""Lesson 03's figures: masked weights, and shuffled tokens."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from attnlab.figures.arrays import as_array
from attnlab.figures.picture import (
    ORANGE,
    QUIET,
    Picture,
    draw_heatmap,
    frame,
    hatch,
    in_style,
    new_figure,
    rows_in_words,
)

Numbers = Any  # nested lists or an array


@in_style
def masked_weights(free: Numbers, masked: Numbers, mask: Numbers, tokens: Sequence[str]) -> Picture:
    """Weights without and with a mask, blocked cells hatched, and what each row adds up to.

    Args:
        free: (N, N) weights with no mask.
        masked: (N, N) weights with it.
        mask: (N, N) bool, True = attend.
        tokens: N labels.
    """
    blocked = ~as_array(mask, bool)
    before, after = as_array(free), as_array(masked)
    grows = int((after - before).max(axis=1).argmax())  # the row that gains most
    stays = ~blocked[grows] & (before[grows] > 0)
    ratios = after[grows, stays] / before[grows, stays]
    factor = f"×{ratios.mean():.2f}" if np.allclose(ratios, ratios[0]) else ""
    figure, axes = new_figure(columns=2, width=10, height=4.1)
    for place, weights, title in zip(
        axes[0], (before, after), ("without a mask", "with the mask"), strict=True
    ):
        draw_heatmap(place, weights, tokens, tokens, title)
        _leave_row(place, np.arange(len(tokens)) == grows)
        place.set(xlabel="keys", ylabel="queries")
        frame(place, grows, 0, wide=len(tokens))
        for n, total in enumerate(weights.sum(axis=1)):
            told = f"sum {total:.2f}".removesuffix(".00")
            is_told = weights is after and n == grows and bool(factor)
            place.text(
                len(tokens) - 0.35,
                n,
                f"{factor}\n{told}" if is_told else told,
                va="center",
                color=ORANGE if is_told else QUIET,
                weight="bold" if is_told else "normal",
            )
    hatch(axes[0, 1], blocked & (after == 0))
    middle = len(tokens) // 2
    whole = [(middle, int(n), 0) for n in np.flatnonzero(blocked.all(axis=1))]
    whole += [(int(m), middle, 90) for m in np.flatnonzero(blocked.all(axis=0))]
    look: Any = {"ha": "center", "va": "center", "color": QUIET}
    for x, y, turned in whole:
        box = {"facecolor": "white", "linewidth": 0, "pad": 1}
        axes[0, 1].text(x, y, "blocked", rotation=turned, bbox=box, **look)
    empty = [tokens[int(n)] for n in np.flatnonzero(blocked.all(axis=1))]
    total = float(abs(after[blocked]).sum())
    taken = [f"“{tokens[int(m)]}”" for m in np.flatnonzero(blocked[grows])]
    return Picture(
        figure,
        "Two heatmaps of weights, without and with a mask. Without: "
        f"{rows_in_words(before, tokens, tokens)} With it, {int(blocked.sum())} of {blocked.size} "
        f"cells are blocked and hatched, and their weights add up to {total:g}.{_left(empty)} "
        f"The row of {tokens[grows]} is framed.",
        f"Mask {taken[0] if len(taken) == 1 else f'{len(taken)} keys'}: what “{tokens[grows]}” "
        f"has left grows{f' {factor},' if factor else ''} to a sum of 1\n{_left(empty).strip()}"
        if np.isclose(after[grows].sum(), 1) and np.isclose(before[grows].sum(), 1)
        else "",
    )


def _left(tokens: Sequence[str]) -> str:
    """Whose whole row is blocked."""
    return f" All keys are blocked for “{'” and “'.join(tokens)}”: its sum is 0." if tokens else ""


def _leave_row(place: Axes, is_left: np.ndarray) -> None:
    """Hide the numbers of a heatmap in all other rows: their colours say enough."""
    for text, is_shown in zip(place.texts, np.repeat(is_left, len(is_left)), strict=True):
        text.set_visible(bool(is_shown))


@in_style
def two_orders(
    first: Numbers, tokens: Sequence[str], second: Numbers, shuffled: Sequence[str]
) -> Picture:
    """The weights of one sentence in two orders, one cell framed in both.

    Args:
        first: (N, N) weights of the tokens in their order.
        tokens: N labels.
        second: (N, N) weights of the same tokens, shuffled.
        shuffled: the labels in the second order.
    """
    before = as_array(first)
    # The largest weight off the diagonal is the one to look for in both.
    off = before * (1 - np.eye(len(tokens)))
    query, key = (tokens[int(i)] for i in np.unravel_index(off.argmax(), off.shape))
    figure, axes = new_figure(columns=2, width=9, height=4.1)
    found, said = [], []
    for place, weights, labels in (
        (axes[0, 0], before, tokens),
        (axes[0, 1], as_array(second), shuffled),
    ):
        draw_heatmap(place, weights, labels, labels, " ".join(labels))
        place.set(xlabel="keys", ylabel="queries")
        _leave_row(place, np.array(labels) == query)
        rows = "; ".join(
            f"{word} {', '.join(f'{share:.2f}' for share in row)}"
            for word, row in zip(labels, weights, strict=True)
        )
        said.append(f"{' '.join(labels)}: {rows}")
        if {query, key} <= set(labels):
            n, m = [*labels].index(query), [*labels].index(key)
            frame(place, n, m)
            for label in (place.get_yticklabels()[n], place.get_xticklabels()[m]):
                label.set(color=ORANGE, weight="bold")
            found.append(f"{weights[n, m]:.2f}")
    return Picture(
        figure,
        f"Two heatmaps of weights, a row for each query; the cell of {query} and {key} is framed. "
        f"{'. '.join(said)}.",
        f"Shuffle the words: “{query}” still puts {found[0]} on “{key}”"
        if len(found) == 2 and found[0] == found[1]
        else "",
    )
