"""Lesson 07's figures: answers by model, patterns and removals of heads, who owns which number."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import torch
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from attnlab.figures.arrays import as_array
from attnlab.figures.picture import (
    BLUE,
    GREEN,
    GREY,
    ORANGE,
    PURPLE,
    Picture,
    in_style,
    new_figure,
)

Numbers = Any  # nested lists, an array or a tensor
OWNERS = (BLUE, ORANGE, GREEN, PURPLE)


def _cells(place: Axes, faces: Mapping[tuple[int, int], tuple[str, float]]) -> None:
    """Tiles of a colour and how strong it is, by row and column."""
    for (row, column), (colour, strength) in faces.items():
        corner = (column - 0.47, row - 0.47)
        place.add_patch(Rectangle(corner, 0.94, 0.94, facecolor=(colour, strength), linewidth=0))
    place.set_xlim(-0.5, max(column for _, column in faces) + 0.5)
    place.set_ylim(max(row for row, _ in faces) + 0.5, -0.5)


@in_style
def two_answers(shares: Mapping[str, Mapping[int, tuple[float, float]]]) -> Picture:
    """How many answers to two questions are right, by model and seed.

    Args:
        shares: for each model, for each seed, the share of right answers to each question.
    """
    figure, axes = new_figure(rows=len(shares), width=5.1, height=4.6, sharex=True)
    words, worse = [], []
    for place, (model, by_seed) in zip(axes[:, 0], shares.items(), strict=True):
        seeds, (front, twin) = range(len(by_seed)), zip(*by_seed.values(), strict=True)
        place.hlines(seeds, np.minimum(front, twin), np.maximum(front, twin), color=GREY, lw=1)
        place.plot(front, seeds, "o", color=BLUE, ms=11, mfc="white", mew=2.4)
        place.plot(twin, seeds, "o", color=ORANGE, ms=5)
        place.axvline(0.25, color="black", linewidth=1, linestyle=(0, (4, 4)), zorder=0)
        place.set_yticks(seeds, [f"seed {seed}" for seed in by_seed])
        place.set(title=model, xlim=(0, 1.05), ylim=(len(by_seed) - 0.4, -0.6))
        place.set_xticks([0.25, 0.5, 0.75, 1], ["guess", "50 %", "75 %", "100 %"])
        place.tick_params(length=0)
        told = (f"{100 * f:.0f} and {100 * t:.0f} % by seed {n}" for n, (f, t) in by_seed.items())
        words.append(f"{model}: {', '.join(told)}")
        least = sorted({f"{100 * min(both):.0f}" for both in by_seed.values()}, key=float)
        worse.append(f"{' to '.join(dict.fromkeys((least[0], least[-1])))} % with {model}")
    first = next(iter(next(iter(shares.values())).values()))
    for question, share, colour in zip(("front", "twin"), first, (BLUE, ORANGE), strict=True):
        side = -1 if share > 0.5 else 1
        axes[0, 0].annotate(
            question,
            (share, 0),
            (10 * side, 9),
            textcoords="offset points",
            color=colour,
            ha="right" if side < 0 else "left",
            va="center",
        )
    return Picture(
        figure,
        f"{len(shares)} panels of dots, the share of right answers to two questions, who is in "
        f"front and who the twin is, and a line at 25 %, which is guessing. {'; '.join(words)}.",
        "Right answers to the harder of two questions, who is in front and who is the twin: "
        f"{', '.join(worse)}.",
    )


@in_style
def patterns(panels: Mapping[str, Numbers], names: Sequence[str]) -> Picture:
    """Weights of heads over one queue, with the two visitors that each row has to find.

    Args:
        panels: for each title, (N, N) weights.
        names: N visitors, 'art 3': each subject stands twice.
    """
    subjects = [name.split()[0] for name in names]
    twins = [
        next(m for m, other in enumerate(subjects) if other == mine and m != n)
        for n, mine in enumerate(subjects)
    ]
    figure, axes = new_figure(columns=len(panels), width=3.0 * len(panels), height=3.75)
    words, shares = [], {}
    for place, (title, weights) in zip(axes[0], panels.items(), strict=True):
        matrix = as_array(weights)
        faces = {at: (GREY, 0.1 + 0.9 * float(share)) for at, share in np.ndenumerate(matrix)}
        for n, twin in enumerate(twins):
            for m, colour in ((twin, ORANGE), (n - 1, BLUE)):
                if m >= 0:
                    faces[n, m] = (colour, 0.12 + 0.88 * float(matrix[n, m]))
        _cells(place, faces)
        place.set_xticks([])
        place.set_yticks(range(len(names)), names)
        place.tick_params(length=0, labelcolor="black")
        place.spines[:].set_visible(False)
        place.set_xlabel("keys, in the same order")
        front = np.mean([matrix[n, n - 1] for n in range(1, len(names))])
        at_twin = np.mean([matrix[n, twin] for n, twin in enumerate(twins)])
        place.set_title(title, pad=28)
        for x, told, colour in (
            (0, f"front {front:.2f}", BLUE),
            (1, f"twin {at_twin:.2f}", ORANGE),
        ):
            place.text(
                x, 1.02, told, color=colour, ha=("left", "right")[x], transform=place.transAxes
            )
        shares[title] = sorted((float(front), float(at_twin)))
        words.append(f"{title}: {front:.2f} on the visitor in front, {at_twin:.2f} on the twin")
    shared = [title for title, (less, _) in shares.items() if less > 0.15]
    alone = [title for title, (less, more) in shares.items() if less < 0.1 and more > 0.5]
    return Picture(
        figure,
        f"{len(panels)} tables of weights over the queue {', '.join(names)}, one row a query; the "
        "visitor in front is blue and the twin orange, the stronger the more weight. "
        f"Mean weight, {'; '.join(words)}.",
        f"{_listed(shared)} split a look between two visitors; {_listed(alone)} each look at one."
        if len(shared) > 1 and len(alone) > 1
        else "",
    )


def _listed(names: Sequence[str]) -> str:
    return " and ".join(f"\u201c{name}\u201d" for name in names)


@in_style
def attraction(shares: Mapping[str, Mapping[str, float]]) -> Picture:
    """How many verbs agree with their subject, the first of two nouns, with and without heads.

    Args:
        shares: for each title, by the two nouns, 'king … dogs', how often the verb is singular.
    """
    figure, axes = new_figure(columns=len(shares), width=3.7 * len(shares), height=3.5)
    words, worst = [], (1.0, "", "")
    for place, (title, by_nouns) in zip(axes[0], shares.items(), strict=True):
        right = {
            nouns.replace("… ", "…\n"): 1 - share if nouns.startswith("kings") else share
            for nouns, share in by_nouns.items()
        }
        places = range(len(right))
        wrong = [1 - share for share in right.values()]
        place.bar(places, [*right.values()], 0.8, color=(BLUE, 0.35))
        place.bar(places, wrong, 0.8, [*right.values()], color=ORANGE)
        for at, (nouns, share) in enumerate(zip(by_nouns, right.values(), strict=True)):
            place.text(at, 1.03, f"{100 * share:.0f} %", ha="center")
            worst = min(worst, (share, title, nouns))
            if share < 0.5:
                word: Any = {"rotation": 90, "ha": "center", "va": "center", "color": "white"}
                place.text(at, (1 + share) / 2, "wrong verb", **word)
        place.set(title=title, ylim=(0, 1.15), yticks=[])
        place.set_xticks(places, [*right])
        place.tick_params(length=0)
        place.spines["left"].set_visible(False)
        told = (
            f"{100 * share:.0f} % after {nouns}"
            for share, nouns in zip(right.values(), by_nouns, strict=True)
        )
        words.append(f"{title}: {', '.join(told)}")
    share, title, nouns = worst
    return Picture(
        figure,
        f"{len(shares)} panels of bars, the share of verbs that agree with the subject, after "
        "a subject and a noun nearer to the verb, each in the singular or the plural. "
        f"{'; '.join(words)}.",
        f"Verbs that agree with their subject: {title}, the nearer noun decides, and after "
        f"\u201c{nouns}\u201d {100 * share:.0f} % are right."
        if share < 0.5
        else "",
    )


@in_style
def owners(
    panels: Mapping[str, Callable[[torch.Tensor, int], torch.Tensor]],
    tokens: Sequence[str],
    d: int,
    n_heads: int,
) -> Picture:
    """Which head gets which number of which token.

    Args:
        panels: for each title, a function (B, N, d), H -> (B, H, N, d/H).
        tokens: N labels.
        d: width of a token.
        n_heads: H, at most 4.
    """
    places = torch.arange(len(tokens) * d).reshape(1, len(tokens), d)
    figure, axes = new_figure(columns=len(panels), width=4.8 * len(panels), height=3.4)
    words, whose = [], []
    for place, (title, cut) in zip(axes[0], panels.items(), strict=True):
        owner = np.zeros(places.numel(), dtype=int)
        for head, own in enumerate(cut(places, n_heads)[0]):
            owner[own.flatten().numpy()] = head
        table = owner.reshape(len(tokens), d)
        _cells(place, {at: (OWNERS[head], 0.3) for at, head in np.ndenumerate(table)})
        place.set_title(title)
        for (n, column), head in np.ndenumerate(table):
            place.text(column, n, str(head + 1), ha="center", va="center")
        place.set_xticks(range(d), range(1, d + 1))
        place.set_yticks(range(len(tokens)), tokens)
        place.tick_params(length=0, labelcolor="black")
        place.spines[:].set_visible(False)
        place.set_xlabel("place in the token")
        rows = "; ".join(
            f"{token} {' '.join(str(head + 1) for head in row)}"
            for token, row in zip(tokens, table, strict=True)
        )
        words.append(f"{title}: {rows}")
        reach = max(int((table == head).any(axis=1).sum()) for head in range(n_heads))
        of = "every token" if reach == len(tokens) else f"{reach} of {len(tokens)} tokens"
        whose.append(f"{title}: a head gets numbers of {of}")
    return Picture(
        figure,
        f"{len(panels)} tables of {len(tokens)} tokens with {d} numbers each; each cell says which "
        f"of {n_heads} heads gets it. {'. '.join(words)}.",
        f"{'; '.join(whose)}.",
    )
