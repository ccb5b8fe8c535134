"""A class's numbers as pictures: SVG in the page itself, in type that a projector shows.

Colours are the page's own, by classes, so that they follow its theme. Each is said once more by a
number or a pattern, and each picture in words: its alternative text.
"""

from __future__ import annotations

import html
import math
from collections.abc import Sequence
from typing import NamedTuple

_WIDTH = 1100
_TYPE, _SMALL = 26, 22  # sizes of type, of the width above
_LABEL_CHARACTERS = 72


class Bar(NamedTuple):
    """A bar with its label above it and its number behind it."""

    label: str
    length: float
    number: str


class Parts(NamedTuple):
    """A bar in parts, as many as there are kinds."""

    label: str
    counts: tuple[int, ...]


# What becomes of an exercise: a class of the style, and what a legend says.
KINDS = (
    ("passed", "right"),
    ("partly", "part of the points"),
    ("failed", "no points"),
    ("missing", "not written"),
)


def histogram(scores: Sequence[float], most: float, quartiles: Sequence[float], alt: str) -> str:
    """How many reached which score.

    Args:
        most: points that there are.
        quartiles: three scores; they are drawn below the bars.
    """
    bins = max(1, math.ceil(most) if most <= 15 else 10)
    width = most / bins
    counts = [0] * bins
    for score in scores:
        counts[min(bins - 1, max(0, int(score / width)))] += 1
    left, top, high, step = 40, 50, 300, (_WIDTH - 80) / bins
    tallest, bottom = max(1, *counts), top + 300
    parts = []
    for at, count in enumerate(counts):
        height, x = high * count / tallest, left + at * step
        parts.append(_rect(x + 4, bottom - height, step - 8, height, "passed"))
        if count:
            parts.append(_words(x + step / 2, bottom - height - 10, str(count), middle=True))
    parts += [
        _words(left + at * step, bottom + 34, f"{at * width:g}", _SMALL, middle=True)
        for at in range(0, bins + 1, 1 if bins <= 12 else 2)
    ]
    parts.append(_line(left, bottom, _WIDTH - left, bottom))

    def place(score: float) -> float:
        return left + min(max(score / most, 0), 1) * bins * step if most else left

    low, middle, upper = map(place, quartiles)
    below = bottom + 64
    parts.append(_rect(low, below - 10, max(upper - low, 2), 20, "half"))
    parts.append(_rect(middle - 4, below - 18, 8, 36, "failed"))
    note = f"points · band: the middle half of the class, {quartiles[0]:g} to {quartiles[2]:g}"
    parts.append(_words(left, below + 52, f"{note} · mark: the median, {quartiles[1]:g}", _SMALL))
    return _svg(below + 70, parts, alt)


def stacked(rows: Sequence[Parts], alt: str) -> str:
    """What became of each exercise, of one length for the whole class."""
    parts, x = [_PATTERNS], 20.0
    for kind, said in KINDS:
        parts.append(_rect(x, 12, 30, 30, kind))
        parts.append(_words(x + 40, 36, said, _SMALL))
        x += 70 + 12.5 * len(said)
    for at, row in enumerate(rows):
        y, x, total = 70 + at * 92, 20.0, max(1, sum(row.counts))
        parts.append(_words(20, y + 24, _short(row.label), code=True))
        for (kind, _), count in zip(KINDS, row.counts, strict=True):
            width = (_WIDTH - 40) * count / total
            parts.append(_rect(x, y + 36, width, 40, kind))
            if width > 16 * len(str(count)) + 8:
                parts.append(_words(x + width / 2, y + 65, str(count), _SMALL, True, f"on-{kind}"))
            x += width
    return _svg(70 + len(rows) * 92, parts, alt)


def bars(rows: Sequence[Bar], alt: str) -> str:
    """Bars below each other, the longest as long as there is room."""
    longest = max((row.length for row in rows), default=0) or 1
    parts = []
    for at, row in enumerate(rows):
        y, width = at * 84, (_WIDTH - 200) * row.length / longest
        parts.append(_words(20, y + 28, _short(row.label)))
        parts.append(_rect(20, y + 40, max(width, 3), 32, "failed"))
        parts.append(_words(34 + max(width, 3), y + 65, row.number))
    return _svg(len(rows) * 84 + 6, parts, alt)


def _svg(height: float, parts: Sequence[str], alt: str) -> str:
    label, box = html.escape(alt, quote=True), f"16 0 {_WIDTH - 32} {height:g}"
    return (
        f'<svg role="img" aria-label="{label}" viewBox="{box}">\n' + "\n".join(parts) + "\n</svg>\n"
    )


# For what a colour alone would say.
_PATTERNS = (
    '<defs><pattern id="stripes" width="12" height="12" patternUnits="userSpaceOnUse" '
    'patternTransform="rotate(45)"><rect width="12" height="12" class="stripe-ground"/>'
    '<rect width="5" height="12" class="stripe"/></pattern></defs>\n'
)


def _rect(x: float, y: float, width: float, height: float, kind: str) -> str:
    place = f'x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}"'
    return f'<rect {place} class="{kind}"/>'


def _line(x: float, y: float, to_x: float, to_y: float) -> str:
    return f'<line x1="{x}" y1="{y}" x2="{to_x}" y2="{to_y}" class="axis"/>'


def _words(
    x: float,
    y: float,
    text: str,
    size: int = _TYPE,
    middle: bool = False,
    kind: str = "",
    code: bool = False,
) -> str:
    anchor = ' text-anchor="middle"' if middle else ""
    named = f' class="{kind or "code"}"' if kind or code else ""
    place = f'x="{x:.1f}" y="{y:.1f}" font-size="{size}"'
    return f"<text {place}{anchor}{named}>{html.escape(text)}</text>"


def _short(label: str) -> str:
    plain = label.replace("`", "")
    cut = plain[: _LABEL_CHARACTERS - 1]
    return plain if len(plain) <= _LABEL_CHARACTERS else f"{cut}…"
