"""A picture that moves: frames that Python draws, and one module that moves between them.

    Film("A question turns", [Frame([dot("q", 10, 20, 5)], "It begins here."), …])

A lesson opens with one, `figures.opening()`; its frames are in the lesson's `opening.py`, out of
`parts`. It plays once when it comes into view, for ten seconds at most, and rests at its end; a
slider goes through it. Where motion is not wanted, it rests there at once. All frames are in its
state, so it moves without Python too. With `menus`, a choice is answered by frames that Python
draws for it.
"""

from __future__ import annotations

import html
from collections.abc import Callable, Mapping, Sequence
from itertools import product
from typing import NamedTuple

import traitlets

from attnlab.figures.live import fallback
from attnlab.figures.live.figure import Figure, Input, Values, source, style
from attnlab.figures.live.parts import SIZE, WIDE, Part
from attnlab.figures.live.strokes import svg

LONGEST = 10_000  # ms, of all moves together
PACE = 900  # ms, of a move and the rest after it
SCALE = 1.5  # px for a unit of the sheet, where there is room
Choice = Mapping[str, str]


class Frame(NamedTuple):
    """What is drawn at one time, in this order from back to front, and a sentence on it."""

    parts: Sequence[Part]
    told: str


class Film(Figure):
    """Frames, a slider through them and a button that plays them.

    Args:
        title: over it.
        frames: two or more; with menus, a function that draws those for a choice.
        high: of the sheet, which is `parts.WIDE` across.
        telling: the frame that says most, for a still picture; counted from the end if below 0.
        menus: options of each menu, by its label.
        chosen: an option for each; the first ones, if it is left out.
    """

    _esm = source("film")
    _css = style("film")
    chosen = Input()
    at = traitlets.Float(0).tag(sync=True)  # which frame is shown, between two while it moves

    def __init__(
        self,
        title: str,
        frames: Sequence[Frame] | Callable[[Choice], Sequence[Frame]],
        high: float,
        telling: int = -1,
        menus: Mapping[str, Sequence[str]] | None = None,
        chosen: Choice | None = None,
    ) -> None:
        self.title = title
        self._frames = frames if callable(frames) else lambda _: frames
        self._high, self._telling, self._menus = high, telling, dict(menus or {})
        super().__init__(chosen=chosen or {name: each[0] for name, each in self._menus.items()})

    def checked(self, inputs: Values) -> Values:
        """One option of each menu."""
        chosen = inputs["chosen"]
        if not isinstance(chosen, Mapping) or chosen.keys() != self._menus.keys():
            raise ValueError(f"one option is needed for each menu: {', '.join(self._menus)}")
        for name, options in self._menus.items():
            if chosen[name] not in options:
                raise ValueError(f"{name} is {chosen[name]!r}; it can be {', '.join(options)}")
        return {"chosen": {name: chosen[name] for name in self._menus}}

    def computed(self, inputs: Values) -> Values:
        frames = self._frames(inputs["chosen"])
        menus = [
            {"label": name, "options": [*options], "at": options.index(inputs["chosen"][name])}
            for name, options in self._menus.items()
        ]
        return {
            "view": [0, 0, WIDE, self._high],
            "pace": min(PACE, LONGEST / max(len(frames) - 1, 1)),
            "menus": menus,
            "telling": self._telling % len(frames),
            "frames": [
                {"told": told, "parts": [[*part] for part in parts]} for parts, told in frames
            ],
        }

    def summary(self) -> str:
        return str(self.state["frames"][self.state["telling"]]["told"])

    def controls(self) -> Values:
        every = [
            dict(zip(self._menus, each, strict=True)) for each in product(*self._menus.values())
        ]
        return {"chosen": every} if self._menus else {}

    def fallback(self) -> str:
        shown = self.state["frames"][self.state["telling"]]
        drawn = "".join(Part(*part).markup() for part in shown["parts"])
        said = repr(self)
        picture = svg(said, self.state["view"], drawn, wide=round(SCALE * WIDE), size=SIZE)
        title = f"<b>{html.escape(self.title)}</b>"
        told = f"<p>{html.escape(shown['told'])}</p>"
        return fallback.framed(f"{title}{picture}{told}", said, fallback.mark(said))
