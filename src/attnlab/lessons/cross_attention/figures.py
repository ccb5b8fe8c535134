"""Lesson 08's figures: attention maps side by side, and how sure two desks are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from attnlab.figures.arrays import as_array
from attnlab.figures.picture import (
    ORANGE,
    Picture,
    draw_heatmap,
    frame,
    hatch,
    in_style,
    new_figure,
)

MOST = 0.5  # of a row: a query that gives a key more has found it
WIDEST = 11.2  # inches: the words of a wider picture would shrink
CELL = 1.02  # height of a cell for each of its widths
SMALL = 0.05  # weights below are seen, not written
Numbers = Any  # nested lists, an array or a tensor without a gradient
Panel = tuple[Numbers, Sequence[str], Sequence[str], Numbers]


@in_style
def maps(panels: Mapping[str, Panel], title: str) -> Picture:
    """Weights of several attentions, with one colour scale; what is blocked is hatched.

    In each, the queries are framed whose best key in the first is not there. If no panel has any,
    the look that goes furthest ahead is; where there is none, what a query may see that looks ahead
    elsewhere.

    Args:
        panels: for each title, weights (N, M), N queries, M keys, and (N, M) bool, True = blocked,
            or None where nothing is.
        title: what all of them show.
    """
    widths = [len(keys) + 2.2 for _, _, keys, _ in panels.values()]
    rows = max(len(queries) for _, queries, _, _ in panels.values())
    figure, axes = new_figure(
        columns=len(panels),
        width=min(0.55 * sum(widths), WIDEST),
        height=2.0 + 0.5 * rows,
        width_ratios=[len(keys) for _, _, keys, _ in panels.values()],
    )
    words = []
    weights, queries, keys, _ = next(iter(panels.values()))
    best = dict(zip(queries, [keys[m] for m in as_array(weights).argmax(-1)], strict=True))
    lost = {
        heading: [n for n, query in enumerate(queries) if best.get(query, keys[0]) not in keys]
        for heading, (_, queries, keys, _) in panels.items()
    }
    furthest = {heading: _furthest_ahead(panel) for heading, panel in panels.items()}
    look_ahead = {panels[heading][1][n] for heading, at in furthest.items() for n, _ in at}
    for place, (heading, panel) in zip(axes[0], panels.items(), strict=True):
        weights, queries, keys, _ = panel
        matrix, hidden = as_array(weights), _hidden(panel)
        draw_heatmap(place, matrix, queries, keys, heading, least=SMALL)
        place.set_aspect(CELL, anchor="N")
        place.set_xticks(range(len(keys)), keys, rotation=55, ha="right", rotation_mode="anchor")
        hatched = hidden & (matrix == 0)
        hatch(place, hatched)
        if hatched.any():
            row, column = np.argwhere(hatched).mean(axis=0)
            ground: Any = {"boxstyle": "round,pad=0.2", "facecolor": "white", "linewidth": 0}
            place.text(column, row, "blocked", ha="center", va="center", bbox=ground)
        words.append(f"{heading}: {_in_words(matrix, queries, keys, hidden)}")
        told, framed = "", lost[heading]
        for n in framed:
            gone = f"no “{best[queries[n]]}”"
            place.text(len(keys) - 0.35, n, gone, va="center", color=ORANGE, weight="bold")
        if not framed and not any(lost.values()):
            told = "nothing ahead is found"
            for n, m in furthest[heading]:
                frame(place, n, m)
                for label in (place.get_yticklabels()[n], place.get_xticklabels()[m]):
                    label.set(color=ORANGE, weight="bold")
                told = f"“{queries[n]}” finds “{keys[m]}”"
            if not furthest[heading]:
                framed = [n for n, query in enumerate(queries) if query in look_ahead]
            if framed:
                told = f"“{queries[framed[0]]}” finds nothing ahead"
        for n in framed:
            place.get_yticklabels()[n].set(color=ORANGE, weight="bold")
        for first, high in _blocks(hidden, framed):
            opened = ~hidden[first]
            frame(place, first, int(opened.argmax()), int(opened.sum()), high)
        place.set_title(f"{heading}\n{told}".strip())
    axes[0, 0].set(xlabel="is read", ylabel="reads")
    return Picture(
        figure,
        f"{len(panels)} heatmaps of weights, one row a query, one column a key. {' '.join(words)}",
        title,
    )


def _blocks(hidden: np.ndarray, rows: Sequence[int]) -> list[tuple[int, int]]:
    """Rows that follow each other and may read the same: the first, and how many."""
    blocks: list[tuple[int, int]] = []
    for n in rows:
        first, high = blocks[-1] if blocks else (n, 0)
        if first + high == n and (hidden[n] == hidden[first]).all():
            blocks[-1:] = [(first, high + 1)]
        else:
            blocks.append((n, 1))
    return blocks


def _hidden(panel: Panel) -> np.ndarray:
    weights, _, _, blocked = panel
    return (
        np.zeros(np.shape(as_array(weights)), bool) if blocked is None else as_array(blocked, bool)
    )


def _furthest_ahead(panel: Panel) -> list[tuple[int, int]]:
    """The query and the key that it finds, of those that are furthest apart; or none."""
    found: Any = np.argwhere((as_array(panel[0]) > MOST) & ~_hidden(panel)).tolist()
    return sorted(((n, m) for n, m in found if m > n), key=lambda at: at[1] - at[0])[-1:]


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
