"""Lesson 06's figures: a ladder to causal weights, masked weights, a loss that cheats."""

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
    Picture,
    draw_heatmap,
    frame,
    hatch,
    in_style,
    name_lines,
    new_figure,
)

FAR = 10.5  # nats: what is further is an arrow, with its number
LEAKS = 0.2  # nats that a model loses by what is cut off: it has looked there
BELOW = 0.05  # nats below the honest best: a model that has looked ahead
ZONE = "#ececec"  # below the honest best
AHEAD = "only by looking ahead"  # what this zone is
STROKES = ("-", "--", ":")
Numbers = Any  # nested lists, an array or a tensor


@in_style
def ladder(averages: Numbers, scores: Numbers, weights: Numbers, tokens: Sequence[str]) -> Picture:
    """From a loop over the past to learned weights, in four panels.

    Args:
        averages: (N, N), the matrix that averages the past.
        scores: (N, N), 0 where a book may be read and −∞ where not: softmax gives the averages.
        weights: (N, N), of scores that queries and keys have set.
        tokens: N labels.
    """
    blocked = np.isneginf(as_array(scores))
    figure, axes = new_figure(columns=4, width=12.6, height=3.3)
    read = np.where(blocked, 0.0, 0.2)
    panels = (
        ("1. loop: what is read", read),
        ("2. one matrix: 1/n each", as_array(averages)),
        ("3. scores, 0 or −∞", read),
        ("4. queries and keys", as_array(weights)),
    )
    for place, (title, matrix) in zip(axes[0], panels, strict=True):
        draw_heatmap(place, matrix, tokens, tokens, title)
        hatch(place, blocked & (matrix == 0))
        for text, hidden in zip(place.texts, blocked.ravel(), strict=True):
            if matrix is read:  # these are no weights
                in_loop = "" if hidden else "✓"
                text.set_text(in_loop if place is axes[0, 0] else "−∞" if hidden else "0")
    made = ("÷ n\n→", "←\nsoftmax", "q·k for 0\n→\nsoftmax")  # what is made of what
    for place, how in zip(axes[0], made, strict=False):
        place.annotate(
            how,
            (1, 0.5),
            (10, 0),
            xycoords="axes fraction",
            textcoords="offset points",
            va="center",
            multialignment="center",
            color=QUIET,
        )
    is_closed = not as_array(averages)[blocked].any() and not as_array(weights)[blocked].any()
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
        "From a loop to attention: all weights of the future, hatched, are exactly 0."
        if is_closed
        else "",
    )


@in_style
def weights_in_panels(
    panels: Mapping[str, Numbers],
    queries: Sequence[str],
    keys: Sequence[str],
    blocked: Numbers,
) -> Picture:
    """Weights under several conditions, hatched where none is, framed where none should be.

    Rows that are nothing but 0 are named.

    Args:
        panels: for each title, (N, M) weights.
        queries: N labels.
        keys: M labels.
        blocked: (N, M) bool, True = blocked, or should be.
    """
    hidden = as_array(blocked, bool)
    width = (1.6 + 0.66 * len(keys)) * len(panels)
    figure, axes = new_figure(columns=len(panels), width=width, height=1.5 + 0.46 * len(queries))
    words, shares = [], []
    empty: dict[str, None] = {}
    for place, (title, weights) in zip(axes[0], panels.items(), strict=True):
        matrix = as_array(weights)
        draw_heatmap(place, matrix, queries, keys, title)
        hatch(place, matrix == 0)
        for n, m in np.argwhere(hidden & (matrix > 0)).tolist():
            frame(place, n, m)
        if max(map(len, keys)) > 6:
            place.set_xticks(range(len(keys)), keys, rotation=30, ha="right")
        leaked, sums = float(matrix[hidden].sum()), matrix.sum(axis=1)
        share = f"{leaked:.2f}" if leaked else "exactly 0"
        for n in np.flatnonzero(sums == 0).tolist():
            empty[queries[n]] = None
            place.text(len(keys) - 0.4, n, "sum 0", color=ORANGE, va="center", clip_on=False)
        words.append(
            f"{title}: the cells that should be blocked hold {share} in all, rows add up to "
            f"{sums.min():.2f} to {sums.max():.2f}"
        )
        shares.append(f"{leaked:.2f} of {len(queries)} rows" if leaked else "exactly 0")
        place.set(xlabel="keys", ylabel="queries")
    many = f"{len(panels)} heatmaps" if len(panels) > 1 else "Heatmap"
    future = ", ".join(f"{share} ({title})" for title, share in zip(panels, shares, strict=True))
    nothing = f" {_listed([*empty])}: nothing to read." if empty else ""
    return Picture(
        figure,
        f"{many} of weights, one row a query, one column a key, hatched where the weight is 0. "
        f"{'; '.join(words)}.",
        f"What the future gets: {future}.{nothing}",
    )


