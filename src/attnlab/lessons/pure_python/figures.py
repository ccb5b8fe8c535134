"""Lesson 02's figures: shared matrices, and the seven steps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from attnlab.figures.picture import (
    Picture,
    draw_heatmap,
    new_figure,
    rows_in_words,
)

SIGNED = "RdBu_r"  # blue below 0, white at 0, red above; apart for every common colour vision
Numbers = Any  # nested lists or an array


def one_matrix_for_two(tokens: Sequence[str], Q: Numbers, K: Numbers) -> Picture:
    """Scores Q Kᵀ beside K Kᵀ, which are the scores when W_k makes queries too.

    Args:
        tokens: N labels.
        Q: (N, d_k).
        K: (N, d_k).
    """
    keys = np.asarray(K, dtype=float)
    panels = {"W_q and W_k": np.asarray(Q, dtype=float) @ keys.T, "W_k for both": keys @ keys.T}
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


def seven_steps(
    tokens: Sequence[str], X: Numbers, W_q: Numbers, W_k: Numbers, W_v: Numbers
) -> Picture:
    """Every matrix of self-attention with its numbers, from the tokens to the output.

    Args:
        tokens: N labels.
        X: (N, d).
        W_q: (d, d_k).
        W_k: (d, d_k).
        W_v: (d, d_v).
    """
    Q, K, V = (np.asarray(X) @ np.asarray(W) for W in (W_q, W_k, W_v))
    scores = Q @ K.T
    scaled = scores / np.sqrt(Q.shape[1])
    shares = np.exp(scaled - scaled.max(axis=1, keepdims=True))
    A = shares / shares.sum(axis=1, keepdims=True)
    Z = A @ V

    figure, axes = new_figure(columns=4, rows=2, width=10.5, height=5.4)
    top, bottom = axes
    entries = _even_limits(X, Q, K, V, Z)
    for place, matrix, title in zip(top, (X, Q, K, V), STEPS[:4], strict=True):
        image = _draw_entries(place, matrix, tokens, title, entries)
    _draw_entries(bottom[2], Z, tokens, STEPS[6], entries)
    bottom[3].set_axis_off()
    figure.colorbar(image, ax=axes[:, 3], label="entry of X, Q, K, V or Z")

    image = draw_heatmap(bottom[0], scores, tokens, tokens, STEPS[4], _even_limits(scores), SIGNED)
    figure.colorbar(image, ax=bottom[0], label="score", location="bottom")
    image = draw_heatmap(bottom[1], A, tokens, tokens, STEPS[5])
    figure.colorbar(image, ax=bottom[1], label="weight", location="bottom")

    matrices = (np.asarray(X), Q, K, V, scores, A, Z)
    shapes = "; ".join(
        f"{title}, shape ({matrix.shape[0]}, {matrix.shape[1]})"
        for title, matrix in zip(STEPS, matrices, strict=True)
    )
    alt = (
        f"Seven heatmaps, a row for each token. {shapes}. Largest score {scores.max():g}, "
        f"{scaled.max():.2f} once divided by √d_k. By weight, {rows_in_words(A, tokens, tokens)} "
        f"Output: {_rows_of_numbers(Z, tokens)}."
    )
    return Picture(figure, alt)


STEPS = (
    "1  X",
    "2  Q = X W_q",
    "2  K = X W_k",
    "2  V = X W_v",
    "3  scores Q Kᵀ",
    "6  weights A",
    "7  output Z = A V",
)


def _draw_entries(
    place: Axes, matrix: Numbers, tokens: Sequence[str], title: str, limits: tuple[float, float]
) -> Any:
    """A matrix with one row a token and numbered columns."""
    columns = [str(c + 1) for c in range(len(matrix[0]))]
    return draw_heatmap(place, matrix, tokens, columns, title, limits, SIGNED)


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


def _rows_of_numbers(matrix: np.ndarray, tokens: Sequence[str]) -> str:
    """'the (0.95, 1.22), cat (…)'."""
    return ", ".join(
        f"{token} ({', '.join(f'{number:.2f}' for number in row)})"
        for token, row in zip(tokens, matrix, strict=True)
    )
