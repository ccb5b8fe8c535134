"""Lesson 08's figures: attention maps side by side, each over words of its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from attnlab.figures.arrays import as_array
from attnlab.figures.picture import (
    ORANGE,
    Picture,
    draw_heatmap,
    frame,
    hatch,
    in_style,
    new_figure,
)

MOST = 0.5  # of a row: a query that gives a key more has found it
SMALL = 0.05  # weights below are seen, not written
Numbers = Any  # nested lists, an array or a tensor without a gradient
Panel = tuple[Numbers, Sequence[str], Sequence[str], Numbers]


@in_style
def maps(panels: Mapping[str, Panel]) -> Picture:
    """Weights of several attentions, with one colour scale; what is blocked is hatched.

    In each, the look that goes furthest ahead is framed, if there is one.

    Args:
        panels: for each title, weights (N, M), N queries, M keys, and (N, M) bool, True = blocked,
            or None where nothing is.
    """
    widths = [len(keys) + 1.8 for _, _, keys, _ in panels.values()]
    rows = max(len(queries) for _, queries, _, _ in panels.values())
    figure, axes = new_figure(
        columns=len(panels),
        width=0.62 * sum(widths),
        height=1.7 + 0.46 * rows,
        width_ratios=widths,
    )
    words, found = [], []
    for place, (title, panel) in zip(axes[0], panels.items(), strict=True):
        weights, queries, keys, blocked = panel
        matrix = as_array(weights)
        draw_heatmap(place, matrix, queries, keys, title, least=SMALL)
        place.set_xticks(range(len(keys)), keys, rotation=40, ha="right", rotation_mode="anchor")
        place.set(xlabel="keys", ylabel="queries")
        hidden = np.zeros(matrix.shape, bool) if blocked is None else as_array(blocked, bool)
        hatch(place, hidden & (matrix == 0))
        words.append(f"{title}: {_in_words(matrix, queries, keys, hidden)}")
        ahead = [(m - n, n, m) for n, m in np.argwhere((matrix > MOST) & ~hidden).tolist() if m > n]
        if ahead:
            _, n, m = max(ahead)
            frame(place, n, m)
            for label in (place.get_yticklabels()[n], place.get_xticklabels()[m]):
                label.set(color=ORANGE, weight="bold")
            found.append(f"“{queries[n]}” finds “{keys[m]}” in place {m + 1} ({matrix[n, m]:.2f})")
        else:
            found.append("no word looks ahead")
    many = f"{len(panels)} heatmaps" if len(panels) > 1 else "Heatmap"
    return Picture(
        figure,
        f"{many} of weights, one row a query, one column a key. {' '.join(words)}",
        "; ".join(f"{title}: {what}" for title, what in zip(panels, found, strict=True)) + ".",
    )


def _in_words(
    matrix: np.ndarray, queries: Sequence[str], keys: Sequence[str], hidden: np.ndarray
) -> str:
    said = []
    for query, row in zip(queries, matrix, strict=True):
        best = np.flatnonzero(row > row.max() - 0.005).tolist()
        named = " and ".join(keys[m] for m in best)
        said.append(f"{query} {named} ({row.max():.2f})" if row.max() > 0 else f"{query} nothing")
    words = f"what each query attends to most: {'; '.join(said)}."
    if not hidden.any():
        return words
    share = matrix[hidden].sum()
    held = "exactly 0" if share == 0 else f"{share:.2f}"
    return f"{words} {int(hidden.sum())} cells are blocked and hold {held}."
