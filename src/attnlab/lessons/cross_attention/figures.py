"""Lesson 08's figures: attention maps side by side, and how sure two desks are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from attnlab.figures.arrays import as_array
from attnlab.figures.picture import (
    CELL,
    ORANGE,
    Picture,
    draw_heatmap,
    frame,
    hatch,
    in_style,
    ink_cells,
    new_figure,
)

MOST = 0.5  # of a row: a query that gives a key more has found it
SMALL = 0.05  # weights below are seen, not written
Numbers = Any  # nested lists, an array or a tensor without a gradient
Panel = tuple[Numbers, Sequence[str], Sequence[str], Numbers]


@in_style
def maps(panels: Mapping[str, Panel], title: str) -> Picture:
    """Weights of several attentions, with one colour scale; what is blocked is hatched.

    In each, the queries that find nothing are framed, whose weights are all alike; if there are
    none, the look that goes furthest ahead.

    Args:
        panels: for each title, weights (N, M), N queries, M keys, and (N, M) bool, True = blocked,
            or None where nothing is.
        title: what all of them show.
    """
    widths = [len(keys) + 2.6 for _, _, keys, _ in panels.values()]
    rows = max(len(queries) for _, queries, _, _ in panels.values())
    figure, axes = new_figure(
        columns=len(panels),
        width=0.49 * sum(widths),
        height=1.9 + 0.44 * rows,
        width_ratios=widths,
    )
    words = []
    for place, (heading, panel) in zip(axes[0], panels.items(), strict=True):
        weights, queries, keys, blocked = panel
        matrix = as_array(weights)
        draw_heatmap(place, matrix, queries, keys, heading, least=SMALL)
        place.set_xticks(range(len(keys)), keys, rotation=40, ha="right", rotation_mode="anchor")
        hidden = np.zeros(matrix.shape, bool) if blocked is None else as_array(blocked, bool)
        hatch(place, hidden & (matrix == 0))
        words.append(f"{heading}: {_in_words(matrix, queries, keys, hidden)}")
        ahead = [(m - n, n, m) for n, m in np.argwhere((matrix > MOST) & ~hidden).tolist() if m > n]
        alike = [
            n
            for n, seen in enumerate(~hidden)
            if seen.sum() > 1 and np.ptp(matrix[n, seen]) < SMALL / 10
        ]
        if alike:
            for n in alike:
                frame(place, n, int(np.argmin(hidden[n])), wide=int((~hidden[n]).sum()))
                place.get_yticklabels()[n].set(color=ORANGE, weight="bold")
            found = f"{', '.join(f'“{queries[n]}”' for n in alike)} find nothing"
        elif ahead:
            _, n, m = max(ahead)
            frame(place, n, m)
            for label in (place.get_yticklabels()[n], place.get_xticklabels()[m]):
                label.set(color=ORANGE, weight="bold")
            found = f"“{queries[n]}” finds “{keys[m]}”"
        else:
            found = "nothing ahead is found"
        place.set_title(f"{heading}\n{found}")
    return Picture(
        figure,
        f"{len(panels)} heatmaps of weights, one row a query, one column a key. {' '.join(words)}",
        title,
    )


@in_style
def answers(desks: Mapping[str, tuple[Numbers, float]], rooms: Numbers) -> Picture:
    """How likely each room is as an answer where each is right, for several desks.

    Args:
        desks: for each title, probabilities of rooms, (B, N, rooms), and its loss.
        rooms: the right ones, (B, N).
    """
    figure, axes = new_figure(columns=len(desks), width=9.4, height=5.0)
    right, words = as_array(rooms, int).ravel(), []
    for place, (heading, (probabilities, loss)) in zip(axes[0], desks.items(), strict=True):
        each = as_array(probabilities).reshape(len(right), -1)
        count = each.shape[-1]
        names = [str(room) for room in range(count)]
        table = np.stack([each[right == room].mean(axis=0) for room in range(count)])
        share = (each.argmax(axis=-1) == right).mean()
        told = f"{share:.1%} right, loss {loss:.2f}".replace("%", " %")
        if f"{loss:.2f}" == f"{np.log(count):.2f}":
            told += f" = log {count}"
        image = draw_heatmap(place, table, names, names, f"{heading}\n{told}", least=2)
        for (n, m), probability in np.ndenumerate(table):
            if probability >= SMALL:
                said = f"{probability:.1f}".removesuffix(".0")
                place.text(m, n, said, ha="center", va="center", gid=CELL)
        ink_cells(place, image)
        place.set(xlabel="probability of each room", ylabel="right room", aspect="equal")
        words.append(f"{heading}: {told}; {table.min():.2f} to {table.max():.2f}")
    flat = f"{table.min():.1f}" == f"{table.max():.1f}"
    return Picture(
        figure,
        f"Heatmaps of the mean probability of each room, one row for each right room, one column "
        f"for each answer. {'. '.join(words)}.",
        f"{heading[0].upper()}{heading[1:]} the desk cannot choose: each room gets about "
        f"{table.mean():.1f}, whichever is right"
        if flat
        else "",
    )


def _in_words(
    matrix: np.ndarray, queries: Sequence[str], keys: Sequence[str], hidden: np.ndarray
) -> str:
    said = []
    for query, row in zip(queries, matrix, strict=True):
        best = np.flatnonzero(row > row.max() - 0.005).tolist()
        named = " and ".join(keys[m] for m in best)
        said.append(f"{query} {named} ({row.max():.2f})" if row.max() > 0 else f"{query} nothing")
    words = f"what each query attends to most: {'; '.join(said)}."
    if not hidden.any():
        return words
    share = matrix[hidden].sum()
    held = "exactly 0" if share == 0 else f"{share:.2f}"
    return f"{words} {int(hidden.sum())} cells are blocked and hold {held}."
