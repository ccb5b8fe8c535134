"""Training, step by step: the loss, and what rows of weights were at the steps that were recorded.

    losses, recorded rows, a step ─> curves with a marker ┬─> picture, table, words
                             └─> shares of that step ─────┘

What is drawn was recorded while a model was trained; the figure trains nothing.
"""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import traitlets

from attnlab.figures import palette
from attnlab.figures.live import fallback
from attnlab.figures.live.figure import (
    Figure,
    Input,
    Values,
    array,
    names,
    number,
    source,
    style,
    told_apart,
)
from attnlab.figures.live.strokes import Tick, axes, svg, text
from attnlab.figures.live.who_listens import refuse_what_are_no_shares

MOST_STEPS, MOST_STOPS, MOST_ROWS = 5000, 200, 5
STILLS = 10  # steps of the still figure, about
POINTS = 400  # of the curve, at most
TICKS = 6  # along its steps, at most
WIDE, HIGH = 320, 140  # of the plot
LEFT, ABOVE, BELOW, RIGHT = 72, 32, 42, 14  # room around it
BETWEEN, LOW = 74, 100  # from there to the plot of weights, and its height
BLUE, ORANGE = palette.BLUE.drawn, palette.ORANGE.drawn
# Of rows; orange is the step's.
LOOKS = (palette.BLUE, palette.GREEN, palette.PURPLE, palette.OCHRE, palette.GREY)
TELLING = 0.1  # a second word with less weight is not told
ALIKE = 0.05  # rows that differ by less lie on each other as lines


class TrainingScrubber(Figure):
    """A slider goes through the recorded steps: a marker on the loss curve, and the rows of then.

    Args:
        losses: (T,), at index s the loss of the model after s steps.
        recorded: for each step that was recorded, 0 to T − 1, (R, M) weights; rows add up to 1, or
            are 0.
        rows: R names, whose weights they are.
        words: M labels, what the weights are on.
        step: one of the recorded; None shows the first.
        level: a loss to compare with, and what it is called.
    Raises:
        ValueError: sizes do not fit, weights are no shares, or a step is not there.
    """

    _esm = source("training_scrubber")
    _css = style("training_scrubber")
    title = traitlets.Unicode("A training, step by step").tag(sync=True)
    losses, recorded, rows, words, step, level = (Input() for _ in range(6))
    _told_of: Any = None

    def __init__(
        self,
        losses: Any,
        recorded: Mapping[int, Any],
        rows: Sequence[str],
        words: Sequence[str],
        step: int | None = None,
        level: tuple[float, str] | None = None,
    ) -> None:
        super().__init__(
            losses=losses, recorded=recorded, rows=rows, words=words, step=step, level=level
        )

    def checked(self, inputs: Values) -> Values:
        had = getattr(self, "_inputs", {})
        if had and all(inputs[name] is had[name] for name in had.keys() - {"step"}):
            return {**inputs, "step": _step(inputs)}  # a move of the slider, which is to be quick
        losses = array("losses", inputs["losses"], (None,))
        if not 2 <= len(losses) <= MOST_STEPS:
            raise ValueError(f"there are {len(losses)} losses; 2 to {MOST_STEPS} can be shown")
        rows = names("rows", inputs["rows"], MOST_ROWS)
        words = names("words", inputs["words"])
        recorded = records(inputs["recorded"], len(losses), rows, words)
        checked = {"losses": losses, "recorded": recorded, "rows": rows, "words": words}
        level = inputs["level"]
        checked["level"] = level and (number(level[0]), str(level[1]))
        return {**checked, "step": _step({**checked, "step": inputs["step"]})}

    def computed(self, inputs: Values) -> Values:
        losses, recorded, step = inputs["losses"], inputs["recorded"], inputs["step"]
        weights, words = recorded[step], told_apart(inputs["words"])
        if self._told_of is not recorded:  # all sentences, once for what was recorded
            self._told_of = recorded
            self._told = {
                at: in_words(at, losses, recorded[at], inputs["rows"], words) for at in recorded
            }
        return {
            "step": step,
            "stops": [*recorded],
            "rows": inputs["rows"],
            "words": inputs["words"],
            "weights": weights.T.tolist(),
            "most": max(float(each.max()) for each in recorded.values()) or 1.0,
            "colours": [f"var(--attn-{each.name})" for each in LOOKS],
            "picture": picture(losses, recorded, inputs["rows"], words, [step], inputs["level"]),
            "claim": claim(recorded, inputs["rows"], words),
            "told": self._told[step],
        }

    def summary(self) -> str:
        return f"{len(self.losses)} steps, {len(self.recorded)} recorded. {self.state['told']}"

    def controls(self) -> Values:
        return {"step": [*self.recorded]}

    def fallback(self) -> str:
        """Several steps under each other: a table for each row, a line for each step."""
        losses, recorded, rows, words = self.losses, self.recorded, self.rows, self.words
        steps = telling(recorded)
        told = [in_words(step, losses, recorded[step], rows, told_apart(words)) for step in steps]
        mark = fallback.mark(repr(self), *told)
        # Unbroken, as a table that does not fit is scrolled, and broken lines would make it tall.
        lines = [f"step\u00a0{step},\u00a0loss\u00a0{losses[step]:.2f}" for step in steps]
        tables = []
        for n, row in enumerate(rows):
            weights = np.stack([recorded[step][n] for step in steps])
            none = np.zeros(weights.shape, dtype=bool)
            table = (
                fallback.plain_table(weights, lines, words, none)
                if n
                else fallback.heat_table(mark, weights, lines, words, none)
            )
            tables.append(f"<p><b>weights of {html.escape(row)}</b></p>{table}")
        content = (
            f"<p><b>{html.escape(claim(recorded, rows, told_apart(words)))}</b></p>"
            f"{fallback.stepper(mark, len(steps))}"
            f"{picture(losses, recorded, rows, told_apart(words), steps, self.level)}"
            f"{''.join(tables)}{fallback.sentences(told)}"
        )
        return fallback.framed(content, repr(self), mark)


