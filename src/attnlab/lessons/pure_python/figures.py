"""Lesson 02's figure: one matrix in two roles."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np

from attnlab.figures.arrays import as_array
from attnlab.figures.picture import (
    SIGNED,
    Picture,
    digits,
    draw_heatmap,
    frame,
    in_style,
    new_figure,
)

Numbers = Any  # nested lists or an array


@in_style
def one_matrix_for_two(tokens: Sequence[str], Q: Numbers, K: Numbers) -> Picture:
    """Scores Q Kᵀ beside K Kᵀ, which are the scores when W_k makes queries too.

    Args:
        tokens: N labels.
        Q: (N, d_k).
        K: (N, d_k).
    """
    keys = as_array(K)
    two, one = as_array(Q) @ keys.T, keys @ keys.T
    pairs = [*combinations(range(len(tokens)), 2)]
    i, j = max(pairs, key=lambda pair: abs(two[pair] - two[pair[::-1]]))  # tells most
    limit = max(float(np.abs(two).max()), float(np.abs(one).max()))
    figure, axes = new_figure(columns=2, width=8.4, height=3.9)
    words = []
    for place, scores, made_by in (
        (axes[0, 0], two, "W_q and W_k"),
        (axes[0, 1], one, "W_k for both"),
    ):
        equal = sum(bool(scores[pair] == scores[pair[::-1]]) for pair in pairs)
        title = f"{made_by}: {equal} of {len(pairs)} pairs equal"
        draw_heatmap(place, scores, tokens, tokens, title, (-limit, limit), SIGNED)
        place.set(xlabel="keys", ylabel="queries")
        mirror = [(i + j) / 2 - 0.34, (i + j) / 2 + 0.34]
        place.plot(mirror, mirror, color="black", lw=1.4, ls=(0, (3, 3)))
        for row, column in ((i, j), (j, i)):
            frame(place, row, column, colour="black")
        place.text(
            (i + j) / 2,
            (i + j) / 2,
            "=" if scores[i, j] == scores[j, i] else "≠",
            ha="center",
            va="center",
            color="black",
            weight="bold",
            size=17,
            bbox={"boxstyle": "circle,pad=0.15", "facecolor": "white", "linewidth": 2.5},
        )
        words.append(f"{title}: {_in_words(scores, tokens)}.")
    said = [digits(scores[at], scores) for scores in (two, one) for at in ((i, j), (j, i))]
    return Picture(
        figure,
        "Two heatmaps of scores, with a pair of mirror images framed, and a dashed piece of the "
        f"diagonal between them. {' '.join(words)}",
        f"Two matrices let a pair differ ({said[0]} and {said[1]}); one does not "
        f"({said[2]} and {said[3]})"
        if said[0] != said[1] and said[2] == said[3]
        else "",
    )


def _in_words(matrix: np.ndarray, tokens: Sequence[str]) -> str:
    return "; ".join(
        f"{token} scores {', '.join(f'{number:g}' for number in row)}"
        for token, row in zip(tokens, matrix, strict=True)
    )
