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
    Picture,
    in_style,
    name_lines,
    new_figure,
    with_looks,
)

LINES = tuple(zip((BLUE, ORANGE, GREEN, PURPLE, GREY), ("-", "--", "-.", ":", "-"), strict=True))
BAR, TOLD = 0.85, 0.1  # how high a bar of 1 is in its row, and the least number that is written
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


@in_style
def losses(
    curves: Mapping[str, Sequence[float]],
    floor: float = 0.0,
    label: str = "",
    title: str = "",
    most: int = 0,
) -> Picture:
    """Training losses, and a line to compare them with.

    Args:
        curves: for each model, its losses; five at most.
        floor: height of the line, if it has a label.
        label: what the line is.
        title: what is to be seen.
        most: steps that the axis has room for; 0 for as many as there are.
    """
    figure, axes = new_figure(width=5.0, height=3.0)
    place = axes[0, 0]
    for (name, curve), (colour, line) in with_looks(curves.items(), LINES):
        place.plot(as_array(curve), color=colour, linestyle=line, linewidth=2, label=name)
    words = "; ".join(
        f"{name}: from {curve[0]:.1f} to {curve[-1]:.1f}" for name, curve in curves.items()
    )
    if label:
        place.axhline(floor, color=GREY, linewidth=1, zorder=0)
        place.annotate(
            label,
            (1, floor),
            xycoords=("axes fraction", "data"),
            xytext=(0, 5),
            textcoords="offset points",
            ha="right",
            color=GREY,
        )
    longest = max(map(len, curves.values()))
    place.set(xlabel="step", ylabel="loss, nats", ylim=(-0.03, None), xlim=(0, most or longest))
    place.set_title(title)
    ends, (low, high) = [curve[-1] for curve in curves.values()], place.get_ylim()
    kinds = {name.rsplit(maxsplit=1)[0] for name in curves}
    if len(ends) > 1 and len(kinds) == 1 and max(ends) - min(ends) < (high - low) / 50:
        for curve_line in place.get_lines()[: len(ends)]:  # they end as one: one look, one name
            curve_line.set(label="_", color=BLUE, linestyle="-")
        place.annotate(
            f"all {len(ends)} {kinds.pop()}s",
            (1, sum(ends) / len(ends)),
            (8, 0),
            xycoords=("axes fraction", "data"),
            textcoords="offset points",
            va="center",
            color=BLUE,
        )
    name_lines(place)
    line = f", with a line at {floor:.2f}, {label}" if label else ""
    return Picture(figure, f"Loss over {longest} steps{line}. {words}.")


@in_style
def overfitting(diaries: Sequence[Diary]) -> Picture:
    """For each training the loss on what it reads and on what is held out, and the gap between.

    Args:
        diaries: of trainings, with two parts of a text; the last one is looked at.
    """
    figure, axes = new_figure(width=5.1, height=3.9)
    place, said = axes[0, 0], []
    for diary in diaries:
        last = diary is diaries[-1]
        colour = ORANGE if last else GREY
        steps = [diary.EVERY * n for n in range(len(next(iter(diary.curves.values()))))]
        highest = max(curve[-1] for curve in diary.curves.values())
        for (name, curve), line in zip(diary.curves.items(), ("-", "--"), strict=True):
            place.plot(steps, curve, line, color=colour, linewidth=2)
            above = curve[-1] == highest
            words = f"{name}: {curve[-1]:.1f}"
            place.annotate(
                words.replace(", ", ",\n") if last else words,
                (steps[-1], curve[-1]),
                (8, 0) if last else (0, 6 if above else -6),
                textcoords="offset points",
                ha="left" if last else "right",  # the longest training ends where the axis does
                va="bottom" if above else "top",
                color=colour,
            )
            said.append(f"{name}: from {curve[0]:.1f} to {curve[-1]:.1f} at step {steps[-1]}")
        place.fill_between(steps, *diary.curves.values(), color=colour, alpha=0.15, linewidth=0)
    lowest = int(np.argmin(curve))  # of the last: held out
    place.plot(steps[lowest], curve[lowest], "o", color=ORANGE, markersize=7)
    place.annotate(
        f"lowest: {curve[lowest]:.1f}",
        (steps[lowest], curve[lowest]),
        (0, -9),
        textcoords="offset points",
        va="top",
        color=ORANGE,
    )
    place.set(
        xlabel="step",
        ylabel="loss, nats",
        ylim=(0, None),
        xlim=(
            0,
            max(
                diary.EVERY * (len(curve) - 1)
                for diary in diaries
                for curve in diary.curves.values()
            ),
        ),
    )
    place.set_title(
        f"{diary.name}: held out, the loss is lowest at step {steps[lowest]}, and then it rises"
        if curve[-1] > curve[lowest]
        else f"{diary.name}: held out, the loss is still at its lowest"
    )
    return Picture(
        figure,
        f"Losses over steps. {'; '.join(said)}. The last one is lowest at step {steps[lowest]}, "
        f"{curve[lowest]:.1f}.",
    )


