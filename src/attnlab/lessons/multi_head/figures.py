"""Lesson 07's figures: answers by model, patterns and removals of heads, who owns which number."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import torch
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap
from matplotlib.patches import Patch, Rectangle

from attnlab.figures.arrays import as_array
from attnlab.figures.picture import (
    BLUE,
    GREY,
    ORANGE,
    WEIGHT_COLOURS,
    Picture,
    new_figure,
)

Numbers = Any  # nested lists, an array or a tensor
OWNERS = ListedColormap(["#cfe3f3", "#f7d9c4", "#cdeee2", "#f3dfeb"])  # pale, under black digits


def two_answers(shares: Mapping[str, Mapping[int, tuple[float, float]]]) -> Picture:
    """How many answers to two questions are right, by model and seed.

    Args:
        shares: for each model, for each seed, the share of right answers to each question.
    """
    figure, axes = new_figure(columns=len(shares), width=3.4 * len(shares), height=3.4, sharey=True)
    questions = (("who is in front", BLUE, ""), ("the twin", ORANGE, "//"))
    words = []
    for place, (model, by_seed) in zip(axes[0], shares.items(), strict=True):
        for at, (question, colour, hatch) in enumerate(questions):
            heights = [each[at] for each in by_seed.values()]
            across = np.arange(len(by_seed)) + (at - 0.5) * 0.42
            bars = place.bar(
                across, heights, 0.4, color=colour, hatch=hatch, edgecolor="white", label=question
            )
            place.bar_label(bars, [f"{100 * height:.0f}" for height in heights], padding=2)
        place.axhline(0.25, color=GREY, linewidth=1)
        if place is axes[0, -1]:
            beside: Any = {"xycoords": ("axes fraction", "data"), "textcoords": "offset points"}
            place.annotate("guessing", (1, 0.25), (4, 0), **beside, color=GREY, va="center")
        place.set_xticks(range(len(by_seed)), [f"seed {seed}" for seed in by_seed])
        place.set_title(model)
        told = (f"{100 * f:.0f} and {100 * t:.0f} % by seed {n}" for n, (f, t) in by_seed.items())
        words.append(f"{model}: {', '.join(told)}")
    axes[0, 0].set(ylim=(0, 1.15), ylabel="share of right answers")
    axes[0, 0].set_yticks([0, 0.25, 0.5, 0.75, 1], ["0 %", "25 %", "50 %", "75 %", "100 %"])
    handles, labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, frameon=False, loc="outside lower center", ncols=2)
    return Picture(
        figure,
        f"{len(shares)} panels of bars, the share of right answers to two questions, who is in "
        f"front and who the twin is, and a line at 25 %, which is guessing. {'; '.join(words)}.",
    )


def _frame(place: Axes, row: int, column: int, line: str) -> None:
    for colour, width in (("black", 3.0), ("white", 1.4)):  # shows on every colour below it
        place.add_patch(
            Rectangle(
                (column - 0.5, row - 0.5), 1, 1, fill=False, edgecolor=colour, lw=width, ls=line
            )
        )


def patterns(panels: Mapping[str, Numbers], names: Sequence[str]) -> Picture:
    """Weights of heads over one queue, with the two visitors that each row has to find.

    Args:
        panels: for each title, (N, N) weights; an even number of them, two a row.
        names: N visitors, 'art 3': each subject stands twice.
    """
    subjects = [name.split()[0] for name in names]
    twins = [
        next(m for m, other in enumerate(subjects) if other == mine and m != n)
        for n, mine in enumerate(subjects)
    ]
    rows = len(panels) // 2
    figure, axes = new_figure(columns=2, rows=rows, width=7.8, height=4.1 * rows)
    words = []
    for place, (title, weights) in zip(axes.flat, panels.items(), strict=True):
        matrix = as_array(weights)
        image = place.imshow(matrix, cmap=WEIGHT_COLOURS, vmin=0, vmax=1)
        place.set_title(title)
        place.set_xticks(range(len(names)), names, rotation=90)
        place.set_yticks(range(len(names)), names)
        place.tick_params(length=0)
        place.spines[:].set_visible(False)
        for n, twin in enumerate(twins):
            _frame(place, n, twin, "--")
            if n:
                _frame(place, n, n - 1, "-")
        front = np.mean([matrix[n, n - 1] for n in range(1, len(names))])
        at_twin = np.mean([matrix[n, twin] for n, twin in enumerate(twins)])
        words.append(f"{title}: {front:.2f} on the visitor in front, {at_twin:.2f} on the twin")
    for lowest in axes[-1]:
        lowest.set_xlabel("keys")
    for leftmost in axes[:, 0]:
        leftmost.set_ylabel("queries")
    figure.colorbar(image, ax=axes, label="weight", shrink=0.5)
    frames = [("-", "who stands in front"), ("--", "the twin")]
    figure.legend(
        handles=[Patch(fill=False, lw=1.6, ls=line, label=label) for line, label in frames],
        title="should be looked at:",
        loc="outside lower center",
        ncols=2,
        frameon=False,
    )
    return Picture(
        figure,
        f"{len(panels)} heatmaps of weights over the queue {', '.join(names)}, one row a query. "
        f"Mean weight, {'; '.join(words)}.",
    )


def attraction(shares: Mapping[str, Mapping[str, float]]) -> Picture:
    """How many verbs agree with their subject, the first of two nouns, with and without heads.

    Args:
        shares: for each title, by the two nouns, 'king … dogs', how often the verb is singular.
    """
    figure, axes = new_figure(columns=len(shares), width=3.6 * len(shares), height=3.4, sharey=True)
    words = []
    for place, (title, by_nouns) in zip(axes[0], shares.items(), strict=True):
        right = {
            nouns.replace("… ", "…\n"): 1 - share if nouns.startswith("kings") else share
            for nouns, share in by_nouns.items()
        }
        wrong = [1 - share for share in right.values()]
        agree = place.bar([*right], [*right.values()], 0.7, color=BLUE, label="agree: right")
        place.bar(
            [*right],
            wrong,
            0.7,
            [*right.values()],
            color=ORANGE,
            hatch="//",
            edgecolor="white",
            label="do not: wrong",
        )
        percent = [f"{100 * share:.0f} %" for share in right.values()]
        for bar, label in zip(agree, percent, strict=True):
            place.text(bar.get_x() + 0.35, 1.03, label, ha="center", color=BLUE)
        place.set_title(title)
        told = (f"{each} after {nouns}" for each, nouns in zip(percent, by_nouns, strict=True))
        words.append(f"{title}: {', '.join(told)}")
    axes[0, 0].set(ylim=(0, 1.15), ylabel="verbs that agree")
    axes[0, 0].set_yticks([0, 0.5, 1], ["0 %", "50 %", "100 %"])
    handles, labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, frameon=False, loc="outside lower center", ncols=2)
    return Picture(
        figure,
        f"{len(shares)} panels of four bars, the share of verbs that agree with the subject, after "
        "a subject and a noun nearer to the verb, each in the singular or the plural. "
        f"{'; '.join(words)}.",
    )


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
    figure, axes = new_figure(columns=len(panels), width=5.4 * len(panels), height=3.2)
    words = []
    for place, (title, cut) in zip(axes[0], panels.items(), strict=True):
        owner = np.zeros(places.numel(), dtype=int)
        for head, own in enumerate(cut(places, n_heads)[0]):
            owner[own.flatten().numpy()] = head
        table = owner.reshape(len(tokens), d)
        place.imshow(table, cmap=OWNERS, vmin=-0.5, vmax=3.5, aspect="auto")
        place.set_title(title)
        for (n, column), head in np.ndenumerate(table):
            place.text(column, n, str(head + 1), ha="center", va="center", fontsize=10)
        place.set_xticks(range(d), range(1, d + 1))
        place.set_yticks(range(len(tokens)), tokens)
        place.set_xticks(np.arange(d + 1) - 0.5, minor=True)
        place.set_yticks(np.arange(len(tokens) + 1) - 0.5, minor=True)
        place.grid(which="minor", color="white", linewidth=1.5)
        place.tick_params(which="both", length=0)
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
    )
