"""Lesson 03's figures: masked weights, shuffled tokens, growth, big matrices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.patches import Rectangle

from attnlab.figures.arrays import as_array
from attnlab.figures.picture import (
    GREY,
    ORANGE,
    Picture,
    draw_heatmap,
    new_figure,
    rows_in_words,
)

SIGNED = "RdBu_r"  # blue below 0, white at 0, red above; apart for every common colour vision
Numbers = Any  # nested lists or an array


def masked_weights(free: Numbers, masked: Numbers, mask: Numbers, tokens: Sequence[str]) -> Picture:
    """Weights without and with a mask, blocked cells hatched.

    Args:
        free: (N, N) weights with no mask.
        masked: (N, N) weights with it.
        mask: (N, N) bool, True = attend.
        tokens: N labels.
    """
    blocked = ~as_array(mask, bool)
    before, after = as_array(free), as_array(masked)
    figure, axes = new_figure(columns=2, width=9.5, height=3.4)
    image = draw_heatmap(axes[0, 0], before, tokens, tokens, "no mask")
    draw_heatmap(axes[0, 1], after, tokens, tokens, "with the mask, blocked cells hatched")
    for n, m in np.argwhere(blocked).tolist():
        axes[0, 1].add_patch(
            Rectangle((m - 0.5, n - 0.5), 1, 1, fill=False, hatch="//", edgecolor=GREY, linewidth=0)
        )
    for place in axes[0]:
        place.set(xlabel="keys", ylabel="queries")
    figure.colorbar(image, ax=axes, label="weight")
    empty = [tokens[int(n)] for n in np.flatnonzero(blocked.all(axis=1))]
    left = f" Nothing is left for {', '.join(empty)}: that row is all 0." if empty else ""
    total = float(abs(after[blocked]).sum())
    return Picture(
        figure,
        "Two heatmaps of weights, without and with a mask. Without: "
        f"{rows_in_words(before, tokens, tokens)} With it, {int(blocked.sum())} of {blocked.size} "
        f"cells are blocked, and their weights add up to {total:g}.{left}",
    )


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
    panels = ((first, tokens, "as written"), (second, shuffled, "shuffled"))
    # The largest weight off the diagonal is the one to look for in both.
    off = as_array(first) * (1 - np.eye(len(tokens)))
    query, key = (tokens[int(i)] for i in np.unravel_index(off.argmax(), off.shape))
    figure, axes = new_figure(columns=2, width=9.5, height=3.4)
    found = []
    for place, (weights, labels, title) in zip(axes[0], panels, strict=True):
        image = draw_heatmap(place, weights, labels, labels, title)
        place.set(xlabel="keys", ylabel="queries")
        n, m = list(labels).index(query), list(labels).index(key)
        place.add_patch(
            Rectangle((m - 0.5, n - 0.5), 1, 1, fill=False, linewidth=3, edgecolor=ORANGE)
        )
        found.append(f"row {n}, column {m}: {as_array(weights)[n, m]:.2f}")
    figure.colorbar(image, ax=axes, label="weight")
    return Picture(
        figure,
        f"Two heatmaps of weights, of '{' '.join(tokens)}' and of '{' '.join(shuffled)}'. The cell "
        f"of query {query} and key {key} is framed in both, in {found[0]} and in {found[1]}.",
    )
