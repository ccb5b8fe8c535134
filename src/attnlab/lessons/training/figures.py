"""Lesson 10's figures: a training while it runs, what it ends with, and what its maps show."""

from __future__ import annotations

import html
import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from time import monotonic
from types import TracebackType
from typing import Any, Self

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from attnlab.figures.arrays import as_array
from attnlab.figures.picture import (
    BLUE,
    GREEN,
    GREY,
    HATCH,
    ORANGE,
    PAGE,
    PURPLE,
    Picture,
    in_style,
    name_lines,
    new_figure,
    with_looks,
)

LINES = tuple(zip((BLUE, ORANGE, GREEN, PURPLE, GREY), ("-", "--", "-.", ":", "-"), strict=True))
BESIDE = 1.5  # from the left of one column of bars to that of the next; a bar is 1 at most
BY_POINTS: Any = {"textcoords": "offset points"}
SOME = 0.3  # of a row's weight, or of the answers; what is more is named
RIGHT = {"like": "like", "hate": "hate", "not like": "hate", "not hate": "like"}
COIN = "a coin"  # what `phrases.answers` says where no word gets most of the probability
PAUSE = 1.0  # seconds between two drawings of a training
# The family of sentences: in each, *it* means the animal or the thing.
ANIMALS = ("animal", "dog", "cat", "horse", "llama", "child", "bird")
THINGS = ("street", "bridge", "river", "road", "path", "field", "gate")
VERBS = ("cross", "enter", "leave")
OF_ANIMALS = ("tired", "scared", "sleepy", "hungry")
OF_THINGS = ("wide", "narrow", "long", "crowded")


def sentences() -> list[tuple[list[str], int]]:
    """All sentences of the family, with the place of the noun that *it* means: 1 or 5."""
    chosen = itertools.product(ANIMALS, VERBS, THINGS, (*OF_ANIMALS, *OF_THINGS))
    return [
        (
            f"the {animal} didn't {verb} the {thing} because it was too {adjective}".split(),
            1 if adjective in OF_ANIMALS else 5,
        )
        for animal, verb, thing, adjective in chosen
    ]


class Watch:
    """Shows a training while it runs: how far it is, and its loss so far.

        with figures.training.Watch("plain block", 500) as watch:
            for step in watch:
                watch.losses.append(train_step(...))

    What it leaves behind is a line of text, the same on every machine.
    """

    def __init__(self, name: str, steps: int) -> None:
        self.losses: list[float] = []
        self.name, self._steps = name, steps
        self._drawn = 0.0
        self._place: Any = None

    def __enter__(self) -> Self:
        from IPython.display import display

        self._place = display(self._bundle(), raw=True, display_id=True)
        self._drawn = monotonic()
        return self

    def __iter__(self) -> Iterator[int]:
        for step in range(self._steps):
            if monotonic() - self._drawn > PAUSE and self.losses:
                self._show(self._bundle(step))
                self._drawn = monotonic()
            yield step

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        tb: TracebackType | None,
    ) -> None:
        self._show(self._bundle())

    def _show(self, bundle: dict[str, str]) -> None:
        if self._place is not None:  # outside of a notebook there is no place to draw
            self._place.update(bundle, raw=True)

    def _bundle(self, step: int = -1) -> dict[str, str]:
        """What is shown: at a step the plot so far, before and after all steps a line of text."""
        name, steps = html.escape(self.name), self._steps
        if step < 0:
            text = f"training: {self.name}, {steps} steps"
            return {"text/plain": text, "text/html": html.escape(text)}
        label = f"{name}: step {step} of {steps}, loss {self.losses[-1]:.3f}"
        bar = f'<progress max="{steps}" value="{step}" aria-label="{name}"></progress> {label}'
        picture = losses({self.name: self.losses}, most=steps)._repr_mimebundle_()["text/html"]
        return {"text/plain": label, "text/html": f"<div>{bar}</div>{picture}"}


