"""Lesson 02's figure: one matrix in two roles."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.patches import Rectangle

from attnlab.figures.arrays import as_array
from attnlab.figures.picture import Picture, draw_heatmap, new_figure

SIGNED = "RdBu_r"  # blue below 0, white at 0, red above; apart for every common colour vision
Numbers = Any  # nested lists or an array


def one_matrix_for_two(tokens: Sequence[str], Q: Numbers, K: Numbers) -> Picture:
    """Scores Q Kᵀ beside K Kᵀ, which are the scores when W_k makes queries too.

    Args:
        tokens: N labels.
        Q: (N, d_k).
        K: (N, d_k).
    """
    keys = as_array(K)
    panels = {"W_q and W_k": as_array(Q) @ keys.T, "W_k for both": keys @ keys.T}
    limits = _even_limits(*panels.values())
    figure, axes = new_figure(columns=2, width=7.5, height=3.1)
    for place, (title, scores) in zip(axes[0], panels.items(), strict=True):
        image = draw_heatmap(place, scores, tokens, tokens, title, limits, SIGNED)
        place.set(xlabel="keys", ylabel="queries")
        for i in range(len(tokens)):
            place.add_patch(Rectangle((i - 0.48, i - 0.46), 0.96, 0.92, fill=False, linewidth=2))
    figure.colorbar(image, ax=axes, label="score, before scaling")
    in_words = [
        f"{title}: {_scores_in_words(scores, tokens)}; {_symmetry(scores)}; diagonal "
        f"{', '.join(f'{number:g}' for number in scores.diagonal())}."
        for title, scores in panels.items()
    ]
    return Picture(figure, "Two heatmaps of scores, diagonals framed. " + " ".join(in_words))


def _even_limits(*matrices: Numbers) -> tuple[float, float]:
    """Colour limits that hold all matrices, with 0 in the middle."""
    limit = max(float(np.abs(matrix).max()) for matrix in matrices)
    return -limit, limit


def _symmetry(matrix: np.ndarray) -> str:
    return "symmetric" if np.array_equal(matrix, matrix.T) else "not symmetric"


def _scores_in_words(matrix: np.ndarray, tokens: Sequence[str]) -> str:
    return "; ".join(
        f"{token} scores {', '.join(f'{number:g}' for number in row)}"
        for token, row in zip(tokens, matrix, strict=True)
    )
