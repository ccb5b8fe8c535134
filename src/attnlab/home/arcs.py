"""Attention as a picture: words in a line, and an arc from each word back to those it listens to.

An SVG that stands alone, in a page or in a file: no script, nothing from elsewhere, and its colours
are those of the light theme or of the dark one, as whoever shows it asks.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

SIZE, LETTER, GAP = 20, 11.2, 24  # of the words; a letter's width is that of wide system fonts
LEAST = 0.05  # a weight that is drawn
MARGIN, BELOW = 14, 44
TALLEST = 150
# Okabe and Ito's blue and orange, as in the lessons' figures, and lighter ones on dark.
STYLE = (
    ".arcs{--ground:#fff;--ink:#1d2429;--each:#0072b2;--last:#b84a00}"
    "@media screen and (prefers-color-scheme:dark){"
    ".arcs{--ground:#1c2226;--ink:#e8ebed;--each:#56a9e0;--last:#f0a36b}}"
    ".arcs rect{fill:var(--ground)}.arcs path{fill:none;stroke:var(--each);stroke-linecap:round}"
    ".arcs circle{fill:var(--each)}.arcs path.last{stroke:var(--last)}"
    f".arcs text{{fill:var(--ink);text-anchor:middle;font:{SIZE}px system-ui,sans-serif}}"
    ".arcs circle.last{fill:var(--last)}.arcs text.last{fill:var(--last);font-weight:600}"
)


def arcs(words: Sequence[str], weights: Sequence[Sequence[float]]) -> str:
    """The picture, as the text of an SVG.

    Args:
        words: N, two or more.
        weights: (N, N), rows are queries; no word listens to a later one.
    """
    places, right = [], float(MARGIN)
    for word in words:
        width = LETTER * max(len(word), 2)
        places.append(right + width / 2)
        right += width + GAP
    wide = right - GAP + MARGIN
    last = len(words) - 1
    drawn = [
        (weight, i, j)
        for i, row in enumerate(weights)
        for j, weight in enumerate(row[: i + 1])
        if weight >= LEAST
    ]
    high = max([40.0, *(_rise(places[i] - places[j], wide) for _, i, j in drawn)]) * 0.75
    floor = high + MARGIN + SIZE
    marks = [_mark(weight, i, j, places, floor, wide, i == last) for weight, i, j in drawn]
    names = [
        f'<text x="{x:.1f}" y="{floor + 30:.1f}"{_last(i == last)}>{escape(word)}</text>'
        for i, (x, word) in enumerate(zip(places, words, strict=True))
    ]
    tall = floor + BELOW
    return (
        f'<svg class="arcs" role="img" '
        f'viewBox="0 0 {wide:.0f} {tall:.0f}" width="{wide:.0f}" height="{tall:.0f}" '
        f'aria-label="{escape(in_words(words, weights))}"><style>{STYLE}</style>'
        f'<rect width="100%" height="100%" rx="8"/>{"".join(marks + names)}'
        f"{_number(weights[last], places, floor, wide)}</svg>"
    )


def alone(picture: str) -> str:
    """The same as a file."""
    return picture.replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" ', 1)


def _mark(
    weight: float, i: int, j: int, places: Sequence[float], floor: float, wide: float, last: bool
) -> str:
    """An arc from word i back to word j; a dot for what a word gives itself."""
    start, end = places[i], places[j]
    if i == j:
        return (
            f'<circle cx="{start:.1f}" cy="{floor + 2:.1f}" r="{1 + 5 * weight:.1f}"{_last(last)}/>'
        )
    top = floor - _rise(start - end, wide)
    return (
        f'<path d="M{start:.1f} {floor:.1f}C{start:.1f} {top:.1f} {end:.1f} {top:.1f} '
        f'{end:.1f} {floor:.1f}" stroke-width="{1 + 6 * weight:.1f}" '
        f'opacity="{0.25 + 0.75 * weight:.2f}"{_last(last)}/>'
    )


def _number(row: Sequence[float], places: Sequence[float], floor: float, wide: float) -> str:
    """The largest weight that the last word gives to another, above its arc."""
    most = max(range(len(row) - 1), key=lambda j: row[j])
    if row[most] < LEAST:
        return ""
    top = floor - 0.75 * _rise(places[-1] - places[most], wide) - 8
    middle = (places[-1] + places[most]) / 2
    return f'<text x="{middle:.1f}" y="{top:.1f}" class="last">{row[most]:.2f}</text>'


def _rise(width: float, wide: float) -> float:
    """How high the ends of an arc pull it up: three quarters of that is its height."""
    return 24 + (min(TALLEST, 0.5 * wide) / 0.75 - 24) * width / wide


def _last(is_it: bool) -> str:
    return ' class="last"' if is_it else ""


def in_words(words: Sequence[str], weights: Sequence[Sequence[float]]) -> str:
    """What there is to see: '“sees” listens most to “dogs” (0.83); …', a clause for each word."""
    clauses = []
    for word, row in zip(words, weights, strict=True):
        most = max(range(len(row)), key=lambda j: row[j])
        clauses.append(f"“{word}” listens most to “{words[most]}” ({row[most]:.2f})")
    return f"Arcs from each word back to the words that it listens to. {'; '.join(clauses)}."
