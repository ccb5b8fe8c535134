"""Lesson 14's figures: heads that copy, and where a copy breaks off."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from attnlab.figures.arrays import as_array
from attnlab.figures.picture import (
    BLUE,
    GREY,
    ORANGE,
    Picture,
    draw_heatmap,
    frame,
    in_style,
    name_lines,
    new_figure,
)

HALF = 0.5  # of the answers: below, reading is over


@in_style
def copying(weights: Any, tokens: Sequence[str]) -> Picture:
    """Of each word that comes again its row in all heads, what followed it before in a frame.

    The columns end where the words come again.

    Args:
        weights: (H, N, N), rows are queries.
        tokens: N labels.
    """
    before = {n: tokens.index(token) for n, token in enumerate(tokens) if token in tokens[:n]}
    end = max(min(before), max(before.values()) + 2)
    matrices, keys = as_array(weights)[:, list(before), :end], tokens[:end]
    heads = [f"head {head + 1}" for head in range(len(matrices))]
    figure, axes = new_figure(columns=len(before), width=4.2 * len(before), height=3.2)
    most = 0
    for place, row, (n, m) in zip(axes[0], range(len(before)), before.items(), strict=True):
        rows = matrices[:, row]
        draw_heatmap(place, rows, heads, keys, f"“{tokens[n]}” again", least=0.2)
        place.tick_params(axis="x", labelrotation=50)
        frame(place, 0, m + 1, high=len(heads))
        place.get_xticklabels()[m + 1].set(color=ORANGE, weight="bold")
        most += int((rows.argmax(axis=-1) == m + 1).sum())
    words = "; ".join(
        f"“{tokens[n]}” again, {keys[m + 1]}: "
        + ", ".join(f"{share:.2f}" for share in matrices[:, row, m + 1])
        for row, (n, m) in enumerate(before.items())
    )
    total = len(before) * len(matrices)
    return Picture(
        figure,
        f"A heatmap for each word that comes again, a row for each head, a column for each of "
        f"{' '.join(keys)}. Framed is what came after the word before; there lies {words}.",
        f"A word that comes again looks at what came next the first time\n"
        f"framed: it gets the most in {most} of {total} rows",
    )


@in_style
def reading_on(shares: Mapping[str, Any], first: int, focus: str) -> Picture:
    """The share of right answers by the word's place in its run, and where most of them end.

    Args:
        shares: for each model, numbers by place; the whole model first.
        first: the first place.
        focus: the model that is looked at; the others are grey.
    """
    rows = {name: as_array(row) for name, row in shares.items()}
    first_name, whole = next(iter(rows.items()))
    places = np.arange(first, first + len(whole))
    below = np.flatnonzero(whole < HALF)
    start = int(below[0]) if below.size else 0
    at = places[start]
    late = {name: row[start:].mean() for name, row in rows.items()}
    others = [share for name, share in late.items() if name != focus]
    title = f"Right answers by word, and from word {at} on"
    if below.size and late[focus] >= HALF > max(others):
        title = f"From word {at} on, “{focus}” alone stays mostly right"
    figure, [[axes]] = new_figure(width=5.1, height=4.6)
    for name, row in rows.items():
        look = {"color": GREY, "linewidth": 1.6, "label": name, "zorder": 1}
        if name == focus:
            look |= {"color": BLUE, "linewidth": 4, "zorder": 3}
        elif name == first_name:
            look |= {"color": "black", "linewidth": 4, "label": f"{name} heads", "zorder": 2}
        axes.plot(places, row, **look)
    axes.axvspan(at - 0.5, places[-1], color="#ececec", zorder=0, linewidth=0)
    if below.size:
        words = f"{first_name} heads:\nmostly wrong"
        axes.text(places[-1] - 0.2, 0.73, words, ha="right", va="top")
    axes.set(xlabel="word in the run", ylim=(-0.03, 1.05), xlim=(first, places[-1]))
    axes.set_xticks(places[::2])
    axes.set_yticks([0, HALF, 1], ["0 %", "50 %", "100 %"])
    axes.set_title("answers that are right")
    name_lines(axes, led=True)
    said = [f"{name}: {', '.join(f'{share:.2f}' for share in row)}" for name, row in rows.items()]
    means = ", ".join(f"{name} {share:.2f}" for name, share in late.items())
    return Picture(
        figure,
        f"Lines of the share of right answers, by the word's place, {first} to {places[-1]}. "
        f"{'; '.join(said)}. On average from word {at} on: {means}.",
        title,
    )
