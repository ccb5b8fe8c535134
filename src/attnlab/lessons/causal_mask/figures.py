"""Lesson 06's figures: a ladder to causal weights, masks, masked weights, a loss that cheats."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap
from matplotlib.patches import Rectangle

from attnlab.figures.arrays import as_array
from attnlab.figures.picture import (
    BLUE,
    GREEN,
    GREY,
    ORANGE,
    PURPLE,
    Picture,
    draw_heatmap,
    new_figure,
)

OPEN_OR_BLOCKED = ListedColormap(["#d6d6d6", "#9ecae1"])
HATCH = "///"
# From the end of a curve to the left of its name.
TO_NAME: Any = {"arrowstyle": "-", "lw": 0.8, "relpos": (0, 0.5), "shrinkA": 1, "shrinkB": 0}
Numbers = Any  # nested lists, an array or a tensor


def _hatch(place: Axes, blocked: np.ndarray) -> None:
    """Hatch the cells where blocked, (N, M) bool, is True."""
    for n, m in np.argwhere(blocked).tolist():
        place.add_patch(
            Rectangle((m - 0.5, n - 0.5), 1, 1, fill=False, hatch=HATCH, edgecolor=GREY, lw=0)
        )


def _mark_blocked(place: Axes, image: Any, weights: np.ndarray, blocked: np.ndarray) -> None:
    """Hatch blocked cells of a heatmap around their numbers, and write 0 where one is exactly 0."""
    _hatch(place, blocked)
    for text, hatched, number in zip(place.texts, blocked.ravel(), weights.ravel(), strict=True):
        if hatched:
            face = image.cmap(image.norm(number))
            text.set_bbox({"facecolor": face, "edgecolor": "none", "pad": 1})
        text.set_text("0" if number == 0 else f"{number:.2f}")


def ladder(averages: Numbers, scores: Numbers, weights: Numbers, tokens: Sequence[str]) -> Picture:
    """From a loop over the past to learned weights, in four panels.

    Args:
        averages: (N, N), the matrix that averages the past.
        scores: (N, N), 0 where a book may be read and −∞ where not: softmax gives the averages.
        weights: (N, N), of scores that queries and keys have set.
        tokens: N labels.
    """
    blocked = np.isneginf(as_array(scores))
    figure, axes = new_figure(columns=2, rows=2, width=8.2, height=6.4)
    places = axes.ravel()
    masks = ("1. loop: which books are read", "3. scores for softmax")  # these are no weights
    for place, title in zip(places[::2], masks, strict=True):
        _draw_mask(place, ~blocked, tokens, tokens, title)
        place.tick_params("x", rotation=0)  # as in the other panels; and so is the aspect:
        place.set_aspect("auto")  # with another one the layout loses the first label in the dark
    heatmaps = (("2. one matrix: 1/n each", averages), ("4. queries and keys", weights))
    for place, (title, numbers) in zip(places[1::2], heatmaps, strict=True):
        matrix = as_array(numbers)
        image = draw_heatmap(place, matrix, tokens, tokens, title)
        _mark_blocked(place, image, matrix, blocked)
    for place in axes[:, 0]:
        place.set_ylabel("queries")
    places[0].set_xlabel("")
    for place in axes[1]:
        place.set_xlabel("keys")
    for (n, m), hidden in np.ndenumerate(blocked):
        face = {"facecolor": OPEN_OR_BLOCKED(int(not hidden)), "edgecolor": "none", "pad": 1}
        score = "−∞" if hidden else "0"
        places[2].text(m, n, score, ha="center", va="center", fontsize=10, bbox=face)
    figure.colorbar(image, ax=axes, label="weight in 2 and 4", shrink=0.6)
    rows = "; ".join(
        f"{token} {', '.join(f'{weight:.2f}' for weight in row)}"
        for token, row in zip(tokens, as_array(weights), strict=True)
    )
    return Picture(
        figure,
        f"Four panels for '{' '.join(tokens)}', one row a query, one column a key; the "
        f"{int(blocked.sum())} cells above the diagonal are hatched. First, which books each "
        "reader's loop reads. Second, the matrix of averages: row n has 1/n in its first n cells. "
        "Third, scores of 0 and, where it is hatched, minus infinity: their softmax is the second "
        f"panel. Fourth, the weights that queries and keys set, row by row: {rows}.",
    )


def _draw_mask(
    place: Axes, attend: np.ndarray, rows: Sequence[str], columns: Sequence[str], title: str
) -> None:
    """One mask, True = attend: open cells filled, blocked ones hatched."""
    place.imshow(attend, cmap=OPEN_OR_BLOCKED, vmin=0, vmax=1)
    _hatch(place, ~attend)
    place.set_title(title)
    place.set_xticks(range(len(columns)), columns, rotation=90 * (max(map(len, columns)) > 2))
    place.set_yticks(range(len(rows)), rows)
    place.set_xticks(np.arange(len(columns) + 1) - 0.5, minor=True)
    place.set_yticks(np.arange(len(rows) + 1) - 0.5, minor=True)
    place.grid(which="minor", color="white", linewidth=1.5)
    place.tick_params(which="both", length=0)
    place.spines[:].set_visible(False)
    place.set_xlabel("keys")


def weights_in_panels(
    panels: Mapping[str, Numbers],
    queries: Sequence[str],
    keys: Sequence[str],
    blocked: Numbers,
) -> Picture:
    """Weights under several conditions, hatched where there should be none.

    Args:
        panels: for each title, (N, M) weights.
        queries: N labels.
        keys: M labels.
        blocked: (N, M) bool, True = blocked, or should be.
    """
    hatched = as_array(blocked, bool)
    width = 1.3 + (0.9 + 0.62 * len(keys)) * len(panels)
    height = max(2.4, 1.1 + 0.42 * len(queries))
    figure, axes = new_figure(columns=len(panels), width=width, height=height)
    words = []
    for place, (title, weights) in zip(axes[0], panels.items(), strict=True):
        matrix = as_array(weights)
        image = draw_heatmap(place, matrix, queries, keys, title)
        _mark_blocked(place, image, matrix, hatched)
        place.tick_params(labelsize=10)
        if max(map(len, keys)) > 6:
            place.set_xticks(range(len(keys)), keys, rotation=30, ha="right")
        leaked, sums = float(matrix[hatched].sum()), matrix.sum(axis=1)
        share = f"{leaked:.2f}" if leaked else "exactly 0"
        words.append(
            f"{title}: the hatched cells hold {share} in all, rows add up to "
            f"{sums.min():.2f} to {sums.max():.2f}"
        )
        place.set_xlabel("keys")
    axes[0, 0].set_ylabel("queries")
    figure.colorbar(image, ax=axes, label="weight")
    many = f"{len(panels)} heatmaps" if len(panels) > 1 else "Heatmap"
    return Picture(
        figure, f"{many} of weights, one row a query, one column a key. {'; '.join(words)}."
    )


def _name_where_they_end(place: Axes, ends: Sequence[tuple[float, str, str]]) -> None:
    """Names beside the ends of curves, each (y, name, colour), and none on another."""
    low, high = place.get_ylim()
    at = -np.inf
    for end, name, colour in sorted(ends):
        at = max(end, at + (high - low) / 14)
        place.annotate(
            name,
            (1, end),
            xycoords=("axes fraction", "data"),
            xytext=(1.1, at),
            textcoords=("axes fraction", "data"),
            va="center",
            color=colour,
            arrowprops={**TO_NAME, "color": colour},
            annotation_clip=False,
        )


def losses(
    trained: Mapping[str, Mapping[str, tuple[object, Sequence[float]]]],
    best: Mapping[str, tuple[float, str]],
) -> Picture:
    """Training losses on several texts, each with the best that an honest model can reach.

    Args:
        trained: for each text and model, its parameters, which are not shown, and its losses.
        best: for each text the honest best, and a label.
    """
    figure, axes = new_figure(columns=len(trained), width=9.2, height=3.7, sharey=True)
    words, named = [], []
    for place, (text, models) in zip(axes[0], trained.items(), strict=True):
        place.set_prop_cycle(
            color=[BLUE, ORANGE, GREEN, PURPLE, "black"],
            linestyle=["-", "--", ":", "-.", (0, (1, 1))],
        )
        floor, label = best[text]
        place.axhline(floor, color=GREY, linewidth=1, zorder=0)
        ends = [(floor, label, GREY)]
        for name, (_, curve) in models.items():
            [line] = place.plot(as_array(curve))
            ends.append((curve[-1], name, str(line.get_color())))
            words.append(f"{text}, {name}: from {curve[0]:.1f} to {curve[-1]:.2f}")
        place.set(xlabel="step", title=text, ylim=(-0.05, None), xlim=(0, len(curve) - 1))
        named.append((place, ends))
        words.append(f"a line at {floor:.2f}, {label}")
    axes[0, 0].set_ylabel("loss, nats")
    for place, ends in named:  # when both have the same limits
        _name_where_they_end(place, ends)
    return Picture(figure, f"Training losses, a panel a text. {'; '.join(words)}.")