class Diary(Watch):
    """Notes besides what a model writes, and its losses, at the start, on the way and at the end.

    Args:
        name, steps: of the training.
        write: what the model writes now.
        measure: its loss on some part of the text now.
        parts: of the text, by what they are called.

    Attributes:
        name: of the training.
        reads: letters that it trains on.
        pages: what it wrote, by step.
        curves: for each part, the losses at every 20th step and at the end.
    """

    EVERY = 20
    WRITES = (0, 20, 100, 400)  # and at the end

    def __init__(
        self,
        name: str,
        steps: int,
        write: Callable[[], str],
        measure: Callable[[Any], float],
        parts: Mapping[str, Any],
    ) -> None:
        super().__init__(name, steps)
        self.pages: dict[int, str] = {}
        self.curves: dict[str, list[float]] = {f"{name}, {part}": [] for part in parts}
        self.reads = len(next(iter(parts.values())))
        self._write, self._measure, self._parts = write, measure, parts

    def __iter__(self) -> Iterator[int]:
        for step in super().__iter__():
            if step % self.EVERY == 0:
                self._note(step)
            yield step
        self._note(self._steps)

    def _note(self, step: int) -> None:
        for curve, part in zip(self.curves.values(), self._parts.values(), strict=True):
            curve.append(self._measure(part))
        if step in (*self.WRITES, self._steps):
            self.pages[step] = self._write()
            ends = zip(self._parts, self.curves.values(), strict=True)
            now = ", ".join(f"{part} {curve[-1]:.2f}" for part, curve in ends)
            print(f"{step:5} steps, loss {now}: {self.pages[step]!r}")


@in_style
def losses(curves: Mapping[str, Sequence[float]], most: int = 0) -> Picture:
    """Training losses.

    Args:
        curves: for each model, its losses; five at most.
        most: steps that the axis has room for; 0 for as many as there are.
    """
    figure, axes = new_figure(width=7.6, height=3.4)
    place = axes[0, 0]
    for (name, curve), (colour, line) in with_looks(curves.items(), LINES):
        place.plot(as_array(curve), color=colour, linestyle=line, linewidth=2, label=name)
    words = "; ".join(
        f"{name}: from {curve[0]:.1f} to {curve[-1]:.1f}" for name, curve in curves.items()
    )
    longest = max(map(len, curves.values()))
    place.set(xlabel="step", ylabel="loss, nats", ylim=(-0.03, None), xlim=(0, most or longest))
    name_lines(place)
    return Picture(figure, f"Loss over {longest} steps. {words}.")


@in_style
def overfitting(diaries: Sequence[Diary]) -> Picture:
    """For each training the loss on what it reads and on what is held out, and the gap between.

    Args:
        diaries: of two trainings, the longer one first, with two parts of a text: read, held out.
    """
    figure, axes = new_figure(columns=len(diaries), width=4.9 * len(diaries), height=3.9)
    said, axis = [], []
    top = max(max(curve) for diary in diaries for curve in diary.curves.values())
    for place, (diary, colour) in zip(axes[0], with_looks(diaries, (BLUE, ORANGE)), strict=True):
        read, held_out = diary.curves.values()
        steps = [diary.EVERY * n for n in range(len(read))]
        low = int(np.argmin(held_out))
        place.fill_between(steps, read, held_out, color=colour, alpha=0.15, linewidth=0)
        for (name, curve), line in zip(diary.curves.items(), ("-", "--"), strict=True):
            above = curve is held_out
            place.plot(steps, curve, line, color=colour, linewidth=3.5)
            place.annotate(
                f"{'held out' if above else 'training'} {curve[-1]:.1f}",
                (steps[-1], curve[-1]),
                (0, 9 if above else -9),
                textcoords="offset points",
                ha="right",
                va="bottom" if above else "top",
                color=colour,
            )
            said.append(f"{name}: from {curve[0]:.1f} to {curve[-1]:.1f} at step {steps[-1]}")
        place.set(xlabel="step", xlim=(0, steps[-1]), ylim=(0, top))
        place.set_xticks(sorted({0, steps[low], steps[-1]}))
        axis.append(f"{diary.reads:,} letters, {steps[-1]:,} steps")
        place.set_yticks(range(0, math.ceil(top), 2))
        place.tick_params(length=0)
        place.set_title(f"loss with {diary.reads:,} letters, nats", color=colour)
    place.plot(steps[low], held_out[low], "o", color=colour, markersize=12, mec="white")
    place.annotate(
        f"lowest {held_out[low]:.1f}",
        (steps[low], held_out[low]),
        (0, 22),
        textcoords="offset points",
        color=colour,
        ha="center",
    )
    heading = f"With {diary.reads:,} letters the held-out loss is lowest at the end"
    if held_out[-1] > held_out[low]:
        goes = "falls" if read[-1] < read[low] else "too"
        heading = f"Too little text: past step {steps[low]} held-out loss rises, training {goes}"
    return Picture(
        figure,
        f"Losses over steps. {'; '.join(said)}. The last one is lowest at step {steps[low]}, "
        f"{held_out[low]:.1f}.",
        f"{heading}\n{'; '.join(axis)}.",
    )


