"""Charts of Cost and Roofline: lines, measured points and chosen places on log–log axes, as SVG."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from math import log
from typing import Any, NamedTuple

from attnlab.figures import palette
from attnlab.figures.live.strokes import svg, text

WIDTH, HEIGHT = 340, 300
LEFT, RIGHT, TOP, BOTTOM = 78, 24, 20, 36
POINT = 3.5  # radius
NEAR, ASIDE = 12, 76  # lines closer than a name is high; how far the upper one moves aside
BLUE, ORANGE = palette.BLUE.drawn, palette.ORANGE.drawn
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


class Key(NamedTuple):
    """An entry of a legend: a line of a style, or a measured point where there is none."""

    label: str
    line: str = ""


class Chart(NamedTuple):
    """A pair of axes."""

    across: Axis
    up: Axis

    def line(self, count: Callable[[Any], float], lengths: Iterable[float], style: str) -> str:
        """A function of what is across, at so many places."""
        places = [f"{self.across.at(n):.1f} {self.up.at(count(n)):.1f}" for n in lengths]
        return f'<path fill="none" {style} d="M{" L".join(places)}"/>'

    def points(self, measured: Iterable[tuple[int, float]]) -> str:
        """What was measured: tokens, and the value there."""
        return "".join(_dot(self.across.at(n), self.up.at(value)) for n, value in measured)

    def legend(self, keys: Iterable[Key]) -> str:
        """What lines and points are, at the top left, where no line runs."""
        parts = []
        for place, key in enumerate(keys):
            y = TOP + 4 + 14 * place
            sample = f'<path fill="none" {key.line} d="M{LEFT + 6} {y}h24"/>'
            parts.append(sample if key.line else _dot(LEFT + 18, y))
            parts.append(text(LEFT + 36, y + 4, key.label))
        return "".join(parts)

    def levels(self, named: Iterable[tuple[str, float]]) -> str:
        """Lines at some heights, the lowest first, with their names over them.

        A line that runs close over another begins to the right of that one's name.
        """
        parts, x, before = [], LEFT, float(HEIGHT)
        for label, value in named:
            y = self.up.at(value)
            x = x + ASIDE if before - y < NEAR else LEFT
            before = y
            parts.append(
                f'<path {_LINE} stroke-dasharray="5 3" d="M{x} {y:.1f}H{WIDTH - RIGHT}"/>'
                + text(x + 4, y - 4, label)
            )
        return "".join(parts)

    def words(self, x: float, y: float, *lines: str, anchor: str = "start") -> str:
        """The name of an area, line by line."""
        return "".join(text(x, y + 12 * n, line, anchor) for n, line in enumerate(lines))

    def end(self, n: float, style: str) -> str:
        """A line up at one place, where something ends."""
        x = self.across.at(n)
        return f'<path fill="none" {style} d="M{x:.1f} {HEIGHT - BOTTOM}V{TOP + 60}"/>'

    def ring(self, n: float, value: float) -> str:
        """A ring at a chosen place."""
        x, y = self.across.at(n), self.up.at(value)
        return f'<circle {_LINE} stroke-width="2" cx="{x:.1f}" cy="{y:.1f}" r="6"/>'

    def here(
        self, n: float, value: float, label: str = "", beside: tuple[float, float] = (0, 0)
    ) -> str:
        """A chosen place: a line up to the value and a ring there, with a letter beside it."""
        x, y = self.across.at(n), self.up.at(value)
        return (
            f'<path {_LINE} stroke-width="0.8" d="M{x:.1f} {HEIGHT - BOTTOM}V{y + 6:.1f}"/>'
            + self.ring(n, value)
            + text(x + beside[0], y + beside[1], label) * bool(label)
        )

    def frame(
        self,
        title: str,
        ticks_across: dict[float, str],
        ticks_up: dict[float, str],
        across: str = "tokens N",
    ) -> str:
        """Both axes with their ticks and names."""
        bottom = HEIGHT - BOTTOM
        parts = [
            f'<path {_LINE} d="M{LEFT} {TOP}V{bottom}H{WIDTH - RIGHT}"/>',
            text(2, 11, title),
            text(WIDTH - RIGHT, HEIGHT - 3, across, "end"),
        ]
        for value, label in ticks_across.items():
            x = self.across.at(value)
            parts.append(
                f'<path {_LINE} d="M{x:.1f} {bottom}v4"/>' + text(x, bottom + 18, label, "middle")
            )
        for value, label in ticks_up.items():
            y = self.up.at(value)
            parts.append(
                f'<path {_LINE} d="M{LEFT - 4} {y:.1f}h4"/>' + text(LEFT - 6, y + 4, label, "end")
            )
        return "".join(parts)


def _dot(x: float, y: float) -> str:
    return (
        f'<circle class="point" cx="{x:.1f}" cy="{y:.1f}" r="{POINT}" fill="{ORANGE}" '
        f'stroke="currentColor"/>'
    )


def chart(lengths: tuple[float, float], values: tuple[float, float]) -> Chart:
    """Axes from the least to the most of both."""
    return Chart(Axis(*lengths, LEFT, WIDTH - RIGHT), Axis(*values, HEIGHT - BOTTOM, TOP))


def drawing(said: str, *parts: str) -> str:
    """Parts as a picture with a name that is read out."""
    return svg(said, (0, 0, WIDTH, HEIGHT), *parts, wide=440)
