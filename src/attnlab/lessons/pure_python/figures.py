"""Lesson 02's figure: one matrix in two roles."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from attnlab.figures.arrays import as_array
from attnlab.figures.picture import BLUE, GREEN, ORANGE, Picture, draw_heatmap, new_figure

PAIRS = (GREEN, ORANGE, BLUE)  # frames of a number and of its mirror image
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
            _frame(place, i, i, "black", "-")
        for pair, (i, j) in enumerate(combinations(range(len(tokens)), 2)):
            colour = PAIRS[pair % len(PAIRS)]
            for row, column in ((i, j), (j, i)):
                _frame(place, row, column, colour, "-" if scores[i, j] == scores[j, i] else ":")
                place.text(column - 0.42, row - 0.38, chr(97 + pair), va="top", color=colour)
    figure.colorbar(image, ax=axes, label="score, before scaling")
    in_words = [
        f"{title}: {_scores_in_words(scores, tokens)}; {_symmetry(scores)}; diagonal "
        f"{', '.join(f'{number:g}' for number in scores.diagonal())}."
        for title, scores in panels.items()
    ]
    return Picture(
        figure,
        "Two heatmaps of scores, diagonals framed; so is each number with its mirror image, by a "
        "full line where the two are equal. " + " ".join(in_words),
    )


def _frame(place: Axes, row: int, column: int, colour: str, style: str) -> None:
    corner = (column - 0.47, row - 0.45)
    place.add_patch(
        Rectangle(corner, 0.94, 0.9, fill=False, linewidth=2.5, edgecolor=colour, linestyle=style)
    )


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
