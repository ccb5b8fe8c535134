"""Lesson 02's figures: shared matrices, the seven steps, outputs among values, the cost."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Polygon, Rectangle

from attnlab.figures.picture import (
    BLUE,
    GREEN,
    GREY,
    ORANGE,
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
    _draw_entries(bottom[3], Z, tokens, STEPS[7], entries)
    figure.colorbar(image, ax=axes[:, 3], label="entry of X, Q, K, V or Z")

    for place, matrix, title in zip(bottom, (scores, scaled), STEPS[4:6], strict=False):
        image = draw_heatmap(place, matrix, tokens, tokens, title, _even_limits(scores), SIGNED)
    figure.colorbar(image, ax=bottom[:2], label="score", location="bottom", aspect=40)
    image = draw_heatmap(bottom[2], A, tokens, tokens, STEPS[6])
    figure.colorbar(image, ax=bottom[2], label="weight", location="bottom")

    matrices = (np.asarray(X), Q, K, V, scores, scaled, A, Z)
    shapes = "; ".join(
        f"{title}, shape ({matrix.shape[0]}, {matrix.shape[1]})"
        for title, matrix in zip(STEPS, matrices, strict=True)
    )
    alt = (
        f"Eight heatmaps, one row a token. {shapes}. Largest score {scores.max():g}, "
        f"{scaled.max():.2f} once scaled. By weight, {rows_in_words(A, tokens, tokens)} "
        f"Output: {_rows_of_numbers(Z, tokens)}."
    )
    return Picture(figure, alt)


STEPS = (
    "1  X",
    "2  Q = X W_q",
    "2  K = X W_k",
    "2  V = X W_v",
    "3  scores Q Kᵀ",
    "4  scaled by 1/√d_k",
    "6  weights A",
    "7  output Z = A V",
)


def among_values(tokens: Sequence[str], V: Numbers, Z: Numbers) -> Picture:
    """Values as corners, outputs as points among them.

    Args:
        tokens: N labels, N ≥ 3.
        V: (N, 2), in an order that makes a polygon.
        Z: (N, 2).
    """
    values, outputs = np.asarray(V, dtype=float), np.asarray(Z, dtype=float)
    figure, axes = new_figure(width=6.0, height=4.0)
    place = axes[0, 0]
    place.add_patch(Polygon(values, facecolor=BLUE, alpha=0.08, edgecolor="none"))
    place.add_patch(Polygon(values, fill=False, edgecolor=BLUE, linewidth=1))
    place.scatter(*values.T, s=70, color=BLUE, label="values: rows of V", zorder=3)
    outputs_label = "outputs: rows of Z"
    place.scatter(*outputs.T, s=70, color=ORANGE, marker="D", label=outputs_label, zorder=3)
    middle = values.mean(axis=0)
    for token, value, output in zip(tokens, values, outputs, strict=True):
        right, up = (value - middle) / np.hypot(*(value - middle))
        _label(place, f"v of {token}", value, (34 * right, 18 * up - 5), BLUE, "center")
        _label(place, f"z of {token}", output, (-9.0, -4.0), ORANGE, "right")
    place.set(xlabel="first entry", ylabel="second entry", aspect="equal")
    place.margins(0.24, 0.16)
    place.grid(color=GREY, alpha=0.2)
    figure.legend(loc="outside upper left", ncols=2, frameon=False)
    alt = (
        "Scatter plot: the values are the corners of a triangle and the outputs lie inside it. "
        f"Values: {_rows_of_numbers(values, tokens)}. Outputs: {_rows_of_numbers(outputs, tokens)}."
    )
    return Picture(figure, alt)


def multiplications(
    lengths: Sequence[int], projecting: Sequence[int], pairing: Sequence[int]
) -> Picture:
    """How many multiplications attention takes as the sentence grows, on logarithmic axes.

    Args:
        lengths: numbers of tokens N, rising.
        projecting: multiplications in X W_q, X W_k and X W_v, one number for each N.
        pairing: multiplications in Q Kᵀ and A V, one number for each N.
    """
    figure, axes = new_figure(width=6.5, height=3.6)
    place = axes[0, 0]
    lines = (("Q Kᵀ and A V", pairing, ORANGE, "s-"), ("Q, K and V", projecting, GREEN, "o--"))
    for label, counts, colour, style in lines:
        place.plot(lengths, counts, style, color=colour, label=label)
    place.set(
        xscale="log",
        yscale="log",
        xlabel="tokens N",
        ylabel="multiplications",
        title="multiplications in one block",
    )
    place.set_xticks(lengths, [str(n) for n in lengths])
    place.minorticks_off()
    place.grid(color=GREY, alpha=0.2)
    place.legend(frameon=False)
    alt = (
        f"Line chart on logarithmic axes, tokens from {lengths[0]} to {lengths[-1]}. "
        f"Q, K and V together go from {projecting[0]:,} to {projecting[-1]:,} multiplications, "
        f"{projecting[-1] / projecting[0]:g} times as many; Q Kᵀ and A V from {pairing[0]:,} to "
        f"{pairing[-1]:,}, {pairing[-1] / pairing[0]:g} times as many."
    )
    return Picture(figure, alt)


def _label(
    place: Axes, text: str, point: np.ndarray, offset: tuple[float, float], colour: str, side: str
) -> None:
    """Words beside a point, `offset` in points from it."""
    place.annotate(
        text, (point[0], point[1]), xytext=offset, textcoords="offset points", color=colour, ha=side
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
