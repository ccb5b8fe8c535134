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
    PAGE,
    QUIET,
    Picture,
    draw_heatmap,
    frame,
    in_style,
    name_lines,
    new_figure,
)
from attnlab.small.grammar import LONGEST_RUN

HALF = 0.5  # of the answers: at least so many is mostly right
NEAR = 0.1  # of the answers, on average, between lines that are told as one


@in_style
def copying(weights: Any, tokens: Sequence[str], layer: int) -> Picture:
    """Of each word that comes again its row in all heads, what followed it before in a frame.

    The columns end where the words come again.

    Args:
        weights: (H, N, N), rows are queries.
        tokens: N labels.
        layer: whose heads they are, from 1.
    """
    before = {n: tokens.index(token) for n, token in enumerate(tokens) if token in tokens[:n]}
    end = max(min(before), max(before.values()) + 2)
    matrices, keys = as_array(weights)[:, list(before), :end], tokens[:end]
    heads = [f"{head + 1}" for head in range(len(matrices))]
    figure, axes = new_figure(columns=len(before), width=3.7 * len(before), height=3.5)
    most = 0
    for place, row, (n, m) in zip(axes[0], range(len(before)), before.items(), strict=True):
        rows = matrices[:, row]
        draw_heatmap(place, rows, heads, keys, "", least=0.2)
        place.tick_params(axis="x", labelrotation=50)
        frame(place, 0, m + 1, high=len(heads))
        place.get_xticklabels()[m + 1].set(color=ORANGE, weight="bold")
        place.set_title(f"“{tokens[n]}” again: next came “{keys[m + 1]}”", pad=30)
        hop = {"arrowstyle": "-|>", "color": ORANGE, "connectionstyle": "arc3,rad=-0.9"}
        place.annotate("", (m + 1, -0.58), (m, -0.58), annotation_clip=False, arrowprops=hop)
        most += int((rows.argmax(axis=-1) == m + 1).sum())
    axes[0, 0].set_yticks(range(len(heads)), [f"head {head}" for head in heads])
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
        f"What came next the first time gets most weight in {most} of {total} rows\n"
        f"Heads of layer {layer}, in “{' '.join(tokens)}”. Columns past “{keys[-1]}” are left out.",
    )


@in_style
def reading_on(shares: Mapping[str, Any], first: int, focus: str) -> Picture:
    """The share of right answers by the word's place in its run, within and past those of training.

    Args:
        shares: for each model, numbers by place; the whole model first.
        first: the first place.
        focus: the model that is looked at; the others are grey.
    """
    rows = {name: as_array(row) for name, row in shares.items()}
    whole, *_ = rows
    places = np.arange(first, first + len(rows[whole]))
    late = {name: row[places > LONGEST_RUN].mean() for name, row in rows.items()}
    alone = late[focus] >= HALF > max(share for name, share in late.items() if name != focus)
    figure, [[axes]] = new_figure(width=PAGE, height=4)
    near = [name for name, row in rows.items() if 0 < abs(row - rows[whole]).mean() < NEAR]
    near = [name for name in near if name != focus]
    for name, row in rows.items():
        look: dict[str, Any] = {"color": GREY, "linewidth": 1.5, "label": name, "zorder": 1}
        if name == focus:
            look |= {"color": BLUE, "linewidth": 6, "zorder": 3}
        elif name == whole:
            look |= {"color": "black", "linewidth": 3, "label": f"{name} heads", "zorder": 2}
        elif name in near:  # one bundle with one name
            both = near[0] + "".join(f" or {each.split()[-1]}" for each in near[1:])
            look["label"] = both if name == near[0] else "_"
        else:
            look["linestyle"] = "--"
        axes.plot(places, row, **look)
    edge, end = LONGEST_RUN + 0.5, places[-1]
    axes.axvspan(edge, end, color="#ececec", zorder=0, linewidth=0)
    longer = "longer than\nin training"
    axes.text(end - 0.3, HALF, longer, color=QUIET, ha="right", va="center", linespacing=1.4)
    axes.set(xlabel="word in the run", ylim=(-0.03, 1.05), xlim=(first, end))
    axes.set_xticks(places[places % (LONGEST_RUN // 2) == 0])
    axes.set_yticks([0, HALF, 1], ["0 %", "50 %", "100 %"])
    axes.set_title("answers that are right")
    name_lines(axes)
    said = [f"{name}: {', '.join(f'{share:.2f}' for share in row)}" for name, row in rows.items()]
    means = ", ".join(f"{name} {share:.2f}" for name, share in late.items())
    return Picture(
        figure,
        f"Lines of the share of right answers, by the word's place, {first} to {end}. "
        f"{'; '.join(said)}. On average past word {LONGEST_RUN}, the longest run in training: "
        f"{means}.",
        f"Take {focus.removeprefix('no ')} away, and the model stays mostly right past word "
        f"{LONGEST_RUN}\nOn average {100 * late[focus]:.0f} % of the answers are right there, with "
        f"all heads {100 * late[whole]:.0f} %."
        if alone
        else f"Past word {LONGEST_RUN}, the longest run in training, answers change",
    )
