"""Lesson 08's figures: attention maps side by side, and what two desks answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from attnlab.figures.arrays import as_array
from attnlab.figures.picture import (
    GREY,
    ORANGE,
    Picture,
    draw_heatmap,
    frame,
    hatch,
    in_style,
    new_figure,
)

MOST = 0.5  # of a row: a query that gives a key more has found it
SMALL = 0.05  # weights below are seen, not written
Numbers = Any  # nested lists, an array or a tensor without a gradient
Panel = tuple[Numbers, Sequence[str], Sequence[str], Numbers]


@in_style
def maps(panels: Mapping[str, Panel], title: str) -> Picture:
    """Weights of several attentions, with one colour scale; what is blocked is hatched.

    In each, the look that goes furthest ahead is framed, if there is one.

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
        if ahead:
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
    """How often each room is answered where each is right, for several desks.

    Args:
        desks: for each title, the rooms that it answers, (B, N) whole numbers, and its loss.
        rooms: the right ones.
    """
    figure, axes = new_figure(columns=len(desks), width=9.2, height=4.1)
    right = as_array(rooms, int).ravel()
    names, words = [str(room) for room in range(int(right.max()) + 1)], []
    count = len(names)
    for place, (heading, (answered, loss)) in zip(axes[0], desks.items(), strict=True):
        said = as_array(answered, int).ravel()
        table = np.zeros((count, count))
        np.add.at(table, (right, said), 1)
        table /= table.sum(axis=1, keepdims=True)
        share = (right == said).mean()
        told = f"{share:.1%} right, loss {loss:.2f}".replace("%", " %")
        draw_heatmap(place, table, names, names, f"{heading}\n{told}", least=2)
        place.plot([-0.5, count - 0.5], [-0.5, count - 0.5], "--", color=GREY, linewidth=1)
        place.set(xlabel="room that it answers", ylabel="right room")
        used = np.flatnonzero(np.bincount(said, minlength=count)).tolist()
        words.append(f"{heading}: {told}; it answers {len(used)} of the {count} rooms")
    only = f"room {used[0]} every time" if len(used) == 1 else f"{len(used)} rooms"
    return Picture(
        figure,
        f"Heatmaps, one row for each right room, one column for each answer; right answers are on "
        f"the dashed diagonal. {'. '.join(words)}.",
        f"{heading[0].upper()}{heading[1:]} the desk answers {only}",
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
