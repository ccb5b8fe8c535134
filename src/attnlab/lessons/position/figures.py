"""Lesson 09's figures: a shuffled sentence, the clock of an encoding, and what is past the end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from attnlab.figures.arrays import as_array
from attnlab.figures.picture import (
    BLUE,
    GREEN,
    GREY,
    OCHRE,
    ORANGE,
    PURPLE,
    SIGNED,
    WEIGHT_COLOURS,
    Picture,
    draw_heatmap,
    name_lines,
    new_figure,
    with_looks,
)

LINES = (
    (GREY, ":", "s"),
    (PURPLE, "--", "^"),
    (ORANGE, "-.", "v"),
    (BLUE, "-", "o"),
    (OCHRE, (0, (5, 1)), "D"),
    (GREEN, (0, (3, 1, 1, 1)), "P"),
)
Numbers = Any  # nested lists, an array or a tensor


def two_orders(sentences: Mapping[str, Sequence[str]], weights: Mapping[str, Numbers]) -> Picture:
    """The weights of two orders of the same words side by side.

    Args:
        sentences: for each title, N words in their order.
        weights: for each title, (N, N).
    """
    widest = max(len(words) for words in sentences.values())
    figure, axes = new_figure(columns=len(sentences), width=10.5, height=1.5 + 0.42 * widest)
    said = []
    for place, (title, words) in zip(axes[0], sentences.items(), strict=True):
        matrix = as_array(weights[title])
        image = draw_heatmap(place, matrix, words, words, f"{title}: {' '.join(words)}")
        place.set_xlabel("keys")
        rows = "; ".join(
            f"{word} {', '.join(f'{share:.2f}' for share in row)}"
            for word, row in zip(words, matrix, strict=True)
        )
        said.append(f"{title}, {' '.join(words)}: {rows}")
    axes[0, 0].set_ylabel("queries")
    figure.colorbar(image, ax=axes, label="weight")
    return Picture(figure, f"Heatmaps of weights, a row for each query. {'. '.join(said)}.")


def clock(encoding: Numbers, columns: Sequence[int]) -> Picture:
    """An encoding as a heatmap, and some of its columns as curves.

    Args:
        encoding: (N, d), numbers from −1 to 1.
        columns: those that are drawn as curves, three at most.
    """
    matrix = as_array(encoding)
    n, d = matrix.shape
    figure, axes = new_figure(columns=2, width=11.5, height=4.0)
    image = axes[0, 0].imshow(matrix, cmap=SIGNED, vmin=-1, vmax=1, aspect="auto")
    axes[0, 0].set(xlabel="column", ylabel="position", title="a row for each position")
    figure.colorbar(image, ax=axes[0, 0], label="number")
    for column, (colour, line, _) in with_looks(columns, LINES[3:0:-1]):
        axes[0, 1].plot(matrix[:, column], color=colour, linestyle=line, label=f"column {column}")
    axes[0, 1].set(xlabel="position", ylabel="number", ylim=(-1.1, 1.1), title="three columns")
    name_lines(axes[0, 1])
    crossings = "; ".join(
        f"column {column} changes sign {int((np.diff(np.sign(matrix[1:, column])) != 0).sum())} "
        "times"
        for column in columns
    )
    return Picture(
        figure,
        f"Left, a heatmap of the encodings of {n} positions in {d} columns, from minus 1 in blue "
        "to 1 in red: stripes that are narrow in the first columns and get wider to the right, "
        "where a column hardly changes. Right, three of the columns as waves, from fast to slow: "
        f"{crossings}.",
    )


def dot_products(dots: Numbers, position: int) -> Picture:
    """Dot products of all pairs of encodings, and one row of them over the distance.

    Args:
        dots: (N, N), divided by that of a position with itself.
        position: the row that is drawn as a curve.
    """
    matrix = as_array(dots)
    n = len(matrix)
    figure, axes = new_figure(columns=2, width=11.5, height=4.0)
    image = axes[0, 0].imshow(matrix, cmap=WEIGHT_COLOURS, vmin=0, vmax=1)
    axes[0, 0].set(xlabel="position", ylabel="position", title="every pair of positions")
    axes[0, 0].axhline(position, color="white", linewidth=1)
    figure.colorbar(image, ax=axes[0, 0], label="dot product / (d/2)")
    distances = np.arange(n) - position
    axes[0, 1].plot(distances, matrix[position], color=BLUE)
    axes[0, 1].set(
        xlabel=f"distance from position {position}",
        ylabel="dot product / (d/2)",
        ylim=(0, 1.1),
        title="the line across it",
    )
    near = ", ".join(f"{matrix[position, position + k]:.2f} at {k}" for k in (0, 1, 2, 4, 8, 16))
    return Picture(
        figure,
        f"Left, a heatmap of the dot products of {n} encodings with each other: each diagonal has "
        "one colour, strongest in the middle. Right, its row of position "
        f"{position} over the distance: a peak at 0, the same to both sides, falling in waves; "
        f"{near}.",
    )


def beyond(accuracy: Mapping[str, Numbers], trained: int, chance: float) -> Picture:
    """How often each model is right, position by position, up to and past what it was trained on.

    Args:
        accuracy: for each model, its accuracy at each position; NaN where nothing was asked.
        trained: positions in training.
        chance: what guessing gives.
    """
    figure, axes = new_figure(width=9.5, height=3.8)
    place, said = axes[0, 0], []
    n = len(next(iter(accuracy.values())))
    place.axvspan(trained - 0.5, n - 0.5, color="#eeeeee", zorder=0)
    place.text(trained, 1.08, "never seen in training", color="#444444", va="bottom")
    for (name, numbers), (colour, line, marker) in with_looks(accuracy.items(), LINES):
        right = as_array(numbers)
        place.plot(right, color=colour, linestyle=line, marker=marker, markersize=4, label=name)
        seen, unseen = np.nanmean(right[:trained]), np.nanmean(right[trained:])
        said.append(f"{name} {seen:.2f} and {unseen:.2f}")
    place.axhline(chance, color=GREY, linewidth=1, zorder=0)
    place.text(n - 0.6, chance - 0.02, "guessing", color=GREY, va="top", ha="right")
    place.set(xlabel="position", ylabel="share of right answers", xlim=(2, n - 0.5), ylim=(0, 1.06))
    name_lines(place)
    return Picture(
        figure,
        f"Share of right answers by position, 0 to {n - 1}; training stopped at {trained - 1}. "
        f"Means before and after that: {'; '.join(said)}. Guessing gives {chance:.3f}.",
    )
