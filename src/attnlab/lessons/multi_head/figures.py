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
GUESS, NEARLY = 0.25, 0.95  # right answers: by chance, and nearly all
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
    figure, axes = new_figure(width=5.05, height=4.7)
    place, words, both = axes[0, 0], [], []
    spots: dict[tuple[float, float], list[str]] = {}  # dots that lie on each other, by model
    for model, by_seed in shares.items():
        answers = min(map(min, by_seed.values())) > NEARLY
        if answers:
            both.append(f"“{model}”")
        here: dict[tuple[float, float], list[int]] = {}
        for seed, (front, twin) in by_seed.items():
            place.plot(
                front, twin, "o", color=BLUE if answers else ORANGE, markersize=12, clip_on=False
            )
            here.setdefault((round(front, 1), round(twin, 1)), []).append(seed)
        for spot, seeds in here.items():
            some = f"seed{'s' * (len(seeds) > 1)} {_and(seeds)}"
            told = model if len(seeds) == len(by_seed) else f"{model}, {some}"
            spots.setdefault(spot, []).append(told)
        per_seed = (
            f"{100 * f:.0f} and {100 * t:.0f} % by seed {n}" for n, (f, t) in by_seed.items()
        )
        words.append(f"{model}: {', '.join(per_seed)}")
    for (x, y), lines in spots.items():
        is_right = x > 0.5  # then below it, else left of it
        place.annotate(
            "\n".join(lines) if is_right else "\n".join(lines).replace(", ", ",\n"),
            (x, y),
            (8, -12) if is_right else (-12, 0),
            textcoords="offset points",
            ha="right",
            va="top" if is_right else "center",
            linespacing=1.4,
        )
    place.set(xlim=(0, 1.03), ylim=(0, 1.06), aspect="equal", anchor="W")
    ticks = [0, GUESS, 0.5, 1], ["0", "guess", "half", "all"]
    place.set_xticks(*ticks)
    place.set_yticks(*ticks)
    place.set_xlabel("right answers about the front")
    place.set_ylabel("right answers about the twin")
    return Picture(
        figure,
        f"A dot for each model and seed: to the right the share of right answers to who is in "
        f"front, upward to who the twin is; 25 % are right by guessing. "
        f"{'; '.join(words)}.",
        f"Who answers both questions? {' and '.join(both) or 'Nobody'}\n"
        "A dot for each model and seed. Where no seed is named, those of all seeds lie there.",
    )


def _and(seeds: Sequence[int]) -> str:
    *most, last = map(str, seeds)
    return f"{', '.join(most)} and {last}" if most else last


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
        place.set_xlabel("keys")
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
        shares[title] = {"the front": float(front), "the twin": float(at_twin)}
        words.append(f"{title}: {front:.2f} on the visitor in front, {at_twin:.2f} on the twin")
    shared = [title for title, each in shares.items() if min(each.values()) > 0.15]
    alone = [
        f"{_listed([title])} looks mostly at {max(each, key=lambda who: each[who])}"
        for title, each in shares.items()
        if min(each.values()) < 0.1 and max(each.values()) > 0.5
    ]
    found = (
        f"{_listed(shared)} split a look between two visitors; {', '.join(alone)}."
        if len(shared) > 1 and alone
        else ""
    )
    return Picture(
        figure,
        f"{len(panels)} tables of weights over the queue {', '.join(names)}, one row a query; the "
        "visitor in front is blue and the twin orange, the stronger the more weight. "
        f"Mean weight, {'; '.join(words)}.",
        f"{found}\nA row asks; keys stand in the same order. Blue is the visitor in front, orange "
        "the twin, grey all others: the stronger, the more weight.",
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
    words, worst, nearer = [], (1.0, "", ""), {}
    for place, (title, by_nouns) in zip(axes[0], shares.items(), strict=True):
        right = {
            nouns.replace("… ", "…\n"): 1 - share if nouns.startswith("kings") else share
            for nouns, share in by_nouns.items()
        }
        nearer[title] = min(
            1 - share if nouns.endswith("s") else share for nouns, share in by_nouns.items()
        )
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
        f"Verbs that agree with their subject: {title}, the nearer noun mostly decides, and after "
        f"\u201c{nouns}\u201d {100 * share:.0f} % are right."
        if share < 0.5 < nearer[title]
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
        for head in range(n_heads):
            own = np.argwhere(table == head)
            middle, whole = own.mean(axis=0), np.ptp(own, axis=0) + 1
            said = (middle,) if whole.prod() == len(own) else own  # once where they are one region
            for row, column in said:
                name: Any = {"ha": "center", "va": "center", "color": OWNERS[head]}
                place.text(column, row, f"head {head + 1}", weight="bold", **name)
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
