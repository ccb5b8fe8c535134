"""A figure's states as JSON: what moves where nothing can be computed.

    recording = recorded(figure)     by the same Python that draws the figure
    replay(recording)                the figure in a notebook, with these states and no others
    moving(recording)                HTML that moves in any page; its still figure without scripts

A recording is {"figure": its class, "inputs": values of the controls, one {control: value} for each
state, "shown": what the page draws then, of which only the first is whole: the others hold what
differs from it; "summary" and "fallback": those of the first}.

`make outputs` records each figure of the lessons, into docs/recordings/.
"""

from __future__ import annotations

import base64
import gzip
import json
import re
from collections.abc import Mapping
from importlib import import_module
from importlib.resources import files
from itertools import product
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
from anywidget import AnyWidget

from attnlab.figures.live.figure import Figure, Values
from attnlab.ipynb.files import write_whole

DIGITS = 4
FEW = 64  # combinations
PARTS = ("figure", "inputs", "shown", "summary", "fallback")
_MARK = re.compile(r'^<figure class="(attn-[0-9a-f]{8})"')


def recorded(figure: Figure) -> Values:
    """The figure's states: all combinations where these are few, else each control moved alone.

    Args:
        figure: stays as it is. It is the first state, but with a control's first value where its
            own is none of them.
    Raises:
        ValueError: it cannot be recorded.
    """
    controls = figure.controls()
    if controls is None:
        raise ValueError(f"{figure.title} cannot be recorded; it runs in a notebook")
    values = {name: [*map(_plain, each)] for name, each in controls.items()}
    own = {name: getattr(figure, name) for name in values}
    start = {name: _plain(own[name]) for name in values}
    start = {name: start[name] if start[name] in each else each[0] for name, each in values.items()}
    before = _shown(figure)
    figure.change(**start)
    first = {"summary": figure.summary(), "fallback": figure.fallback()}
    inputs: list[Values] = []
    shown: list[Values] = []
    for asked in _moves(start, values):
        try:
            figure.change(**asked)
        except ValueError:  # a combination that cannot be
            continue
        inputs.append(asked)
        shown.append(_differing(_shown(figure), shown[0]) if shown else _shown(figure))
    recording = {
        "figure": type(figure).__name__,
        "inputs": inputs,
        "shown": shown,
        **first,
    }
    figure.change(**own)
    for name in before.keys() - {"state"}:
        setattr(figure, name, before[name])
    return recording


def replay(recording: Values) -> Figure:
    """The figure that was recorded; its controls move it through what was recorded.

    Raises:
        ValueError: the recording lacks a part, or names no figure.
    """
    kind = _kind(recording)
    inputs, shown = recording["inputs"], recording["shown"]

    class Replay(kind):  # type: ignore[valid-type, misc]
        """Looks its states up."""

        change = Figure.change

        def __init__(self) -> None:
            Figure.__init__(self, **inputs[0])

        def controls(self) -> Values:
            return {name: [each[name] for each in inputs] for name in inputs[0]}

        def checked(self, asked: Values) -> Values:
            if asked not in inputs:
                told = ", ".join(f"{name} = {value}" for name, value in asked.items())
                raise ValueError(f"{told} was not recorded")
            return asked

        def computed(self, asked: Values) -> Values:
            return {**shown[0]["state"], **shown[inputs.index(asked)]["state"]}

        def summary(self) -> str:
            return str(recording["summary"])

        def fallback(self) -> str:
            return str(recording["fallback"])

    Replay.__name__ = kind.__name__
    return Replay()


def moving(recording: Values) -> str:
    """The figure as HTML that moves without Python; where no script runs, its still figure."""
    kind = _kind(recording)
    data = {name: recording[name] for name in ("inputs", "shown")}
    packed = gzip.compress(json.dumps(data, ensure_ascii=False).encode(), 9, mtime=0)
    told = base64.b64encode(packed).decode()
    drawn = kind._esm.replace("export default", "const figure =")
    player = files("attnlab.figures.live").joinpath("recorded.mjs").read_text(encoding="utf-8")
    module = f'{drawn}\n{player}\nplayAll(figure, "{kind.__name__}");'
    return (
        f'<div data-recording="{kind.__name__}"><style>{kind._css}</style>{recording["fallback"]}'
        f'<script type="application/gzip">{told}</script></div>\n'
        f'<script type="module">\n{module}\n</script>\n'
    )


def keep(figure: Figure, folder: Path) -> None:
    """Record a figure into a folder, where it is found by the mark of its still figure."""
    if figure.controls() is None:
        return
    recording = recorded(figure)
    text = json.dumps(recording, ensure_ascii=False, separators=(",", ":"))
    write_whole(folder / f"{marked(recording['fallback'])}.json", f"{text}\n".encode())


def marked(fallback: str) -> str:
    """The class that a still figure has, '' if this is none: a recording is found by it."""
    found = _MARK.match(fallback)
    return found[1] if found else ""


def _kind(recording: Values) -> type[Figure]:
    live = import_module("attnlab.figures.live")
    if missing := [part for part in PARTS if part not in recording]:
        raise ValueError(f"this is no recording of a figure: {', '.join(missing)} is missing")
    if recording["figure"] not in live.__all__:
        raise ValueError(f"there is no figure {recording['figure']}")
    kind: type[Figure] = getattr(live, recording["figure"])
    return kind


def _moves(start: Values, values: Mapping[str, list[Any]]) -> list[Values]:
    """The inputs of each state, the start first."""
    if prod(map(len, values.values())) <= FEW:
        moves = [dict(zip(values, each, strict=True)) for each in product(*values.values())]
    else:
        moves = [{**start, name: value} for name, each in values.items() for value in each]
    return [start, *(each for each in moves if each != start)]


def _shown(figure: Figure) -> Values:
    """All that the page draws: what a figure tells it, beyond what any widget does."""
    common = {*AnyWidget.class_trait_names(sync=True), "problem"}
    told = [name for name in figure.trait_names(sync=True) if name not in common]
    return {name: _plain(getattr(figure, name)) for name in told if not name.startswith("_")}


def _differing(shown: Values, before: Values) -> Values:
    """What differs from the first, one by one for the parts of the state."""
    state = _others(shown["state"], before["state"])
    return {**_others(shown, before), "state": state}


def _others(parts: Values, before: Values) -> Values:
    return {name: part for name, part in parts.items() if part != before.get(name)}


def _plain(part: Any) -> Any:
    """As JSON has it; numbers with four decimals: what is drawn has two."""
    if isinstance(part, Mapping):
        return {name: _plain(each) for name, each in part.items()}
    if isinstance(part, np.ndarray | np.generic):
        part = part.tolist()
    if isinstance(part, list | tuple):
        return [_plain(each) for each in part]
    return round(part, DIGITS) if isinstance(part, float) else part
