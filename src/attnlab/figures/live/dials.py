"""Figures of dials, pictures, a table and words, which Python makes and one module draws.

    inputs ─> dials ─────────────────┬─> the page, `dials.mjs`
          └─> pictures, table, words ┴─> the still figure, a step for some values of one dial

Such a figure has no JavaScript of its own.
"""

from __future__ import annotations

import html
from collections.abc import Sequence
from typing import Any, NamedTuple

from attnlab.figures.live import fallback
from attnlab.figures.live.figure import Figure, Values, source

FOLDED = "The numbers in a table"


class Dial(NamedTuple):
    """A slider.

    Attributes:
        name: of the input that it sets.
        label: in front of it.
        stops: values of the input.
        at: the stop that is shown, counted from 0.
        words: for each stop.
        value: what is set, in words, where it lies between two stops.
        pace: ms a stop, where a button plays them.
    """

    name: str
    label: str
    stops: Sequence[Any]
    at: int
    words: Sequence[str]
    value: str = ""
    pace: int = 0


class Dialled(Figure):
    """A figure that writes `checked`, `dials` and `shown`, and gets the rest.

    Attributes:
        kind: its class in the page, for its style sheet.
        stills: the dial of the still figure, its values, and how a step is named.
    """

    _esm = source("dials")
    kind: str
    stills: tuple[str, Sequence[Any], str]

    def dials(self, inputs: Values) -> list[Dial]:
        """The dials, as they are set."""
        raise NotImplementedError

    def shown(self, inputs: Values) -> Values:
        """What is seen, from inputs that are `checked`.

        Returns:
            pictures: SVG, with as many `titles` over them; a `table` of words with its `caption`
            and `heads`, which opens by the words `folded`; a `note` under the pictures; what is
            `found`, a headline that is true of the state; what else is `told`.
        """
        raise NotImplementedError

    def computed(self, inputs: Values) -> Values:
        dials = [{**each._asdict(), "stops": [*each.stops]} for each in self.dials(inputs)]
        common = {"kind": self.kind, "titles": [], "caption": "", "note": "", "folded": FOLDED}
        shown = self.shown(inputs)
        told = f"{shown['found']}. {shown['told']}"
        return {**common, "dials": dials, **shown, "told": told}

    def summary(self) -> str:
        return str(self.state["told"])

    def controls(self) -> Values:
        return {each.name: each.stops for each in self.dials(self._inputs)}

    def fallback(self) -> str:
        name, values, label = self.stills
        steps = [
            (label.format(value), _still(self.computed({**self._inputs, name: value})))
            for value in dict.fromkeys([self._inputs[name], *values])
        ]
        return fallback.stepped(repr(self), steps)


def _still(state: Values) -> str:
    """The pictures, the table and the sentence of one state."""
    titles = [f"<b>{html.escape(title)}</b>" for title in state["titles"]] or [""]
    pictures = [*map("".join, zip(titles, state["pictures"], strict=True))]
    table = fallback.lines(state["caption"], state["table"], state["heads"])
    note, told = (text and f"<p>{html.escape(text)}</p>" for text in (state["note"], state["told"]))
    numbers = f"<details><summary>{html.escape(state['folded'])}</summary>{table}</details>"
    return f"{fallback.beside(*pictures, wide='0 1 400px')}{note}{told}{numbers}"