@in_style
def losses(
    trained: Mapping[str, Mapping[str, tuple[object, Sequence[float]]]],
    best: Mapping[str, tuple[float, str]],
) -> Picture:
    """Training losses on several texts, each with the best that an honest model can reach.

    Args:
        trained: for each text and model, its parameters, which are not shown, and its losses.
        best: for each text the honest best, and a label.
    """
    figure, axes = new_figure(columns=len(trained), width=9.6, height=3.9, sharey=True)
    text, models = next(iter(trained.items()))
    cheats = [name for name, (_, curve) in models.items() if curve[-1] < best[text][0] - BELOW]
    words = []
    for place, (title, models) in zip(axes[0], trained.items(), strict=True):
        floor, label = best[title]
        place.axhline(floor, color=GREY, linewidth=1, zorder=0, label=label)
        place.axhspan(-1, floor, color=ZONE, linewidth=0, zorder=-1)
        if place is axes[0, 0]:
            place.annotate(AHEAD, (0.6, 0.5), xycoords="axes fraction", ha="center", color=QUIET)
        drawn = {BLUE: 0, ORANGE: 0}
        for name, (_, curve) in models.items():
            colour = ORANGE if name in cheats else BLUE
            stroke = STROKES[drawn[colour] % len(STROKES)]
            drawn[colour] += 1
            place.plot(as_array(curve), color=colour, linestyle=stroke, linewidth=2, label=name)
            words.append(f"{title}, {name}: from {curve[0]:.1f} to {curve[-1]:.2f}")
        place.set(xlabel="step", ylim=(-0.05, None), xlim=(0, len(curve) - 1))
        place.set_title(f"{title}: loss, nats")
        place.set_yticks([0, 0.5, 1, 1.5])
        place.tick_params(labelleft=True)
        words.append(f"a line at {floor:.2f}, {label}")
    for place in axes[0]:  # when both have the same limits
        name_lines(place, led=True)  # several end at one height
    one = len(cheats) == 1
    return Picture(
        figure,
        f"Training losses, a panel a text, grey below the honest best. {'; '.join(words)}.",
        f"On {text}, {_listed(cheats)} {'gets' if one else 'get'} below the best that a model can "
        f"reach that does not look ahead: {'it looks' if one else 'they look'} ahead."
        if cheats
        else "",
    )


@in_style
def given_away(
    apart: Mapping[str, Mapping[str, tuple[float, float]]], best: Mapping[str, tuple[float, str]]
) -> Picture:
    """For each text and model the loss in training, and on texts that are cut off.

    Args:
        apart: for each text and model, both losses.
        best: for each text the honest best, and a label.
    """
    figure, axes = new_figure(columns=len(apart), width=9.8, height=3.6)
    words: list[str] = []
    leaky: dict[str, list[str]] = {text: [] for text in apart}
    for place, (text, models) in zip(axes[0], apart.items(), strict=True):
        floor, label = best[text]
        place.axvspan(-1, floor, color=ZONE, linewidth=0, zorder=0)
        place.axvline(floor, color=GREY, linewidth=1.5, zorder=0)
        for n, (name, (trained, cut)) in enumerate(models.items()):
            leaks = cut - trained > LEAKS
            if leaks:
                leaky[text].append(name)
            colour = ORANGE if leaks else BLUE
            dot: dict = {"color": colour, "marker": "o", "markersize": 9, "clip_on": False}
            ends = min(cut, FAR)
            place.plot([trained, ends], [n, n], color=colour, linewidth=3)
            end = {"marker": ">"} if cut > FAR else {"markerfacecolor": "white", "mew": 2.5}
            place.plot(ends, n, **{**dot, **end})
            place.plot(trained, n, **dot)
            said = f"{trained:.2f} → {cut:.2f}" if leaks else f"{trained:.2f}"
            place.annotate(
                said,
                (max(trained, ends), n),
                (12, 0),
                textcoords="offset points",
                va="center",
                color=colour,
            )
            words.append(f"{text}, {name}: {trained:.2f} and {cut:.2f}")
        place.set_yticks(range(len(models)), models)
        place.set(ylim=(len(models) - 0.4, -0.6))
        place.set(xlim=(0, 1.8 * FAR), xticks=(0, 5, 10))
        place.tick_params(which="both", length=0)
        place.tick_params(axis="y", labelcolor="black", pad=8)
        place.set_title(f"{text}. Grey: below the {label.replace(': ', ', ')}")
        place.set_xlabel("loss, nats")
    first, last = next(iter(leaky)), [*leaky][-1]
    missed = [name for name in leaky[first] if name not in leaky[last]]
    if missed:
        title = (
            f"Only {first} catches {_listed(missed)}: on {last}, nothing is lost without the "
            "next words"
        )
    elif leaky[first]:
        title = f"Without the next words, {_listed(leaky[first])} lose on {first}"
    else:
        title = "Nothing is lost without the next words"
    return Picture(
        figure,
        f"Pairs of dots, a panel a text, a row a model: the loss in training and on texts that are "
        f"cut off. {'; '.join(words)}.",
        f"{title}\n● in training   ○ on texts cut off after each word.   Grey is reached {AHEAD}.",
    )


def _listed(names: Sequence[str]) -> str:
    *others, last = (f"\u201c{name}\u201d" for name in names)
    return f"{', '.join(others)} and {last}" if others else last
