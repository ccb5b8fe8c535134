"""Lesson 09's figures: the clock of an encoding, and what is past the end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from attnlab.figures.arrays import as_array
from attnlab.figures.picture import (
    BLUE,
    GREY,
    ORANGE,
    QUIET,
    SIGNED,
    WEIGHT_COLOURS,
    Picture,
    in_style,
    name_lines,
    new_figure,
    with_looks,
)

HANDS = ("black",) * 3  # blue and orange are what is below and above 0
HIGH = 0.9  # of the answers right: a model that can do it
Numbers = Any  # nested lists, an array or a tensor


@in_style
def clock(encoding: Numbers, columns: Sequence[int]) -> Picture:
    """An encoding's sines as a heatmap, and some of them as waves, one above the other.

    Args:
        encoding: (N, d), numbers from −1 to 1.
        columns: those that are drawn as waves, three at most, of even numbers: sines.
    """
    matrix = as_array(encoding)
    n, d = matrix.shape
    figure, axes = new_figure(columns=2, width=9.6, height=4.2)
    rows, waves = axes[0]
    sines = matrix[:, ::2]
    sheet = {"aspect": "auto", "extent": (-1, 2 * sines.shape[1] - 1, n - 0.5, -0.5)}
    rows.imshow(sines, cmap=SIGNED, vmin=-1.5, vmax=1.5, **sheet)  # 1 is orange, not brown
    rows.set(xlabel="column", ylabel="position", xticks=[*columns, (d - 1) // 2 * 2])
    rows.spines[:].set_visible(False)
    turns = []
    for at, (column, colour) in enumerate(with_looks(columns, HANDS)):
        wave = matrix[:, column]
        waves.axhline(-2.6 * at, color=GREY, linewidth=0.8, alpha=0.5)
        waves.plot(wave - 2.6 * at, color=colour, label=f"column {column}")
        turns.append((column, int((np.diff(np.sign(wave[1:])) != 0).sum())))
        mark = {"xycoords": ("data", "axes fraction"), "textcoords": "offset points"}
        rows.annotate(
            "▼", (column, 1), (0, 1), **mark, color=colour, ha="center", va="bottom", size=14
        )
    rows.set_title("of each pair of columns, the sine", pad=44)
    for left, colour, name in ((0, BLUE, "below 0"), (0.4, ORANGE, "above 0")):
        place = {"xycoords": "axes fraction", "textcoords": "offset points"}
        rows.annotate(f"■ {name}", (left, 1), (0, 24), **place, color=colour)
    waves.set(xlabel="position", yticks=[])
    waves.set_title(f"{len(turns)} of these columns", pad=44)
    waves.spines["left"].set_visible(False)
    name_lines(waves)
    pairs = np.diff(matrix, axis=0)[:, : d // 2 * 2].reshape(n - 1, -1, 2)  # how far hands go
    slower = (np.diff((pairs**2).sum(axis=(0, 2))) < 0).all()
    crossings = "; ".join(f"column {column} changes sign {times} times" for column, times in turns)
    (fast, often), (slow, seldom) = turns[0], turns[-1]
    return Picture(
        figure,
        f"Left, a heatmap of every second one of {d} columns, the sines, at {n} positions, from "
        "minus 1 in blue to 1 in orange: stripes that are narrow in the first columns and get "
        "wider to the right. Right, some of the columns as waves, one above the other: "
        f"{crossings}.",
        "Each pair of columns turns slower than the one before\n"
        f"Column {fast} changes sign {often} times in {n} positions, "
        f"column {slow} {seldom or 'not once'}{' times' * (seldom > 1)}."
        if slower and seldom != 1
        else "",
    )


@in_style
def dot_products(dots: Numbers, position: int) -> Picture:
    """Dot products of all pairs of encodings, and one row of them over the distance.

    Args:
        dots: (N, N), divided by that of a position with itself.
        position: the row that is drawn as a curve.
    """
    matrix = as_array(dots)
    n = len(matrix)
    figure, axes = new_figure(columns=2, width=9.2, height=4.2)
    pairs, curve = axes[0]
    pairs.imshow(matrix, cmap=WEIGHT_COLOURS, vmin=0, vmax=1)
    pairs.set(xlabel="position", ylabel="position", title="every pair of positions")
    pairs.set(xticks=[0, position, n - 1], yticks=[0, position, n - 1])
    pairs.get_yticklabels()[1].set(color=ORANGE, weight="bold")
    pairs.tick_params(length=0)
    pairs.spines[:].set_visible(False)
    pairs.axhline(position, color=ORANGE, linewidth=3)
    row, distances = matrix[position], np.arange(n) - position
    curve.plot(distances, row, color=ORANGE, linewidth=3)
    curve.set_title(f"the line of position {position}", color=ORANGE)
    curve.set(xlabel="places away", ylim=(0, 1.1), xticks=[-position, 0, n - 1 - position])
    curve.set_yticks([0, 1])
    curve.tick_params(length=0)
    for away in (1, min(12, position, n - 1 - position)):
        both = row[[position - away, position + away]]
        curve.plot([-away, away], both, "o:", color=GREY, linewidth=1.5, markersize=8)
        told = f"{away} away: {both[1]:.2f}"
        curve.annotate(told, (away, both[1]), (9, 0), textcoords="offset points", va="center")
    pair = f"{row[position - 1]:.2f}", f"{row[position + 1]:.2f}"
    near = ", ".join(f"{row[position + k]:.2f} at {k}" for k in (0, 1, 2, 4, 8, 16))
    return Picture(
        figure,
        f"Left, a heatmap of the dot products of {n} encodings with each other: each diagonal has "
        "one colour, strongest in the middle. Right, its row of position "
        f"{position} over the distance: a peak at 0, the same to both sides, falling in waves; "
        f"{near}.",
        "The dot product of two encodings depends on how far, not which way\n"
        "Scaled so that an encoding with itself gives 1; the places before and after both get "
        f"{pair[0]}."
        if pair[0] == pair[1]
        else "",
    )


@in_style
def beyond(
    accuracy: Mapping[str, Numbers],
    trained: int,
    chance: float,
) -> Picture:
    """How often each model is right, position by position, up to and past what it was trained on.

    Args:
        accuracy: for each model, its accuracy at each position; NaN where nothing was asked.
        trained: positions in training.
        chance: what guessing gives.
    """
    said: list[str] = []
    kinds: dict[str, list[tuple[str, np.ndarray]]] = {ORANGE: [], BLUE: [], GREY: []}
    for (name, numbers), _ in with_looks(accuracy.items(), range(6)):
        right = as_array(numbers)
        seen, unseen = np.nanmean(right[:trained]), np.nanmean(right[trained:])
        kinds[GREY if seen < HIGH else BLUE if unseen >= HIGH else ORANGE].append((name, right))
        said.append(f"{name} {seen:.2f} and {unseen:.2f}")
    columns = [(colour, own) for colour, own in kinds.items() if own]
    rows, n = max(len(own) for _, own in columns), len(right)
    figure, axes = new_figure(len(columns), rows, 3.25 * len(columns), 1.9 * rows)
    for place in axes.flat:
        place.set_axis_off()
    for places, (colour, own) in zip(axes.T, columns, strict=True):
        for place, (name, right) in zip(places, own, strict=False):
            place.set_axis_on()
            place.axvspan(trained - 0.5, n - 0.5, color="#ececec", zorder=0, linewidth=0)
            place.axhline(chance, color=GREY, linewidth=1, linestyle=":", zorder=0)
            place.plot(right, color=colour, linewidth=3.5, clip_on=False)
            place.set_title(name, color=colour, weight="bold")
            place.set(xlim=(2, n - 0.5), ylim=(0, 1))
            place.set_xticks([trained - 1, n - 1], [f"place {trained - 1}", f"{n - 1}"])
            place.set_yticks([chance, 1], ["guess", "100 %"])
            place.tick_params(length=0)
    axes[0, 0].text(trained + 0.3, 0.7, "never seen\nin training", color=QUIET, va="center")
    on, fall, never = (
        " and ".join(name for name, _ in kinds[colour]) for colour in (BLUE, ORANGE, GREY)
    )
    return Picture(
        figure,
        f"A chart a model: share of right answers by position, 0 to {n - 1}; training stopped at "
        f"{trained - 1}. Means before and after that: {'; '.join(said)}. "
        f"Guessing gives {chance:.3f}.",
        f"At new places {fall} fail; {on} go on\nShare of right answers by place. "
        "The task: say the word three places back"
        f"{f'; {never} never learn it here' if never else ''}."
        if on and fall
        else "",
    )
