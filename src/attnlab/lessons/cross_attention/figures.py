"""Lesson 08's figures: attention maps side by side, each over words of its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.patches import Rectangle

from attnlab.figures.arrays import as_array
from attnlab.figures.picture import GREY, Picture, draw_heatmap, new_figure

HATCH = "///"
Numbers = Any  # nested lists, an array or a tensor without a gradient
Panel = tuple[Numbers, Sequence[str], Sequence[str], Numbers]


def maps(panels: Mapping[str, Panel]) -> Picture:
    """Weights of several attentions, with one colour scale; what is blocked is hatched.

    Args:
        panels: for each title, weights (N, M), N queries, M keys, and (N, M) bool, True = blocked,
            or None where nothing is.
    """
    widths = [len(keys) + 1.6 for _, _, keys, _ in panels.values()]
    rows = max(len(queries) for _, queries, _, _ in panels.values())
    figure, axes = new_figure(
        columns=len(panels),
        width=0.62 * sum(widths) + 1.2,
        height=1.9 + 0.42 * rows,
        width_ratios=widths,
    )
    words = []
    for place, (title, panel) in zip(axes[0], panels.items(), strict=True):
        weights, queries, keys, blocked = panel
        matrix = as_array(weights)
        image = draw_heatmap(place, matrix, queries, keys, title)
        place.set_xticks(range(len(keys)), keys, rotation=40, ha="right")
        place.set(xlabel="keys", ylabel="queries")
        hidden = np.zeros(matrix.shape, bool) if blocked is None else as_array(blocked, bool)
        for text, at in zip(place.texts, np.ndindex(matrix.shape), strict=True):
            if hidden[at]:
                _hatch(place, at)
                text.set_text("" if matrix[at] == 0 else f"{matrix[at]:.2f}")
        words.append(f"{title}: {_in_words(matrix, queries, keys, hidden)}")
    figure.colorbar(image, ax=axes, label="weight")
    many = f"{len(panels)} heatmaps" if len(panels) > 1 else "Heatmap"
    return Picture(
        figure, f"{many} of weights, one row a query, one column a key. {' '.join(words)}"
    )


def _hatch(place: Any, at: tuple[int, ...]) -> None:
    n, m = at
    place.add_patch(
        Rectangle(
            (m - 0.5, n - 0.5), 1, 1, facecolor="white", hatch=HATCH, edgecolor=GREY, linewidth=0
        )
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
