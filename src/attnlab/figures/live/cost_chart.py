"""Lines, measured points and chosen places on log–log axes, as SVG; a line is named beside it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from math import log
from typing import Any, NamedTuple

from attnlab.figures import palette
from attnlab.figures.live.strokes import svg, text
from attnlab.figures.palette import GROUND

WIDTH, HEIGHT = 326, 300
LEFT, RIGHT, TOP, BOTTOM = 78, 16, 34, 44
SIZE = 16  # of words, so that they can be read where a drawing is 270 px wide
LINE = 18  # from one line of words to the next
LETTER = 0.55  # a letter's width, bold ones too, of their size
BESIDE, STEEP = 12, 0.55  # from a ring to its words; how fast they leave a line they would meet
POINT = 4  # radius
BOLD = ' font-weight="bold"'
BLUE, ORANGE, GREY = (each.drawn for each in (palette.BLUE, palette.ORANGE, palette.GREY))
# Words that a line may pass: it is interrupted around them.
CLEAR = f' stroke="{GROUND}" stroke-width="4" paint-order="stroke" stroke-linejoin="round"'
_LINE = 'fill="none" stroke="currentColor"'


class Axis(NamedTuple):
    """A logarithmic axis, from low at the pixel start to high at the pixel end."""

    low: float
    high: float
    start: float
    end: float

    def at(self, value: float) -> float:
        """Where a value stands, in pixels."""
        share = log(value / self.low) / log(self.high / self.low)
        return self.start + share * (self.end - self.start)


class Chart(NamedTuple):
    """A pair of axes."""

    across: Axis
    up: Axis

    def line(self, count: Callable[[Any], float], lengths: Iterable[float], style: str) -> str:
        """A function of what is across, at so many places."""
        places = [f"{self.across.at(n):.1f} {self.up.at(count(n)):.1f}" for n in lengths]
        return f'<path fill="none" {style} d="M{" L".join(places)}"/>'

    def points(self, measured: Iterable[tuple[int, float]]) -> str:
        """What was measured: tokens, and the value there, with its name over them."""
        places = [(self.across.at(n), self.up.at(value)) for n, value in measured]
        dots = "".join(
            f'<circle class="point" cx="{x:.1f}" cy="{y:.1f}" r="{POINT}" fill="{ORANGE}" '
            f'stroke="currentColor"/>'
            for x, y in places
        )
        if not places:
            return ""
        return dots + text(
            LEFT + 8, places[-1][1] - 10, "measured", more=f'{CLEAR} fill="{ORANGE}"'
        )

    def levels(self, named: Iterable[tuple[str, float]]) -> str:
        """Lines at ascending heights, named at the left: the first under it, others over them."""
        return "".join(
            f'<path fill="none" stroke="{GREY}" stroke-opacity="0.6" '
            f'd="M{LEFT} {self.up.at(value):.1f}H{WIDTH - RIGHT}"/>'
            + text(LEFT + 6, self.up.at(value) + (-5 if n else 16), label, more=f' fill="{GREY}"')
            for n, (label, value) in enumerate(named)
        )

    def end(self, n: float, *words: str) -> str:
        """A line up at one place, where something ends, and over it what does."""
        x = self.across.at(n)
        half = max(map(len, words)) * SIZE / 3.5
        middle = min(max(x, LEFT + half), WIDTH - half)
        return (
            f'<path fill="none" stroke="{ORANGE}" stroke-width="2" stroke-dasharray="5 3" '
            f'd="M{x:.1f} {HEIGHT - BOTTOM}V{TOP + 2 * LINE}"/>'
            f'<g fill="{ORANGE}">{lines(middle, TOP + 12, *words)}</g>'
        )

    def ring(self, n: float, value: float, colour: str = "currentColor") -> str:
        """A ring at a chosen place."""
        x, y = self.across.at(n), self.up.at(value)
        return (
            f'<circle fill="{GROUND}" stroke="{colour}" stroke-width="3" cx="{x:.1f}" cy="{y:.1f}" '
            f'r="6"/>'
        )

    def told(
        self,
        n: float,
        value: float,
        words: str,
        below: bool = False,
        low: float = 0,
        colour: str = "currentColor",
    ) -> str:
        """A ring on a rising line, and words over the line or `below` it, clear of it.

        Args:
            low: how much lower the words are.
        """
        aside = self.aside(n, words, below)
        way = 1 if below else -1
        down = way * (8 + STEEP * aside) + 12 * below + low
        x, y = self.across.at(n) + way * (BESIDE - aside), self.up.at(value) + down
        look = f'{CLEAR}{BOLD} fill="{colour}"'
        return text(x, y, words, "" if below else "end", look) + self.ring(n, value, colour)

    def aside(self, n: float, words: str, below: bool = False) -> float:
        """How far words at a ring have to move to stay on the sheet."""
        x, wide = self.across.at(n), LETTER * SIZE * len(words)
        return max(x + BESIDE + wide - WIDTH if below else LEFT + BESIDE + wide - x, 0)

    def frame(
        self, title: str, ticks_across: dict[float, str], ticks_up: dict[float, str], across: str
    ) -> str:
        """Both axes with their ticks and names."""
        bottom = HEIGHT - BOTTOM
        parts = [
            f'<path {_LINE} d="M{LEFT} {TOP}V{bottom}H{WIDTH - RIGHT}"/>',
            text(0, 16, title, more=BOLD),
            text(WIDTH - RIGHT, HEIGHT - 4, across, "end", CLEAR),
        ]
        for value, label in ticks_across.items():
            x = self.across.at(value)
            named = (x, "middle") if x < WIDTH - 2 * RIGHT else (x, "end")
            parts.append(
                f'<path {_LINE} d="M{x:.1f} {bottom}v4"/>'
                + text(named[0], bottom + 20, label, named[1], CLEAR)
            )
        for value, label in ticks_up.items():
            y = self.up.at(value)
            parts.append(
                f'<path {_LINE} d="M{LEFT - 4} {y:.1f}h4"/>' + text(LEFT - 7, y + 5, label, "end")
            )
        return "".join(parts)


def lines(x: float, y: float, *words: str, anchor: str = "middle") -> str:
    """Words, line by line."""
    return "".join(text(x, y + LINE * n, line, anchor) for n, line in enumerate(words))


def chart(lengths: tuple[float, float], values: tuple[float, float]) -> Chart:
    """Axes from the least to the most of both."""
    return Chart(Axis(*lengths, LEFT, WIDTH - RIGHT), Axis(*values, HEIGHT - BOTTOM, TOP))


def drawing(said: str, *parts: str) -> str:
    """Parts as a picture with a name that is read out."""
    return svg(said, (0, 0, WIDTH, HEIGHT), *parts, wide=480, size=SIZE)