def _number_line(place: Axes, like: float, no: float, hate: float) -> None:
    """Where the phrases may lie, for one number of *not*: blue where that is correct."""
    place.axhline(0, color="#b5b5b5", linewidth=1.5, zorder=0)
    place.axvline(0, color="#b5b5b5", linewidth=1.5, linestyle="--", zorder=0)
    ground: Any = {"boxstyle": "square,pad=0.05", "facecolor": "white", "linewidth": 0}
    for word, number in (("hate", hate), ("not", no), ("like", like)):
        place.plot([number], [0], "o", color="black", markersize=9)
        told = f"{word}\n{f'{number:+g}' if number else 0}".replace("-", "−")
        place.text(number, -0.25, told, ha="center", va="top", bbox=ground)
    # On which side a phrase is correct.
    for height, phrase, number, to in ((-2.1, "not like", like, -1), (-3.5, "not hate", hate, 1)):
        place.text(min(no, number) + 0.08, height + 0.4, phrase, va="bottom", bbox=ground)
        for start, end in [(0, no), (0, number)] if no * number < 0 else [(number, no)]:
            colour, word = (BLUE, "correct") if end * to > 0 else (ORANGE, "wrong")
            place.barh(height, end - start, 0.6, start, color=colour)
            middle = (start + end) / 2, height - 0.02
            place.text(*middle, word, color="white", ha="center", va="center")
    place.text(-0.2, 0.62, "← hostile", color=GREY, ha="right", va="center")
    place.text(0.2, 0.62, "friendly →", color=GREY, va="center")
    place.set(ylim=(-3.9, 0.85), xlim=(-4.4, 4.4), xticks=[], yticks=[])
    place.spines[:].set_visible(False)


@in_style
def between(like: float = 2.0, hate: float = -2.0, no: float = 4.0) -> Picture:
    """Between which numbers the phrases of two words lie, for *not* on either side.

    Args:
        like, hate: the numbers of those words.
        no: size of the number of *not*.
    """
    figure, axes = new_figure(columns=3, width=10, height=3.8)
    for place, where, number in zip(axes[0], ("below", "at", "above"), (-no, 0, no), strict=True):
        _number_line(place, like, number, hate)
        place.set_title(f"“not” {where} 0")
    return Picture(
        figure,
        f"Three number lines with hate at {hate:g} and like at {like:g}, and under each a bar for "
        f"where a phrase can lie. First, not at {-no:g}: the bar of not like reaches from {-no:g}, "
        f"correct, over 0 to {like:g}, wrong; the bar of not hate, from {-no:g} to {hate:g}, is "
        f"all wrong. Then, not at 0: both bars, from 0 to {like:g} and from {hate:g} to 0, are all "
        f"wrong. Then, not at {no:g}: the bar of not like, from {like:g} to {no:g}, is all "
        f"wrong; the bar of not hate reaches from {hate:g}, wrong, over 0 to {no:g}, correct.",
        "Wherever “not” stands, at least one phrase is always wrong\n"
        "A bar: every blend that attention can make of the two words.",
    )