def _step(inputs: Values) -> int:
    """The step that is shown.

    Raises:
        ValueError: it was not recorded.
    """
    given, recorded = inputs["step"], inputs["recorded"]
    step = next(iter(recorded)) if given is None else number(given)
    if step not in recorded:
        raise ValueError(f"step {step:g} was not recorded; {_listed([*recorded])} were")
    return int(step)


def records(
    given: Any, count: int, rows: Sequence[str], words: Sequence[str]
) -> dict[int, np.ndarray]:
    """Weights by step, in the order of the steps.

    Args:
        given: (R, M) by step.
        count: of losses.
        rows: R names.
        words: M labels.
    Raises:
        ValueError: it is something else.
    """
    if not isinstance(given, Mapping):
        raise ValueError("recorded has to be a dict: for each step its rows of weights")
    if not 2 <= len(given) <= MOST_STOPS:
        raise ValueError(f"{len(given)} steps are recorded; 2 to {MOST_STOPS} can be shown")
    weights = {}
    for step, each in given.items():
        at = number(step)
        if at != int(at) or not 0 <= at < count:
            raise ValueError(
                f"{at:g} was recorded; with {count} losses, steps are 0 to {count - 1}"
            )
        weights[int(at)] = array(f"recorded[{at:g}]", each, (len(rows), len(words)))
        refuse_what_are_no_shares(weights[int(at)], rows, f" at step {at:g}")
    return {step: weights[step] for step in sorted(weights)}


def _listed(steps: list[int]) -> str:
    """0, 3, 6, …, 117."""
    if len(steps) <= 5:
        return ", ".join(map(str, steps))
    return f"{steps[0]}, {steps[1]}, {steps[2]}, …, {steps[-1]}"


def telling(recorded: Mapping[int, np.ndarray]) -> list[int]:
    """Steps between which the weights moved alike far, the first and the last included."""
    steps, weights = [*recorded], np.stack([*recorded.values()])
    moves = np.abs(np.diff(weights, axis=0)).sum(axis=(1, 2))
    way = np.concatenate([[0], moves.cumsum()])
    goals = np.linspace(0, way[-1], min(STILLS, len(steps)))
    found = {steps[int(np.abs(way - goal).argmin())] for goal in goals}
    return sorted(found | {steps[0], steps[-1]})


def claim(recorded: Mapping[int, np.ndarray], rows: Sequence[str], words: Sequence[str]) -> str:
    """From which step on each row keeps most of its weight on a word, and until when they agree."""
    weights, steps = [*recorded.values()], [*recorded]
    last = weights[-1].argmax(axis=1).tolist()
    kept = [all(row[word] > 0.5 for row, word in zip(each, last, strict=True)) for each in weights]
    if not kept[-1]:
        return "Not every row has most of its weight on one word in the end"
    first = len(kept) - [*kept[::-1], False].index(False)
    if len(set(last)) == 1:
        each = "the row has" if len(rows) == 1 else "all rows have"
        return f"From step {steps[first]} on {each} most of the weight on “{words[last[0]]}”"
    alike = [bool(np.ptp(each, axis=0).max() < ALIKE) for each in weights].index(False)
    until = f"Up to step {steps[alike - 1]} the rows are alike; from" if alike else "From"
    return f"{until} step {steps[first]} each has its own word"


def in_words(
    step: int, losses: np.ndarray, weights: np.ndarray, rows: Sequence[str], words: Sequence[str]
) -> str:
    """The loss of a step, and where each row has most of its weight.

    Args:
        step: of the (T,) losses.
        losses: of all steps.
        weights: (R, M), at that step.
        rows: R names.
        words: M labels, told apart.
    """
    each = (_puts(row, shares, words) for row, shares in zip(rows, weights, strict=True))
    return f"Step {step}: loss {losses[step]:.3f}. {'; '.join(each)}."


def _puts(row: str, shares: np.ndarray, words: Sequence[str]) -> str:
    if not shares.any():
        return f"“{row}” puts weight on nothing"
    first, *others = np.argsort(-shares, kind="stable")[:2].tolist()
    told = f"“{row}” puts {shares[first]:.2f} on “{words[first]}”"
    for other in others:
        if shares[other] >= TELLING:
            told += f" and {shares[other]:.2f} on “{words[other]}”"
    return told


