"""Lesson 10's figures: a training while it runs, losses, rows of weights."""

from __future__ import annotations

import html
import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from time import monotonic
from types import TracebackType
from typing import Any, Self

import numpy as np
from matplotlib.axes import Axes

from attnlab.figures.arrays import as_array
from attnlab.figures.picture import (
    BLUE,
    GREEN,
    GREY,
    ORANGE,
    PURPLE,
    STYLE,
    Picture,
    draw_heatmap,
    name_lines,
    new_figure,
    with_looks,
)

LINES = tuple(zip((BLUE, ORANGE, GREEN, PURPLE, GREY), ("-", "--", "-.", ":", "-"), strict=True))
PAUSE = 0.5  # seconds between two drawings of a training
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
        self._name, self._steps = name, steps
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
        name, steps = html.escape(self._name), self._steps
        if step < 0:
            text = f"training: {self._name}, {steps} steps"
            return {"text/plain": text, "text/html": html.escape(text)}
        label = f"{name}: step {step} of {steps}, loss {self.losses[-1]:.3f}"
        bar = f'<progress max="{steps}" value="{step}" aria-label="{name}"></progress> {label}'
        picture = losses({self._name: self.losses}, most=steps)._repr_mimebundle_()["text/html"]
        return {"text/plain": label, "text/html": f"<div>{bar}</div>{picture}"}


class Diary(Watch):
    """Notes besides what a model writes, and its losses, at the start, on the way and at the end.

    Args:
        name, steps: of the training.
        write: what the model writes now.
        measure: its loss on some part of the text now.
        parts: of the text, by what they are called.

    Attributes:
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


def losses(
    curves: Mapping[str, Sequence[float]],
    floor: float = 0.0,
    label: str = "",
    most: int = 0,
    every: int = 1,
) -> Picture:
    """Training losses, and a line to compare them with.

    Args:
        curves: for each model, its losses; five at most.
        floor: height of the line, if it has a label.
        label: what the line is.
        most: steps that the axis has room for; 0 for as many as there are.
        every: steps from one loss to the next.
    """
    figure, axes = new_figure(width=8.5, height=3.0)
    place = axes[0, 0]
    for (name, curve), (colour, line) in with_looks(curves.items(), LINES):
        steps = range(0, every * len(curve), every)
        place.plot(steps, as_array(curve), color=colour, linestyle=line, label=name)
    words = "; ".join(
        f"{name}: from {curve[0]:.1f} to {curve[-1]:.1f}" for name, curve in curves.items()
    )
    if label:
        place.axhline(floor, color=GREY, linewidth=1, zorder=0)
        place.annotate(
            label,
            (1, floor),
            xycoords=("axes fraction", "data"),
            xytext=(0, 4),
            textcoords="offset points",
            ha="right",
            color=GREY,
            fontsize=STYLE["font.size"] - 1,
        )
    place.set(xlabel="step", ylabel="loss, nats", ylim=(-0.03, None), xlim=(0, most or None))
    ends, (low, high) = [curve[-1] for curve in curves.values()], place.get_ylim()
    kinds = {name.rsplit(maxsplit=1)[0] for name in curves}
    if len(ends) > 1 and len(kinds) == 1 and max(ends) - min(ends) < (high - low) / 50:
        for curve_line in place.get_lines():  # they end as one, and have one name
            curve_line.set_label("_")
        place.annotate(
            f"all {len(ends)} {kinds.pop()}s",
            (1, sum(ends) / len(ends)),
            (8, 0),
            xycoords=("axes fraction", "data"),
            textcoords="offset points",
            va="center",
        )
    name_lines(place)
    line = f", with a line at {floor:.2f}, {label}" if label else ""
    points = max(map(len, curves.values()))
    longest = points if every == 1 else every * (points - 1)
    return Picture(figure, f"Loss over {longest} steps{line}. {words}.")


def _number_line(place: Axes, like: float, no: float, hate: float) -> None:
    """Where the phrases may lie, for one number of *not*."""
    place.axhline(0, color=GREY, linewidth=1, zorder=0)
    place.axvline(0, color=GREY, linewidth=1, linestyle=":", zorder=0)
    for height, word, number, colour in (
        (0.45, "not like", like, BLUE),
        (-0.55, "not hate", hate, ORANGE),
    ):
        place.plot([no, number], [height, height], color=colour, linewidth=7, alpha=0.5)
        beyond = height + 0.14 if height > 0 else height - 0.14
        below = "bottom" if height > 0 else "top"
        place.text((no + number) / 2, beyond, word, ha="center", va=below, color=colour)
    for word, number in (("hate", hate), ("not", no), ("like", like)):
        place.plot([number], [0], "o", color="black")
        place.text(number, -0.12, word, ha="center", va="top")
    place.set(ylim=(-1, 1), yticks=[], xlabel="hostile  ←  number  →  friendly", xlim=(-3.4, 3.4))
    place.spines["left"].set_visible(False)


def between(like: float = 2.0, hate: float = -2.0, no: float = 3.0) -> Picture:
    """Between which numbers the phrases of two words lie, for *not* on either side.

    Args:
        like, hate: the numbers of those words.
        no: size of the number of *not*.
    """
    figure, axes = new_figure(columns=2, width=10, height=2.7)
    _number_line(axes[0, 0], like, -no, hate)
    axes[0, 0].set_title("not is negative: not hate stays left")
    _number_line(axes[0, 1], like, no, hate)
    axes[0, 1].set_title("not is positive: not like stays right")
    return Picture(
        figure,
        f"Two number lines with hate at {hate:g} and like at {like:g}. Left, not at {-no:g}: the "
        f"bar of not like reaches from {-no:g} to {like:g} and crosses 0, the bar of not hate, "
        f"from {-no:g} to {hate:g}, lies left of 0. Right, not at {no:g}: the bar of not hate "
        f"crosses 0, the bar of not like, from {like:g} to {no:g}, lies right of 0.",
    )


def rows(
    panels: Mapping[str, Mapping[str, Any]], keys: Sequence[str], label: str = "weight"
) -> Picture:
    """Rows of numbers under each other, in panels that share their colours.

    Args:
        panels: for each title, (M,) weights or shares by what the row is called.
        keys: M labels.
        label: what the numbers are.
    """
    heights = [len(panel) for panel in panels.values()]
    words_below = max(map(len, keys)) > 2  # else numbers, which take less room
    figure, axes = new_figure(
        rows=len(panels),
        width=2.4 + (0.78 if words_below else 0.5) * len(keys),
        height=1.0 + 0.75 * len(panels) + 0.34 * sum(heights),
        height_ratios=heights,
    )
    words = []
    for place, (title, panel) in zip(axes[:, 0], panels.items(), strict=True):
        numbers = np.stack([as_array(row) for row in panel.values()])
        image = draw_heatmap(place, numbers, list(panel), keys, title)
        if words_below:
            place.set_xticks(range(len(keys)), keys, rotation=30, ha="right")
        place.tick_params(labelbottom=place is axes[-1, 0])
        for text in place.texts:
            text.set_text(text.get_text().replace("0.00", ""))  # what is there stands out
        found = (
            f"{name} most on {keys[int(row.argmax())]} ({row.max():.2f}), "
            f"least on {keys[int(row.argmin())]} ({row.min():.2f})"
            for name, row in zip(panel, numbers, strict=True)
        )
        words.append(f"{title}: {'; '.join(found)}")
    figure.colorbar(image, ax=axes, label=label)
    return Picture(figure, f"Rows of {label} as heatmaps. {'. '.join(words)}.")
