"""A picture that moves: frames that Python draws, and one module that moves between them.

    Film("A question turns", [Frame([dot("q", 10, 20, 5)], "It begins here."), …])

A lesson opens with one, `figures.opening()`; its frames are in the lesson's `opening.py`, out of
`parts`. It plays once when it comes into view, for ten seconds at most, and rests at its end; a
slider goes through it. Where motion is not wanted, it rests there at once. All frames are in its
state, so it moves without Python too.
"""

from __future__ import annotations

import html
from collections.abc import Sequence
from typing import Any, NamedTuple

import traitlets

from attnlab.figures.live import fallback
from attnlab.figures.live.figure import Figure, Values, source, style
from attnlab.figures.live.parts import SIZE, WIDE, Part
from attnlab.figures.live.strokes import svg

LONGEST = 10_000  # ms, of all moves together
PACE = 1500  # ms, of a move and the rest after it
STILLS = 3  # parts of a film, between which a still one has a picture
SCALE = 1.5  # px for a unit of the sheet, where there is room
TITLE = "margin:4px 0 14px;font-size:18px;font-weight:600"  # in stills
TOLD = "margin:14px 0 4px;font-size:clamp(17px,2.8vw,20px);line-height:1.4;max-width:720px"


class Frame(NamedTuple):
    """What is drawn at one time, in this order from back to front, and a sentence on it."""

    parts: Sequence[Part]
    told: str


class Film(Figure):
    """Frames, a slider through them and a button that plays them.

    Args:
        title: over it.
        frames: two or more.
        high: of the sheet, which is `parts.WIDE` across.
        telling: the frame that says most, for a still picture; counted from the end if below 0.
    """

    _esm = source("film")
    _css = style("film")
    at = traitlets.Float(0).tag(sync=True)  # which frame is shown, between two while it moves

    def __init__(self, title: str, frames: Sequence[Frame], high: float, telling: int = -1) -> None:
        self.title = title
        self._frames, self._high, self._telling = frames, high, telling
        super().__init__()

    @traitlets.validate("at")
    def _frame_is_there(self, proposal: Any) -> float:
        at, last = float(proposal["value"]), len(self.state["frames"]) - 1
        if not 0 <= at <= last:
            raise traitlets.TraitError(f"there are {last + 1} frames, 0 to {last}, and no {at:g}")
        return at

    def checked(self, inputs: Values) -> Values:
        return inputs  # there are none

    def computed(self, inputs: Values) -> Values:
        return {
            "view": [0, 0, WIDE, self._high],
            "pace": min(PACE, LONGEST / max(len(self._frames) - 1, 1)),
            "telling": self._telling % len(self._frames),
            "frames": [
                {"told": told, "parts": [[*part] for part in parts]} for parts, told in self._frames
            ],
        }

    def summary(self) -> str:
        return str(self.state["frames"][self.state["telling"]]["told"])

    def fallback(self) -> str:
        last, telling = len(self.state["frames"]) - 1, self.state["telling"]
        shown = dict.fromkeys([telling, *(round(last * n / STILLS) for n in range(STILLS + 1))])
        steps = [(f"{n + 1}", self._still(n)) for n in shown]
        title = f'<p style="{TITLE}">{html.escape(self.title)}</p>'
        return fallback.stepped(repr(self), steps, above=title)

    def _still(self, n: int) -> str:
        """One frame and its sentence."""
        frame = self.state["frames"][n]
        drawn = "".join(Part(*part).markup() for part in frame["parts"])
        wide = round(SCALE * WIDE)
        picture = svg(frame["told"], self.state["view"], drawn, wide=wide, size=SIZE)
        return f'{picture}<p style="{TOLD}">{html.escape(frame["told"])}</p>'