# The curve, the same in the page and where nothing runs -------------------------------------


def picture(
    losses: np.ndarray,
    recorded: Mapping[int, np.ndarray],
    rows: Sequence[str],
    words: Sequence[str],
    steps: Sequence[int],
    level: tuple[float, str] | None = None,
) -> str:
    """The loss over the steps as an SVG, under it what each row puts on one word, and markers.

    The word is the one on which the first row puts most in the end.

    Args:
        losses: (T,).
        recorded: (R, M) weights by step.
        rows: R names.
        words: M labels, told apart.
        steps: those that get a marker.
        level: a loss to compare with, and what it is called.
    """
    last = len(losses) - 1
    low, high = min(0.0, float(losses.min())), float(losses.max())
    high = high if high > low else low + 1

    def at(step: int) -> tuple[float, float]:
        return WIDE * step / last, HIGH * (high - float(losses[step])) / (high - low)

    drawn = np.unique(np.linspace(0, last, min(POINTS, last + 1)).round().astype(int)).tolist()
    curve = " ".join(f"{x:.1f},{y:.1f}" for x, y in map(at, drawn))
    dots = "".join(f"M{x:.1f} {y:.1f}h0" for x, y in map(at, recorded))
    foot = HIGH + BETWEEN + LOW
    marks = "".join(
        f'<path d="M{x:.1f} {HIGH}V{y:.1f}M{x:.1f} {foot}v{-LOW}" stroke="{ORANGE}" '
        f'stroke-dasharray="3 2"/>'
        f'<circle cx="{x:.1f}" cy="{y:.1f}" r="5" fill="#fff" stroke="{ORANGE}" stroke-width="3"/>'
        for x, y in map(at, steps)
    )
    here = ", ".join(f"{losses[step]:.2f} at step {step}" for step in steps)
    word = int(recorded[max(recorded)][0].argmax())
    said = (
        f"loss over {len(losses)} steps, from {losses[0]:.2f} to {losses[-1]:.2f}; {here}; "
        f"under it the weight of each row on {words[word]}"
    )
    up, along = _ticks(low, high, last)
    compared = ""
    if level is not None and low <= level[0] <= high:
        y = HIGH * (high - level[0]) / (high - low)
        compared = (
            f'<path d="M0 {y:.1f}H{WIDE}" stroke="currentColor" stroke-dasharray="5 4"/>'
            + text(WIDE, y - 8, level[1], "end")
        )
        said += f"; a line at {level[0]:.2f}, {level[1]}"
    return svg(
        said,
        (-LEFT, -ABOVE, WIDE + LEFT + RIGHT, foot + ABOVE + BELOW),
        axes(WIDE, HIGH, "loss", up, [], room=12),
        compared,
        f'<polyline points="{curve}" fill="none" stroke="{BLUE}" stroke-width="2"/>',
        f'<path d="{dots}" stroke="{BLUE}" stroke-width="5" stroke-linecap="round"/>',
        f'<g transform="translate(0 {HIGH + BETWEEN})">',
        _shares(recorded, rows, words, word, last, along),
        "</g>",
        text(-14, foot + 32, "step", "end"),
        marks,
        wide=480,
    )


def _shares(
    recorded: Mapping[int, np.ndarray],
    rows: Sequence[str],
    words: Sequence[str],
    word: int,
    last: int,
    along: Sequence[Tick],
) -> str:
    """What each row puts on one word, step by step, under their names."""
    lines = "".join(
        f'<polyline fill="none" stroke="{look.drawn}" stroke-width="{8 if n == 0 else 3}" points="'
        + " ".join(
            f"{WIDE * step / last:.1f},{LOW * (1 - weights[n, word]):.1f}"
            for step, weights in recorded.items()
        )
        + '"/>'
        for n, look in zip(range(len(rows)), LOOKS, strict=False)
    )
    named = "".join(
        f'<tspan fill="{look.drawn}" font-weight="bold">{html.escape(row)}</tspan>\u2003'
        for row, look in zip(rows, LOOKS, strict=False)
    )
    return (
        axes(WIDE, LOW, "", [Tick(0, "1"), Tick(LOW, "0")], along, room=20)
        + text(0, -37, f"weight on “{words[word]}” by")
        + f'<text x="0" y="-10">{named}</text>'
        + lines
    )


def _ticks(low: float, high: float, last: int) -> tuple[list[Tick], list[Tick]]:
    """Numbers up and along: the ends and the middle of the losses, and rounded steps."""
    size = 10 ** int(np.log10(max(last / TICKS, 1)))
    every = next(size * by for by in (1, 2, 5, 10) if size * by * TICKS >= last)
    return (
        [Tick(HIGH * (1 - share), f"{low + share * (high - low):.2f}") for share in (0, 0.5, 1)],
        [Tick(WIDE * step / last, f"{step}") for step in range(0, last + 1, every)],
    )
