"""Lesson 14's figures: heads that copy, and where a copy breaks off."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from attnlab.figures.arrays import as_array
from attnlab.figures.picture import (
    BLUE,
    GREY,
    Picture,
    draw_heatmap,
    frame,
    in_style,
    name_lines,
    new_figure,
    with_looks,
)

STROKES = ("--", "-.", ":", (0, (1, 3)))  # of those that are grey
HALF = 0.5  # of the answers: below, reading is over


@in_style
def copying(weights: Any, tokens: Sequence[str]) -> Picture:
    """Of each head the rows of words that come again, what followed them before in a frame.

    The columns end where the words come again.

    Args:
        weights: (H, N, N), rows are queries.
        tokens: N labels.
    """
    before = {n: tokens.index(token) for n, token in enumerate(tokens) if token in tokens[:n]}
    queries = [f"{tokens[n]}, again" for n in before]
    end = max(min(before), max(before.values()) + 2)
    matrices, keys = as_array(weights)[:, list(before), :end], tokens[:end]
    figure, axes = new_figure(columns=2, rows=-(-len(matrices) // 2), width=9.2, height=5.2)
    most = 0
    for head, (place, matrix) in enumerate(zip(axes.ravel(), matrices, strict=True)):
        draw_heatmap(place, matrix, queries, keys, f"head {head + 1}", least=0.1)
        place.tick_params(axis="x", labelrotation=90)
        for row, m in enumerate(before.values()):
            frame(place, row, m + 1)
            most += int(matrix[row].argmax()) == m + 1
    words = "; ".join(
        f"head {head + 1}: "
        + ", ".join(f"{matrix[row, m + 1]:.2f}" for row, m in enumerate(before.values()))
        for head, matrix in enumerate(matrices)
    )
    total = len(before) * len(matrices)
    return Picture(
        figure,
        f"A heatmap for each head, a row for each word that comes again, a column for each of "
        f"{' '.join(keys)}. "
        f"Frames lie on a diagonal: on what came after the word before. There lies {words}.",
        f"Framed: what came next the first time. It gets the most in {most} of {total} rows.",
    )


@in_style
def reading_on(shares: Mapping[str, Any], first: int, focus: str) -> Picture:
    """The share of right answers by the word's place in its run, and where most of them end.

    Args:
        shares: for each model, numbers by place; the whole model first.
        first: the first place.
        focus: the model that is looked at; the others are grey.
    """
    figure, axes = new_figure(width=4.6, height=3.9)
    place, words = axes[0, 0], []
    rows = {name: as_array(row) for name, row in shares.items()}
    whole = next(iter(rows.values()))
    places = np.arange(first, first + len(whole))
    grey = with_looks([name for name in rows if name != focus], STROKES)
    for name, stroke in [*grey, (focus, "-")]:
        colour, wide = (BLUE, 3.5) if name == focus else (GREY, 2)
        place.plot(places, rows[name], label=name, color=colour, linestyle=stroke, linewidth=wide)
    for name, row in rows.items():
        words.append(f"{name}: {', '.join(f'{share:.2f}' for share in row)}")
    below = np.flatnonzero(whole < HALF)
    title = "Right answers by word"
    if below.size:
        at = places[below[0]]
        place.axvspan(at - 0.5, places[-1], color="#ececec", zorder=0, linewidth=0)
        place.text(at - 0.3, 1.06, f"from word {at} on", va="bottom")
        late = {name: row[below[0] :].mean() for name, row in rows.items()}
        others = [share for name, share in late.items() if name != focus]
        if late[focus] >= HALF > max(others):
            title = f"From word {at} on, only “{focus}” reads on"
    place.set(
        xlabel="word in the run",
        ylabel="right answers",
        ylim=(-0.1, 1.05),
        xlim=(first, places[-1]),
    )
    place.set_xticks(places[::2])
    place.set_yticks([0, 0.5, 1], ["0", "half", "all"])
    name_lines(place, led=True)
    return Picture(
        figure,
        f"Lines of the share of right answers, by the word's place, {first} to {places[-1]}. "
        f"{'; '.join(words)}.",
        title,
    )
