"""A figure's states over one control, as JSON: what moves where nothing can be computed.

    recording = recorded(figure, "shown", range(8))    by the same Python that draws the figure
    replay(recording)                                  the figure, with these states and no others

A recording is {"figure": its class, "control": the input, "values": those it takes, "states": one
for each, "summary" and "fallback": those of the first}.
"""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from typing import Any

from attnlab.figures.live.figure import Figure, Values

DIGITS = 4


def recorded(figure: Figure, control: str, values: Iterable[Any]) -> Values:
    """The figure's states for these values of one input; the figure ends at the first of them.

    Raises:
        ValueError: there are no values, or one cannot be used.
    """
    taken = list(values)
    if not taken:
        raise ValueError(f"no values of {control} were given, so there is nothing to record")
    states = []
    for value in taken:
        figure.change(**{control: value})
        states.append(_rounded(figure.state))
    figure.change(**{control: taken[0]})
    return {
        "figure": type(figure).__name__,
        "control": control,
        "values": taken,
        "states": states,
        "summary": figure.summary(),
        "fallback": figure.fallback(),
    }


def replay(recording: Values) -> Figure:
    """The figure that was recorded; its control moves it through what was recorded.

    Raises:
        ValueError: the recording lacks a part, or names no figure.
    """
    live = import_module("attnlab.figures.live")
    parts = ("figure", "control", "values", "states", "summary", "fallback")
    if missing := [part for part in parts if part not in recording]:
        raise ValueError(f"this is no recording of a figure: {', '.join(missing)} is missing")
    if recording["figure"] not in live.__all__:
        raise ValueError(f"there is no figure {recording['figure']}")
    kind: type[Figure] = getattr(live, recording["figure"])
    control, values = recording["control"], recording["values"]

    class Replay(kind):  # type: ignore[valid-type, misc]
        """Looks its states up."""

        def __init__(self) -> None:
            Figure.__init__(self, **{control: values[0]})

        def checked(self, inputs: Values) -> Values:
            if inputs[control] not in values:
                raise ValueError(f"{control} = {inputs[control]} was not recorded")
            return inputs

        def computed(self, inputs: Values) -> Values:
            state: Values = recording["states"][values.index(inputs[control])]
            return state

        def summary(self) -> str:
            return str(recording["summary"])

        def fallback(self) -> str:
            return str(recording["fallback"])

    return Replay()


def _rounded(part: Any) -> Any:
    """Numbers with four decimals: what is drawn has two."""
    if isinstance(part, dict):
        return {name: _rounded(each) for name, each in part.items()}
    if isinstance(part, list):
        return [_rounded(each) for each in part]
    return round(part, DIGITS) if isinstance(part, float) else part
