"""Lesson 05's figure: fixed weights against rebuilt ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from attnlab.figures.arrays import as_array
from attnlab.figures.picture import Picture, draw_heatmap, new_figure

SIGNED = "RdBu_r"  # blue below 0, white at 0, red above; apart for every common colour vision
Numbers = Any  # nested lists, an array or a tensor without a gradient


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
        "layer": as_array(fixed),
        "attention": as_array(rebuilt),
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
