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
ASKED = {"front": BLUE, "twin": ORANGE}
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
    figure, axes = new_figure(width=5.1, height=3.5)
    place, words = axes[0, 0], []
    looks: Any = ({"ms": 12, "mew": 2.4, "mfc": "none"}, {"ms": 6})  # a ring has room for a dot
    for row, (model, by_seed) in enumerate(shares.items()):
        for n, (seed, right) in enumerate(by_seed.items()):
            y = row + 0.24 * (n - (len(by_seed) - 1) / 2)
            place.plot(right, [y, y], color="#c4c4c4", linewidth=1.2, zorder=1)
            for share, colour, look in zip(right, ASKED.values(), looks, strict=True):
                place.plot(share, y, "o", color=colour, clip_on=False, **look)
            words.append(f"{model}, seed {seed}: {right[0]:.0%} and {right[1]:.0%}")
    first = next(iter(next(iter(shares.values())).values()))
    told = zip(first, ASKED.values(), ("the one in front", "its twin"), strict=True)
    for share, colour, name in told:  # over the first row's marks
        place.text(share, -0.45, name, color=colour, ha="right" if share > 0.8 else "center")
    place.plot([GUESS] * 2, [-0.6, len(shares) - 0.5], color=GREY, linewidth=1, zorder=0)
    place.text(GUESS + 0.02, len(shares) - 0.6, "guessing", color=GREY)
    place.set(xlim=(0, 1.03), ylim=(len(shares) - 0.5, -0.8), xlabel="right answers")
    place.set_xticks([0, 0.5, 1], ["0", "50 %", "100 %"])
    names = [model.replace("+ ", "+\n") for model in shares]
    place.set_yticks(range(len(shares)), names, ha="left", color="black")
    place.tick_params(length=0)
    place.tick_params(axis="y", pad=96)
    place.spines["left"].set_visible(False)
    both = [model for model, own in shares.items() if min(map(min, own.values())) > NEARLY]
    either = [
        model
        for model, own in shares.items()
        if min(map(max, own.values())) > NEARLY > max(map(min, own.values()))
    ]
    title = ""
    if len(either) == 1 and both:
        title = (
            f"{either[0].capitalize()} alone answers one of two questions; {both[-1]} answer both"
        )
    return Picture(
        figure,
        f"Pairs of dots, a pair a seed, {len(shares)} models: the share of right answers about the "
        f"front and about the twin; {GUESS:.0%} are right by guessing. {'; '.join(words)}.",
        f"{title}\nA pair of marks for each seed.",
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
    figure, axes = new_figure(columns=len(panels), width=3.3 * len(panels), height=4.2)
    words, shares = [], {}
    for place, (title, matrix) in zip(axes[0], panels.items(), strict=True):
        faces = dict.fromkeys(np.ndindex(matrix.shape), (GREY, 0.1))
        found: dict[str, list[float]] = {who: [] for who in ASKED}
        for n, twin in enumerate(twins):
            for m, (who, colour) in zip((n - 1, twin), ASKED.items(), strict=True):
                if m >= 0:
                    faces[n, m] = (colour, 0.12 + 0.88 * float(matrix[n, m]))
                    found[who].append(float(matrix[n, m]))
        _cells(place, faces)
        place.set_xticks(range(len(names)), names, rotation=90)
        place.set_yticks(range(len(names)), names)
        place.tick_params(length=0, labelcolor="black")
        place.spines[:].set_visible(False)
        place.set_aspect("equal")
        place.set_title(title, pad=28)
        share = {who: float(np.mean(each)) for who, each in found.items()}
        for (who, each), at in zip(share.items(), ("left", "right"), strict=True):
            own: Any = {"transform": place.transAxes, "va": "bottom", "color": ASKED[who]}
            place.text(at == "right", 1.04, f"{who} {each:.2f}", ha=at, **own)
        shares[title] = share
        told_all = ", ".join(f"{who} {each:.2f}" for who, each in share.items())
        words.append(f"{title}: {told_all}")
    single = [min(share.values()) > 0.15 for title, share in shares.items() if title in maps]
    heads = [share for title, share in shares.items() if title not in maps]
    mostly = sorted(who for share in heads for who, each in share.items() if each > 0.5)
    title = "One head blends front and twin; two heads split them"
    return Picture(
        figure,
        f"{len(panels)} tables of weights over the queue {', '.join(names)}, one row a query; the "
        "visitor in front is blue and the twin orange, the stronger the more weight. "
        f"Mean weight, {'; '.join(words)}.",
        f"{title if all(single) and mostly == [*ASKED] else ''}\n"
        "A row asks. Blue: who is in front; orange: its twin, of the same subject. Numbers: means.",
    )


@in_style
def attraction(shares: Mapping[str, Mapping[str, float]]) -> Picture:
    """Which of two nouns a verb agrees with, its subject, the first, or the nearer one.

    Args:
        shares: for each title, by the two nouns, 'king … dogs', how often the verb is singular:
            with all heads, without one, which is drawn, and without others.
    """
    figure, axes = new_figure(width=5.1, height=3.1)
    _, off, *_ = shares
    place, words, follow = axes[0, 0], [], []
    pairs = sorted(shares[off], key=lambda pair: pair.split()[-1])  # by the nearer noun
    heights = [0, 1, 2.3, 3.3]
    for y, pair in zip(heights, pairs, strict=True):
        runs, plural = shares[off][pair], pair.startswith("kings")
        for left, share, colour, is_right in (
            (0, runs, BLUE, not plural),
            (runs, 1 - runs, GREEN, plural),
        ):
            place.barh(y, share, 0.8, left, color=(colour, 0.25))
            if not is_right:
                wrong: Any = {"facecolor": "none", "edgecolor": colour, "hatch": "//"}
                place.barh(y, share, 0.8, left, linewidth=0, **wrong)
            if share > 0.1:
                look: Any = {"ha": "center", "va": "center"}
                ground: Any = {"boxstyle": "round,pad=0.2", "facecolor": "white", "linewidth": 0}
                told = f"{100 * share:.0f} %" + " wrong" * (share > 0.4 and not is_right)
                place.text(left + share / 2, y, told, bbox=None if is_right else ground, **look)
        follow.append(1 - runs if pair.endswith("s") else runs)
        words.append(f"{100 * runs:.0f} % after {pair}")
    place.set(xlim=(0, 1), ylim=(3.8, -0.5), xticks=[])
    place.set_yticks(heights, [f"{pair.split()[0]} …" for pair in pairs])
    for y, noun in zip(heights, (pair.split()[-1] for pair in pairs), strict=True):
        colour = GREEN if noun.endswith("s") else BLUE
        beside: Any = {"xycoords": ("axes fraction", "data"), "textcoords": "offset points"}
        place.annotate(
            noun, (0, y), (-42, 0), **beside, va="center_baseline", color=colour, weight="bold"
        )
    place.tick_params(length=0, labelcolor="black", pad=48)
    place.spines[:].set_visible(False)
    place.text(0, -0.6, "singular: runs", color=BLUE)
    place.text(1, -0.6, "plural: run", ha="right", color=GREEN)
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
        f"each in the singular or the plural, {off}: {', '.join(words)}.",
        f"{title}\nThe first noun is the subject."
        + (f" {' or '.join(right).capitalize()}, no verb is wrong." if right else ""),
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
            said = f"{title.capitalize()} gives a head {reach} whole tokens, not a part of each"
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
