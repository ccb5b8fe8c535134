"""Lesson 05's figures: how far a gradient reaches; fixed weights against rebuilt ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.patches import Rectangle

from attnlab.figures.picture import ORANGE, Picture, draw_heatmap, new_figure

SIGNED = "RdBu_r"  # blue below 0, white at 0, red above; apart for every common colour vision
Numbers = Any  # nested lists, an array or a tensor without a gradient


def gradient_reach(
    slopes: Mapping[str, Numbers], sentences: Sequence[Sequence[str]], sentence: int, token: int
) -> Picture:
    """Where the gradient of one output number arrives in q, k and v, for each sentence of a batch.

    Args:
        slopes: for 'q', 'k' and 'v', its gradient, (B, N, width).
        sentences: B lists of N tokens.
        sentence: the one whose output is looked at.
        token: the row of that output.
    """
    parts = {name: np.asarray(numbers, dtype=float) for name, numbers in slopes.items()}
    limit = max(float(abs(part).max()) for part in parts.values())
    figure, axes = new_figure(columns=len(parts), rows=len(sentences), width=10.5, height=6.0)
    for b, tokens in enumerate(sentences):
        for place, (name, part) in zip(axes[b], parts.items(), strict=True):
            columns = [str(i) for i in range(part.shape[-1])]
            image = draw_heatmap(
                place, part[b], tokens, columns, f"{name}, sentence {b}", (-limit, limit), SIGNED
            )
            place.set_xlabel("entry")
            for text, slope in zip(place.texts, part[b].flat, strict=True):
                text.set_text("0" if slope == 0 else f"{slope:+.2f}")
    frame = Rectangle(
        (-0.5, token - 0.5), parts["q"].shape[-1], 1, fill=False, linewidth=3, edgecolor=ORANGE
    )
    frame.set_clip_on(False)
    axes[sentence, 0].add_patch(frame)
    figure.colorbar(image, ax=axes, label="slope (white is 0)")
    words = "; ".join(
        f"{name} in sentence {b}: {_rows(part[b], tokens)}"
        for b, tokens in enumerate(sentences)
        for name, part in parts.items()
    )
    return Picture(
        figure,
        f"{len(sentences) * len(parts)} heatmaps: slopes of one output number of "
        f"'{sentences[sentence][token]}' in sentence {sentence}, for each entry of q, k and v. "
        f"Rows that are not all 0: {words}.",
    )


def _rows(slopes: np.ndarray, tokens: Sequence[str]) -> str:
    """'all', 'none' or the names of the rows that are not all 0."""
    reached = [name for name, row in zip(tokens, slopes, strict=True) if abs(row).max() > 0]
    return "all" if len(reached) == len(tokens) else ", ".join(reached) or "none"


def fixed_or_rebuilt(
    sentences: Sequence[Sequence[str]], fixed: Numbers, rebuilt: Numbers
) -> Picture:
    """A layer's matrix over tokens for two sentences, above attention's weights for the same two.

    Args:
        sentences: B lists of N tokens.
        fixed: (B, N, N), what multiplies the tokens of each sentence in the layer.
        rebuilt: (B, N, N), attention's weights for each sentence.
    """
    kinds = {
        "layer": np.asarray(fixed, dtype=float),
        "attention": np.asarray(rebuilt, dtype=float),
    }
    limit = max(float(abs(matrices).max()) for matrices in kinds.values())
    figure, axes = new_figure(columns=len(sentences), rows=2, width=10.5, height=6.4)
    words = []
    for row, (kind, matrices) in zip(axes, kinds.items(), strict=True):
        for place, matrix, tokens in zip(row, matrices, sentences, strict=True):
            # The layer's rows belong to places in a sentence, attention's to its tokens.
            rows = tokens if kind == "attention" else [f"unit {n}" for n in range(len(tokens))]
            title = f"{kind}: {' '.join(tokens)}"
            image = draw_heatmap(place, matrix, rows, tokens, title, (-limit, limit), SIGNED)
        apart = float(abs(matrices - matrices[0]).max())
        same = "the same matrix for all sentences" if apart == 0 else "a new matrix for each"
        words.append(f"{kind}, {same}: entries differ by up to {apart:.2f}")
    axes[0, 0].set_ylabel("hidden units")
    axes[1, 0].set_ylabel("queries")
    figure.align_ylabels(axes[:, 0])
    for place in axes[1]:
        place.set_xlabel("input tokens (keys)")
    figure.colorbar(image, ax=axes, label="weight (white is 0)")
    titles = " and of ".join(f"'{' '.join(tokens)}'" for tokens in sentences)
    return Picture(
        figure, f"Heatmaps of what multiplies the tokens of {titles}. {'; '.join(words)}."
    )
