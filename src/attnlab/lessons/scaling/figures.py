"""Lesson 04's figures: spreading scores, a dying Jacobian, four measures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from attnlab.figures.arrays import as_array
from attnlab.figures.picture import (
    BLUE,
    GREEN,
    GREY,
    ORANGE,
    PURPLE,
    Picture,
    draw_heatmap,
    name_lines,
    new_figure,
    with_looks,
)

SIGNED = "RdBu_r"  # blue below 0, white at 0, red above; apart for every common colour vision
WAYS = (
    (ORANGE, "s", "--"),
    (BLUE, "o", "-"),
    (GREEN, "^", ":"),
    (PURPLE, "D", "-."),
    (GREY, "v", (0, (5, 1))),
)
Numbers = Any  # nested lists or an array


def spreads(scores: Mapping[int, Numbers]) -> Picture:
    """Histograms of raw scores, one panel a width, with lines at ±√d_k.

    Args:
        scores: for each d_k, (…) raw scores.
    """
    samples = {d_k: np.ravel(as_array(part)) for d_k, part in scores.items()}
    limit = 3.2 * max(samples) ** 0.5
    figure, axes = new_figure(
        rows=len(samples), width=8, height=1.25 * len(samples) + 0.6, sharex=True
    )
    words = []
    for place, (d_k, sample) in zip(axes[:, 0], samples.items(), strict=True):
        root = d_k**0.5
        place.hist(sample, bins=61, range=(-3.5 * root, 3.5 * root), color=BLUE)
        for edge in (-root, root):
            place.axvline(edge, color=ORANGE, linestyle="--")
        place.set_title(f"d_k = {d_k}, dashed: ±√d_k = ±{root:g}")
        place.set(xlim=(-limit, limit), yticks=[])
        place.spines["left"].set_visible(False)
        inside = float((abs(sample) < root).mean())
        words.append(
            f"at d_k = {d_k} their standard deviation is {sample.std():.1f} and {inside:.0%} "
            f"lie within ±{root:g}"
        )
    axes[-1, 0].set_xlabel("raw score q·k")
    return Picture(
        figure,
        f"{len(samples)} histograms of raw scores on one axis: {'; '.join(words)}.",
    )


def jacobians(panels: Mapping[str, tuple[Numbers, Numbers]], tokens: Sequence[str]) -> Picture:
    """Softmax's Jacobian for several rows of weights, with the same colours.

    Args:
        panels: for each way to scale, (M,) weights and their (M, M) Jacobian.
        tokens: M labels.
    """
    figure, axes = new_figure(columns=len(panels), width=4.1 * len(panels), height=3.5)
    words = []
    for place, (way, (weights, jacobian)) in zip(axes[0], panels.items(), strict=True):
        matrix = as_array(jacobian) + 0.0
        matrix = np.where(abs(matrix) < 0.005, 0.0, matrix)  # or cells would read -0.00
        best = int(np.argmax(weights))
        title = f"{way}, largest weight {np.max(weights):.2f}"
        image = draw_heatmap(place, matrix, tokens, tokens, title, (-0.25, 0.25), SIGNED)
        place.set_xlabel("nudged score")
        place.tick_params(labelsize=10)
        norm = float(np.linalg.norm(jacobian))
        words.append(
            f"{way}: the largest weight is {np.max(weights):.2f}, on {tokens[best]}, and the "
            f"Jacobian's norm {norm:.2g}"
        )
    axes[0, 0].set_ylabel("weight")
    figure.colorbar(image, ax=axes, label="slope (white is 0)")
    return Picture(
        figure,
        f"{len(panels)} heatmaps of softmax's Jacobian for one query. {'; '.join(words)}.",
    )


def four_measures(widths: Sequence[int], measured: Mapping[str, Numbers], books: int) -> Picture:
    """Spread, entropy, largest weight and gradient against the width, for each way to scale.

    Args:
        widths: D values of d_k.
        measured: for each way, (D, 4): standard deviation of the scores, then the median over
            readers of entropy, largest weight and norm of softmax's Jacobian.
        books: M, how many keys there are.
    """
    even_norm = (books - 1) ** 0.5 / books  # of diag(p) − p pᵀ where all p are 1/M
    # Title, logarithmic or the limits, reference, its label, points from the line to the label.
    panels: tuple[tuple[str, tuple[float, float] | None, float, str, int], ...] = (
        ("standard deviation of scores", None, 1.0, "wanted: 1", 8),
        ("entropy of a row, nats", (-0.15, 3.35), np.log(books), f"all alike: log {books}", 8),
        ("largest weight of a row", (-0.05, 1.05), 1 / books, f"all alike: 1/{books}", -14),
        ("norm of softmax's Jacobian", None, even_norm, f"all alike: {even_norm:.2f}", -14),
    )
    figure, axes = new_figure(columns=2, rows=2, width=10.5, height=7, sharex=True)
    words = []
    for index, (title, limits, reference, label, above) in enumerate(panels):
        place = axes.flat[index]
        ends = []
        for (way, numbers), (colour, marker, line) in with_looks(measured.items(), WAYS):
            column = as_array(numbers)[:, index]
            place.plot(widths, column, color=colour, marker=marker, linestyle=line, label=way)
            ends.append(f"{way} from {column[0]:.2g} to {column[-1]:.2g}")
        place.axhline(reference, color=GREY, linewidth=1, zorder=0)
        place.annotate(
            label,
            (widths[-1], reference),
            xytext=(0, above),
            textcoords="offset points",
            ha="right",
            color=GREY,
            fontsize=10,
        )
        place.set_xscale("log", base=2)
        if limits:
            place.set_ylim(limits)
        else:
            place.set_yscale("log")
            place.yaxis.set_major_formatter("{x:g}")
        place.set_xticks(widths, [str(width) for width in widths])
        place.minorticks_off()
        place.set_title(title)
        place.grid(alpha=0.25)
        words.append(f"{title}: {', '.join(ends)} ({label})")
    for place in axes[1]:
        place.set_xlabel("width of queries and keys, d_k")
    for place in axes.flat:
        name_lines(place)
    return Picture(
        figure,
        f"Four plots against d_k = {widths[0]} to {widths[-1]}, a line for each way to scale. "
        f"{'; '.join(words)}.",
    )


def learning(weights: Mapping[str, Numbers]) -> Picture:
    """How much weight the wanted book has, step by step, for each way to scale.

    Args:
        weights: for each way, (T, R), the weight of the wanted book for R readers.
    """
    figure, axes = new_figure(width=8.5, height=3.6)
    place = axes[0, 0]
    words = []
    looks = [WAYS[at] for at in (0, 3, 1, 2)]  # a way has the colour that it has elsewhere
    for index, ((way, numbers), look) in enumerate(with_looks(weights.items(), looks)):
        middle = np.median(as_array(numbers), axis=1)
        colour, marker, line = look
        # Markers start at different steps, so that lines which meet can be told apart.
        place.plot(
            middle,
            color=colour,
            marker=marker,
            linestyle=line,
            label=way,
            markevery=(6 * index, 24),
        )
        words.append(f"{way} from {middle[0]:.2g} to {middle[-1]:.2g}")
    place.set(xlabel="step", ylabel="weight of the wanted book", yscale="log")
    place.grid(alpha=0.25)
    name_lines(place)
    return Picture(
        figure,
        f"Weight of the wanted book over {len(middle) - 1} steps, the median of the readers on a "
        f"logarithmic axis: {'; '.join(words)}.",
    )