def _number_line(place: Axes, like: float, no: float, hate: float) -> None:
    """Where the phrases may lie, for one number of *not*: one of them on the wrong side alone."""
    place.axhline(0, color=GREY, linewidth=1, zorder=0)
    place.plot([0, 0], [-1.15, 0.65], ":", color=GREY, linewidth=1, zorder=0)
    for height, word, number in ((0.5, "not like", like), (-1.0, "not hate", hate)):
        stuck = no * number > 0  # the bar does not cross 0
        colour = ORANGE if stuck else GREY
        place.plot(
            [no, number], [height] * 2, color=colour, linewidth=9, solid_capstyle="butt", alpha=0.6
        )
        side = "friendly" if no > 0 else "hostile"
        place.text(
            (no + number) / 2,
            height + 0.2 if height > 0 else height - 0.2,
            f"{word}: {side} alone" if stuck else f"{word}: both sides",
            ha="center",
            va="bottom" if height > 0 else "top",
            color=colour,
        )
    for word, number in (("hate", hate), ("not", no), ("like", like)):
        place.plot([number], [0], "o", color="black", markersize=8)
        place.text(number, -0.2, f"{word}\n{number:+g}".replace("-", "−"), ha="center", va="top")
    place.text(-0.15, 0.08, "← hostile", color=GREY, ha="right")
    place.text(0.15, 0.08, "friendly →", color=GREY)
    place.set(ylim=(-1.55, 1), xlim=(-3.7, 3.7))
    place.axis("off")


@in_style
def between(like: float = 2.0, hate: float = -2.0, no: float = 3.0) -> Picture:
    """Between which numbers the phrases of two words lie, for *not* on either side.

    Args:
        like, hate: the numbers of those words.
        no: size of the number of *not*.
    """
    figure, axes = new_figure(rows=2, width=5.0, height=5.6)
    _number_line(axes[0, 0], like, -no, hate)
    axes[0, 0].set_title("not is hostile: not hate cannot become friendly")
    _number_line(axes[1, 0], like, no, hate)
    axes[1, 0].set_title("not is friendly: not like cannot become hostile")
    return Picture(
        figure,
        f"Two number lines with hate at {hate:g} and like at {like:g}. Above, not at {-no:g}: the "
        f"bar of not like reaches from {-no:g} to {like:g} and crosses 0, the bar of not hate, "
        f"from {-no:g} to {hate:g}, lies left of 0. Below, not at {no:g}: the bar of not hate "
        f"crosses 0, the bar of not like, from {like:g} to {no:g}, lies right of 0.",
    )


@in_style
def rows(
    panels: Mapping[str, Mapping[str, Any]], keys: Sequence[str], focus: str, title: str = ""
) -> Picture:
    """Rows of bars under each other, of numbers from 0 to 1.

    Args:
        panels: for each title, (M,) weights or shares by what the row is called.
        keys: M labels.
        focus: the title of the panel, or the name of the row, that is looked at; the rest is grey.
        title: what there is to see, where there are several panels.
    """
    heights = [len(panel) for panel in panels.values()]
    figure, axes = new_figure(
        rows=len(panels),
        width=1.3 + max(0.56, 0.098 * max(map(len, keys))) * len(keys),
        height=0.72 * len(panels) + 0.42 * sum(heights),
        height_ratios=heights,
    )
    words = []
    for place, (heading, panel) in zip(axes[:, 0], panels.items(), strict=True):
        numbers = np.stack([as_array(row) for row in panel.values()])
        for n, (name, row) in enumerate(zip(panel, numbers, strict=True)):
            _bars(place, -n, row, looked_at=focus in (heading, name))
        place.set_title(heading)
        place.set_xticks(range(len(keys)), keys)
        place.set_yticks([0.3 - n for n in range(len(panel))], panel)
        place.set(xlim=(-0.5, len(keys) - 0.5), ylim=(0.95 - len(panel), 0.95))
        place.spines[:].set_visible(False)
        place.tick_params(length=0)
        found = (
            f"{name} most on {keys[int(row.argmax())]} ({row.max():.2f}), "
            f"least on {keys[int(row.argmin())]} ({row.min():.2f})"
            for name, row in zip(panel, numbers, strict=True)
        )
        words.append(f"{heading}: {'; '.join(found)}")
    return Picture(figure, f"Rows of bars. {'. '.join(words)}.", title)


def _bars(place: Axes, foot: float, row: np.ndarray, looked_at: bool) -> None:
    """A bar for each number, as high as it is, with the number where it can be read."""
    place.axhline(foot, color="#bbbbbb", linewidth=1, zorder=0)
    place.bar(
        range(len(row)), BAR * row, bottom=foot, width=0.84, color=BLUE if looked_at else "#cccccc"
    )
    for n, number in enumerate(row):
        if number >= TOLD:
            inside = number > 0.5
            place.text(
                n,
                foot + BAR * number - 0.05 if inside else foot + BAR * number + 0.04,
                f"{number:.2f}",
                ha="center",
                va="top" if inside else "bottom",
                color="white" if inside and looked_at else "black",
            )
