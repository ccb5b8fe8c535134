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
SMALL = 0.05  # weights below are seen, not written
Numbers = Any  # nested lists, an array or a tensor without a gradient
Panel = tuple[Numbers, Sequence[str], Sequence[str], Numbers]


@in_style
def maps(panels: Mapping[str, Panel], title: str) -> Picture:
    """Weights of several attentions, with one colour scale; what is blocked is hatched.

    In each, the queries are framed whose best key in the first is not there. If no panel has any,
    the look that goes furthest ahead is.

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
    weights, queries, keys, _ = next(iter(panels.values()))
    best = dict(zip(queries, [keys[m] for m in as_array(weights).argmax(-1)], strict=True))
    lost = {
        heading: [n for n, query in enumerate(queries) if best.get(query, keys[0]) not in keys]
        for heading, (_, queries, keys, _) in panels.items()
    }
    for place, (heading, panel) in zip(axes[0], panels.items(), strict=True):
        weights, queries, keys, blocked = panel
        matrix = as_array(weights)
        draw_heatmap(place, matrix, queries, keys, heading, least=SMALL)
        place.set_xticks(range(len(keys)), keys, rotation=40, ha="right", rotation_mode="anchor")
        hidden = np.zeros(matrix.shape, bool) if blocked is None else as_array(blocked, bool)
        hatch(place, hidden & (matrix == 0))
        words.append(f"{heading}: {_in_words(matrix, queries, keys, hidden)}")
        ahead = [(m - n, n, m) for n, m in np.argwhere((matrix > MOST) & ~hidden).tolist() if m > n]
        told = ""
        for n in lost[heading]:
            frame(place, n, int(np.argmin(hidden[n])), wide=int((~hidden[n]).sum()))
            place.get_yticklabels()[n].set(color=ORANGE, weight="bold")
            told = "framed: no match there"
        if not any(lost.values()):
            told = "nothing ahead is found"
            for _, n, m in sorted(ahead)[-1:]:
                frame(place, n, m)
                for label in (place.get_yticklabels()[n], place.get_xticklabels()[m]):
                    label.set(color=ORANGE, weight="bold")
                told = f"“{queries[n]}” finds “{keys[m]}”"
        place.set_title(f"{heading}\n{told}")
    return Picture(
        figure,
        f"{len(panels)} heatmaps of weights, one row a query, one column a key. {' '.join(words)}",
        title,
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