@in_style
def stalled(curves: Mapping[str, Sequence[float]], answers: Mapping[str, str]) -> Picture:
    """Losses of several trainings that end at the price of two coins, and what each answers.

    Args:
        curves: for each training, its losses.
        answers: for each, as 'like → like, hate → a coin', what it says to each phrase.
    """
    said = {
        name: dict(each.split(" → ") for each in told.split(", ")) for name, told in answers.items()
    }
    phrases, floor = list(next(iter(said.values()))), math.log(2) / 2
    figure, [[loss, table]] = new_figure(columns=2, width=9.6, height=3.5)
    for curve in curves.values():
        loss.plot(range(1, len(curve) + 1), as_array(curve), color=BLUE, linewidth=2, alpha=0.7)
    longest, ends = max(map(len, curves.values())), [curve[-1] for curve in curves.values()]
    loss.axhline(floor, color=ORANGE, linewidth=1.5, linestyle="--")
    loss.axhspan(0, floor, color=ORANGE, alpha=0.1, linewidth=0)
    loss.text(1.15, floor / 2, "½ log 2: two right, two guessed", color=ORANGE, va="center")
    loss.set(xscale="log", xlim=(1, longest), ylim=(0, None), xlabel="step")
    loss.set_xticks([1, 10, 100, longest], ["1", "10", "100", f"{longest}"])
    loss.minorticks_off()
    loss.set_title("loss: no training gets below ½ log 2")
    table.set_title("the likeliest answer, ✓ where right")
    counts = []
    for n, each in enumerate(said.values()):
        counts.append(sum(word == COIN for word in each.values()))
        for m, word in enumerate(each.values()):
            is_coin = word == COIN
            cell = Rectangle(
                (m - 0.47, n - 0.44), 0.94, 0.88, facecolor=ORANGE if is_coin else (BLUE, 0.16)
            )
            cell.set_edgecolor("none")
            table.add_patch(cell)
            ink = {"color": "white", "weight": "bold"} if is_coin else {"color": "black"}
            mark = " ✓" if word == RIGHT[phrases[m]] else ""
            table.text(m, n, "guess" if is_coin else word + mark, ha="center", va="center", **ink)
    table.set_xticks(range(len(phrases)), phrases)
    table.set_yticks(range(len(said)), said)
    table.set(xlim=(-0.5, len(phrases) - 0.5), ylim=(len(said) - 0.45, -0.55))
    table.tick_params(length=0, labelcolor="black")
    table.spines[:].set_visible(False)
    every = f"{min(counts)}" if len(set(counts)) == 1 else f"{min(counts)} to {max(counts)}"
    return Picture(
        figure,
        f"Losses over {longest} steps: they end at {min(ends):.2f} to {max(ends):.2f}, at a line "
        f"at {floor:.2f}, ½ log 2. A table of answers: "
        f"{'; '.join(f'{name}: {told}' for name, told in answers.items())}.",
        f"{'Every training' if min(counts) else 'A training'} must guess on {every} of the "
        f"{len(phrases)} phrases",
    )


@in_style
def shown_and_needed(
    shown: Mapping[str, Any], needed: Mapping[str, Any], words: Sequence[str]
) -> Picture:
    """For each model the word that the answers hang on, and the weight that a map shows for it.

    Args:
        shown: for each model, (M,) weights of “it”.
        needed: for each, (M,) shares of answers that flip with a word's row.
        words: M labels, one of them “it”.
    """
    figure, [[place]] = new_figure(width=PAGE, height=0.8 + 0.42 * len(shown))
    found = []
    for name, weights in shown.items():
        flips = as_array(needed[name])
        at = int(flips.argmax())
        found.append((float(as_array(weights)[at]), float(flips[at]), name, words[at]))
    found.sort(key=lambda each: each[0])
    missed = [each for each in found if each[0] < SOME]
    for y, (weight, share, *_) in enumerate(found):
        pale = {"alpha": 0.4 if missed and weight >= SOME else 1.0}
        bars = (0, weight, f"{weight:.2f}", BLUE), (BESIDE, share, f"{100 * share:.0f} %", ORANGE)
        for start, length, said, colour in bars:
            place.barh(y, length, 0.6, start, color=colour, **pale)
            place.annotate(said, (start + length, y), (6, 0), **BY_POINTS, va="center")
    for x, head in (0, "its weight"), (BESIDE, "answers it flips"):
        place.annotate(head, (x, -0.5), (0, 6), **BY_POINTS)
        place.plot([x, x], [-0.5, len(found) - 0.5], color=HATCH, linewidth=1)
    aside: Any = {"xycoords": place.get_yaxis_transform(), "va": "center", **BY_POINTS}
    for y, (*_, name, word) in enumerate(found):
        for left, said in (150, name), (92, "“it” itself" if word == "it" else word):
            place.annotate(said, (0, y), (-left, 0), **aside)
    place.set(xlim=(0, BESIDE + 1), ylim=(len(found) - 0.5, -0.5), xticks=[], yticks=[])
    place.spines[:].set_visible(False)
    heading = f"In all trainings the word that decides gets {SOME} of the weight or more"
    if missed:
        gets = _range([f"{each:.2f}" for each in (missed[0][0], missed[-1][0])])
        shares = sorted(share for _, share, *_ in missed)
        flip = _range([f"{100 * each:.0f}" for each in (shares[0], shares[-1])])
        who = "“it”" if all(word == "it" for *_, word in missed) else "a word"
        heading = f"At weight {gets} {who} still decides {flip} % of the answers"
    told = [f"{name}, {word}: {weight:.2f} and {share:.2f}" for weight, share, name, word in found]
    return Picture(
        figure,
        f"Two bars for each seed and its deciding word, whose row flips the most: the weight that "
        f"“it” gives the word, and the share of answers that flip. {'; '.join(told)}.",
        f"{heading}\nFor each seed, the word that flips most answers if its row is the partner's.",
    )


def _range(ends: Sequence[str]) -> str:
    return " to ".join(dict.fromkeys(ends))
