"""Lesson 06's figures: a ladder to causal weights, masked weights, a loss that cheats."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import cycle
from typing import Any

import numpy as np
from matplotlib.collections import LineCollection
from matplotlib.ticker import MaxNLocator

from attnlab.figures.arrays import as_array
from attnlab.figures.picture import (
    BLUE,
    GREY,
    ORANGE,
    PAGE,
    QUIET,
    Picture,
    draw_heatmap,
    hatch,
    in_style,
    name_lines,
    new_figure,
)

LEAKS = 0.2  # nats that a model loses by what is cut off: it has looked there
APART = 0.05  # nats below the honest best, by looking ahead, or above it, by learning less
FAR = 6  # times the honest best, where an axis of losses breaks off
BREAK, PAST = 1.14, 1.35  # times where it ends: the break, and rings past it
ZONE = "#ececec"  # below the honest best
NAMED = 60  # points from 0 to the end of names: a number stands between
STROKES = ("-", "--", ":")
WRONG = {  # what is, in models that the lesson breaks
    "wrong axis": "softmax over queries",
    "late mask": "after softmax",
    "off by one": "sees the next word",
    "no √d_k": "scores not scaled",
}
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
    figure, axes = new_figure(columns=4, width=10.6, height=3.3)
    no_weights = np.zeros(blocked.shape)
    panels: Any = (
        ("1. loop:\nreads its past", no_weights, lambda n: "✓", ""),
        ("2. matrix:\n1/n for each", as_array(averages), lambda n: f"1/{n}" if n > 1 else "1", ""),
        ("3. scores: softmax\nmakes matrix 2", no_weights, lambda n: "0", "−∞"),
        ("4. queries, keys\nset the scores", as_array(weights), None, ""),
    )
    for place, (title, matrix, mark, hidden) in zip(axes[0], panels, strict=True):
        draw_heatmap(place, matrix, tokens, tokens, title)
        hatch(place, blocked)
        for text, (n, m) in zip(place.texts, np.ndindex(blocked.shape), strict=True):
            if blocked[n, m]:
                text.set_text(hidden)
            elif mark:
                text.set_text(mark(n + 1))
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
        "Three ways to average the past, and one to weigh it\n"
        "Hatched: words that are not there yet.",
    )


@in_style
def one_mask(mask: Numbers, by_module: Numbers, by_sdpa: Numbers, tokens: Sequence[str]) -> Picture:
    """A mask, outlined where it is True, and the weights that two functions make with it.

    Args:
        mask: (N, N) bool, True above the diagonal.
        by_module, by_sdpa: (N, N) weights.
        tokens: N labels.
    """
    future = as_array(mask, bool)
    module, sdpa = as_array(by_module), as_array(by_sdpa)
    figure, axes = new_figure(columns=3, width=9.9, height=3.3)
    edge = np.pad(future, 1)
    across = np.argwhere(edge[1:, 1:-1] != edge[:-1, 1:-1]) - 0.5
    down = np.argwhere(edge[1:-1, 1:] != edge[1:-1, :-1]) - 0.5
    outline = [((x, y), (x + 1, y)) for y, x in across] + [((x, y), (x, y + 1)) for y, x in down]
    titles = "the mask", "module: True = blocked", "SDPA: True = may be read"
    for place, title, weights in zip(axes[0], titles, (0 * module, module, sdpa), strict=True):
        draw_heatmap(place, weights, tokens, tokens, title)
        lines = LineCollection(outline, colors=ORANGE, linewidths=3, capstyle="round", zorder=4)
        place.add_collection(lines).set_clip_on(False)
    for text, said in zip(axes[0, 0].texts, future.ravel(), strict=True):
        text.set_text(str(said))
    hatch(axes[0, 1], module == 0)
    hatch(axes[0, 2], sdpa == 0)
    is_opposite = not module[future].any() and not sdpa[~future].any()
    title = "One mask: the module hides the future, SDPA reads only the future"
    return Picture(
        figure,
        "A mask that is True above the diagonal, where an outline is, and two heatmaps of weights "
        "made with it, one row a query, one column a key, hatched where they are 0. In the outline "
        f"the module's add up to {module[future].sum():.2f}, SDPA's to {sdpa[future].sum():.2f}; "
        f"outside to {module[~future].sum():.2f} and {sdpa[~future].sum():.2f}.",
        f"{title if is_opposite else ''}\nOutlined: the mask is True. Hatched: the weight is 0.",
    )


@in_style
def losses(
    trained: Mapping[str, Mapping[str, tuple[object, Sequence[float]]]], best: Mapping[str, float]
) -> Picture:
    """Training losses on several texts, grey below the best that an honest model can reach.

    Args:
        trained: for each text and model, its parameters, which are not shown, and its losses.
        best: the honest best for each text.
    """
    figure, axes = new_figure(columns=len(trained), width=10.3, height=3.7, sharey=True)
    models = next(iter(trained.values()))
    cheats = [
        name
        for name in models
        if all(own[name][1][-1] < best[text] - APART for text, own in trained.items())
    ]
    words = []
    for place, (text, models) in zip(axes[0], trained.items(), strict=True):
        floor, strokes = best[text], {BLUE: cycle(STROKES), ORANGE: cycle(STROKES)}
        named = f"honest best, {floor:.2f}"
        near = next((name for name in models if abs(models[name][1][-1] - floor) < APART), "")
        place.axhline(floor, color=GREY, linewidth=1, label="_" if near else named)
        place.axhspan(-1, floor, color=ZONE, linewidth=0, zorder=-1)
        for name, (_, curve) in models.items():
            colour = ORANGE if name in cheats else BLUE
            stroke = next(strokes[colour])
            sign = "=" if f"{curve[-1]:.2f}" == f"{floor:.2f}" else "≈"
            label = f"{name} {sign} {named}" if name == near else name
            place.plot(as_array(curve), color=colour, linestyle=stroke, linewidth=2, label=label)
            words.append(f"{text}, {name}: from {curve[0]:.1f} to {curve[-1]:.2f}")
        place.set(xlabel="step", ylim=(-0.05, None), xlim=(0, len(curve)))
        place.set_xticks([0, len(curve) // 2, len(curve)])
        place.set_title(f"{text}: loss, nats")
        place.set_yticks([0, 0.5, 1, 1.5])
        place.tick_params(labelleft=True)
        words.append(f"{text}, honest best: {floor:.2f}")
    for place in axes[0]:  # when both have the same limits
        name_lines(place)
    title = ""
    if cheats:
        fall = f"{_listed(cheats)} {'falls' if len(cheats) == 1 else 'fall'}"
        title = f"Too good to be true: {fall} below the honest best"
    return Picture(
        figure,
        f"Training losses, a panel a text, grey below the honest best. {'; '.join(words)}.",
        f"{title}\nGrey, below the honest best, is reached only by looking ahead.",
    )


@in_style
def given_away(models: Mapping[str, tuple[float, float]], best: float, text: str) -> Picture:
    """The loss in training, and the jump to the one on texts that are cut off, a row a model.

    Args:
        models: for each, both losses.
        best: the honest best.
        text: what they are trained on.
    """
    figure, [[place]] = new_figure(width=PAGE, height=4.2)
    leaky = [name for name, (trained, cut) in models.items() if cut - trained > LEAKS]
    end = FAR * best
    broken: dict[float, str] = {}  # heights with their colours
    place.axvline(best, color=GREY, linewidth=1, zorder=0)
    for y, (name, (trained, cut)) in enumerate(models.items()):
        colour, ring = ORANGE if name in leaky else BLUE, PAST * end if cut > end else cut
        beside: Any = {"textcoords": "offset points", "va": "center", "color": colour}
        told, said = f"{trained:.2f}", f"{cut:.2f}"
        if name in leaky:
            jump: Any = {"arrowstyle": "-|>", "color": colour, "linewidth": 2.4, "shrinkB": 8}
            place.annotate("", (ring, y), (trained, y), arrowprops=jump)
            place.annotate(told, (trained, y), (-11, 0), ha="right", **beside)
        elif told != said:
            said = f"{told} → {said}"
        look: Any = {"mfc": "white", "mew": 2.4, "clip_on": False}
        place.plot(ring, y, "o", color=colour, markersize=17, **look)
        place.plot(trained, y, "o", color=colour, markersize=9, clip_on=False)
        place.annotate(said, (ring, y), (13, 0), **beside)
        if cut > end:
            broken |= {y: colour, len(models) - 0.5: QUIET}  # the axis too
        beside |= {"xycoords": place.get_yaxis_transform(), "ha": "right"}
        is_told = f"{name}: {'leaks' if name in leaky else 'honest'}"
        place.annotate(is_told, (0, y), (-NAMED, 8 if name in WRONG else 0), **beside)
        beside["color"] = QUIET
        place.annotate(WRONG.get(name, ""), (0, y), (-NAMED, -9), **beside)
    place.text(best, -0.65, f"honest best, {best:.2f}", ha="center", color=QUIET)
    gap: Any = {"boxstyle": "square,pad=0", "facecolor": "white", "linewidth": 0}
    for high, colour in broken.items():
        place.text(BREAK * end, high, "//", ha="center", va="center", color=colour, bbox=gap)
    right = PAST * end if broken else end
    place.set(xlim=(0, right), ylim=(len(models) - 0.5, -0.6), yticks=[])
    ticks = MaxNLocator(5, steps=[1, 2, 5, 10])
    place.set_xticks([tick for tick in ticks.tick_values(0, end) if tick <= end])
    place.set_xlabel(f"loss on {text}, nats")
    place.spines["left"].set_visible(False)
    place.tick_params(length=0)
    words = (f"{name}: {trained:.2f} and {cut:.2f}" for name, (trained, cut) in models.items())
    title = ""
    if leaky and all(models[name][0] < best - APART < models[name][1] for name in leaky):
        title = f"On {text}, each leak beats the honest best until texts are cut off"
    return Picture(
        figure,
        f"A dot a model for its loss in training on {text}, and a ring for its loss on texts that "
        f"are cut off, beside the honest best, {best:.2f}; where it leaks, an arrow goes from the "
        f"dot to the ring, past a break in the axis if it is above {end:.1f}. {'; '.join(words)}.",
        f"{title}\nDot: loss in training. Ring: on texts that are cut off after each word.",
    )


def _listed(names: Sequence[str]) -> str:
    *others, last = (f"\u201c{name}\u201d" for name in names)
    return f"{', '.join(others)} and {last}" if others else last
