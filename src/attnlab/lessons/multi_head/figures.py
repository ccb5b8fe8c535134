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
    QUIET,
    Picture,
    in_style,
    new_figure,
)

Numbers = Any  # nested lists, an array or a tensor
GUESS, NEARLY = 0.25, 0.95  # right answers: by chance, and nearly all
ASKED = {"front": BLUE, "twin": ORANGE}
ELSEWHERE = "elsewhere"
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
        shares: for each model, for each seed, the share of right answers about the front and the
            twin.
    """
    figure, axes = new_figure(columns=len(shares), width=3.25 * len(shares), height=3.6)
    words = []
    for place, (model, by_seed) in zip(axes[0], shares.items(), strict=True):
        place.axhline(GUESS, color=GREY, linewidth=1, linestyle=":", zorder=0)
        for n, (seed, right) in enumerate(by_seed.items()):
            aside = 0.05 * (n - (len(by_seed) - 1) / 2)  # lines of one height are told apart
            ends = [aside, 1 + aside]
            place.plot(ends, right, color="#8c8c8c", linewidth=3, clip_on=False, zorder=1)
            for x, share, colour in zip(ends, right, ASKED.values(), strict=True):
                place.plot(x, share, "o", color=colour, ms=11, mec="white", clip_on=False)
            words.append(f"{model}, seed {seed}: {right[0]:.0%} and {right[1]:.0%}")
        place.set_title(model, pad=16)
        place.set(xlim=(-0.35, 1.35), ylim=(0, 1))
        place.set_xticks([0, 1], ["number\nin front", "number of\nits twin"])
        place.set_yticks([0, GUESS, 0.5, 1], ["0", "guess", "50 %", "100 %"])
        place.tick_params(length=0)
        for label, colour in zip(place.get_xticklabels(), ASKED.values(), strict=True):
            label.set_color(colour)
    both = [model for model, own in shares.items() if min(map(min, own.values())) > NEARLY]
    either = [
        model
        for model, own in shares.items()
        if min(map(max, own.values())) > NEARLY > max(map(min, own.values()))
    ]
    title = ""
    if len(either) == 1 and len(both) == len(shares) - 1 > 0:
        title = f"{either[0].capitalize()} alone answers one of two questions well; the others both"
    return Picture(
        figure,
        f"{len(shares)} panels, one a model, with a line for each seed, from the share of right "
        f"answers about the front to that about the twin; {GUESS:.0%} are right by guessing. "
        f"{'; '.join(words)}.",
        f"{title}\nShare of right answers to each question; a line for each seed.",
    )


@in_style
def patterns(maps: Mapping[str, Numbers], names: Sequence[str]) -> Picture:
    """Weights of heads over one queue, with the two visitors that each row has to find.

    Args:
        maps: for each model, (1, H, N, N) weights.
        names: N visitors, 'art 3': each subject stands twice.
    """
    subjects = [name.split()[0] for name in names]
    twins = [
        next(m for m, other in enumerate(subjects) if other == mine and m != n)
        for n, mine in enumerate(subjects)
    ]
    panels = {
        f"{model}: head {head + 1}" if len(own[0]) > 1 else model: as_array(weights)
        for model, own in maps.items()
        for head, weights in enumerate(own[0])
    }
    figure, axes = new_figure(columns=len(panels), width=3.3 * len(panels), height=4.5)
    words, shares = [], {}
    for place, (title, matrix) in zip(axes[0], panels.items(), strict=True):
        faces = {at: (GREY, 0.1 + 0.9 * float(weight)) for at, weight in np.ndenumerate(matrix)}
        found: dict[str, list[float]] = {who: [] for who in (*ASKED, ELSEWHERE)}
        for n, twin in enumerate(twins):
            for m, colour in zip((n - 1, twin), ASKED.values(), strict=True):
                if m >= 0:
                    faces[n, m] = (colour, 0.12 + 0.88 * float(matrix[n, m]))
            if n:  # a row that has both
                both = (matrix[n, n - 1], matrix[n, twin])
                others = matrix[n].sum() - matrix[n, [*{n - 1, twin}]].sum()
                for own, weight in zip(found.values(), (*both, others), strict=True):
                    own.append(float(weight))
        _cells(place, faces)
        place.set_xticks(range(len(names)), names, rotation=90)
        place.set_yticks(range(len(names)), names)
        place.tick_params(length=0, labelcolor="black")
        place.spines[:].set_visible(False)
        place.set_aspect("equal")
        place.set_title(title, pad=48)
        share = {who: float(np.mean(each)) for who, each in found.items()}
        spots = (("left", 1.15), ("right", 1.15), ("left", 1.03))
        for (who, each), (at, y) in zip(share.items(), spots, strict=True):
            aside: Any = {"transform": place.transAxes, "va": "bottom", "ha": at}
            colour = ASKED.get(who, QUIET)
            place.text(at == "right", y, f"{who} {each:.2f}", color=colour, **aside)
        shares[title] = share
        told_all = ", ".join(f"{who} {each:.2f}" for who, each in share.items())
        words.append(f"{title}: {told_all}")
    both_of = {title: {who: share[who] for who in ASKED} for title, share in shares.items()}
    single = [min(share.values()) > 0.15 for title, share in both_of.items() if title in maps]
    heads = [share for title, share in both_of.items() if title not in maps]
    mostly = sorted(who for share in heads for who, each in share.items() if each > 0.5)
    title = "One head blends front and twin; two heads split them"
    return Picture(
        figure,
        f"{len(panels)} tables of weights over the queue {', '.join(names)}, one row a query; the "
        "visitor in front is blue, the twin orange, others are grey, the stronger the more weight. "
        f"Mean weight of rows that have both, {'; '.join(words)}.",
        f"{title if all(single) and mostly == [*ASKED] else ''}\n"
        "A row asks. Blue: who is in front; orange: its twin, of the same subject. "
        "Numbers: means of rows that have both.",
    )


@in_style
def attraction(shares: Mapping[str, Mapping[str, float]]) -> Picture:
    """Which of two nouns a verb agrees with, its subject, the first, or the nearer one.

    Args:
        shares: for each title, by the two nouns, 'king … dogs', how often the verb is singular:
            with all heads and without one, which are drawn, and without others.
    """
    with_all, off, *_ = shares
    figure, axes = new_figure(columns=2, width=9.8, height=3.5)
    pairs = sorted(shares[off], key=lambda pair: pair.split()[-1])  # by the nearer noun
    heights, words = [0, 1, 2.3, 3.3], []
    for place, title in zip(axes[0], (with_all, off), strict=True):
        for y, pair in zip(heights, pairs, strict=True):
            first, nearer = pair.split(" … ")
            runs = shares[title][pair]
            for left, share, number in ((0, runs, BLUE), (runs, 1 - runs, GREEN)):
                is_right = (number == GREEN) == first.endswith("s")
                place.barh(y, share, 0.84, left, color=(number, 0.22 if is_right else 1))
                if share > 0.1:
                    told = f"{100 * share:.0f} %" + " wrong" * (share > 0.4 and not is_right)
                    look: Any = {"weight": "bold", "color": "black" if is_right else "white"}
                    place.text(left + share / 2, y, told, ha="center", va="center_baseline", **look)
            beside: Any = {"xycoords": ("axes fraction", "data"), "textcoords": "offset points"}
            beside |= {"va": "center_baseline", "ha": "left"}
            for noun, aside, more in ((f"{first} …", -103, {}), (nearer, -46, {"weight": "bold"})):
                colour = GREEN if noun.split()[0].endswith("s") else BLUE
                place.annotate(noun, (0, y), (aside, 0), **beside, color=colour, **more)
        told_all = ", ".join(f"{100 * shares[title][pair]:.0f} % after {pair}" for pair in pairs)
        words.append(f"{title}: {told_all}")
        place.set(xlim=(0, 1), ylim=(3.8, -1.1), xticks=[], yticks=[])
        place.set_title(title, color="black")
        place.spines[:].set_visible(False)
        place.text(0, -0.65, "singular: runs", color=BLUE)
        place.text(1, -0.65, "plural: run", ha="right", color=GREEN)
    follow = [abs(shares[off][pair] - pair.endswith("s")) for pair in pairs]
    right = [
        title
        for title, own in shares.items()
        if all(
            (share < 0.005) if n.startswith("kings") else (share > 0.995)
            for n, share in own.items()
        )
    ]
    title = f"{off.capitalize()}, the nearer noun mostly decides the verb" * (min(follow) > 0.5)
    return Picture(
        figure,
        "Bars, the share of verbs in the singular after a subject and a noun nearer to the verb, "
        f"each in the singular or the plural; what is wrong is strong. {'; '.join(words)}.",
        f"{title}\nThe first noun is the subject."
        + (f" No verb is wrong {', nor '.join(right)}." if right else ""),
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
    words: list[str] = []
    said = ""
    for place, (title, cut) in zip(axes[0], panels.items(), strict=True):
        owner = np.zeros(places.numel(), dtype=int)
        for head, own in enumerate(cut(places, n_heads)[0]):
            owner[own.flatten().numpy()] = head
        table = owner.reshape(len(tokens), d)
        _cells(place, {at: (OWNERS[head], 0.3) for at, head in np.ndenumerate(table)})
        for head in range(n_heads):
            column = np.argwhere(table == head).mean(axis=0)[1]
            row = np.argwhere(table == head)[0, 0]
            ground: Any = {"boxstyle": "round,pad=0.25", "facecolor": OWNERS[head], "linewidth": 0}
            name: Any = {"ha": "center", "va": "center", "color": "white", "weight": "bold"}
            place.text(column, row, f"head {head + 1}", bbox=ground, **name)
        reach = int((table == 0).any(axis=1).sum())
        is_whole = (table == 0).sum() == reach * d
        place.set_title(f"{'✗' if is_whole else '✓'} {title}")
        if is_whole:
            said = f"{title.capitalize()} gives each head {reach} whole tokens, not a part of each"
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
    return Picture(
        figure,
        f"{len(panels)} tables of {len(tokens)} tokens with {d} numbers each; each cell says which "
        f"of {n_heads} heads gets it. {'. '.join(words)}.",
        said,
    )
