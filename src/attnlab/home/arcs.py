"""Attention as a picture: words in a line, and an arc from each word back to those it listens to.

An SVG that stands alone, in a page or in a file: no script, nothing from elsewhere, and its colours
are those of the light theme or of the dark one, as whoever shows it asks.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from attnlab.figures.live.parts import SIZE, Part, across, arc, dot, places, rise, word
from attnlab.figures.palette import BLUE, COLOURS, ORANGE
from attnlab.small.grammar import as_labels

GAP = 24  # between words
LEAST = 0.05  # a weight that is drawn
MARGIN, BELOW = 14, 44
DARK = ";".join(f"--attn-{colour.name}:{colour.dark}" for colour in COLOURS)
STYLE = (
    ".arcs{--ground:#fff;color:#1d2429;font-family:system-ui,sans-serif}"
    "@media screen and (prefers-color-scheme:dark){"
    f".arcs{{--ground:#1c2226;color:#e8ebed;{DARK}}}}}.arcs rect{{fill:var(--ground)}}"
)


def arcs(words: Sequence[str], weights: Sequence[Sequence[float]]) -> str:
    """The picture, as the text of an SVG.

    Args:
        words: N, two or more.
        weights: (N, N), rows are queries; no word listens to a later one.
    """
    words = as_labels(words)
    middles = places(words, SIZE, GAP, MARGIN)
    wide = across(words, SIZE, GAP) + 2 * MARGIN
    last = len(words) - 1
    seen = [
        (weight, i, j)
        for i, row in enumerate(weights)
        for j, weight in enumerate(row[: i + 1])
        if weight >= LEAST
    ]
    high = max([40.0, *(rise(middles[i] - middles[j], wide) for _, i, j in seen)]) * 0.75
    floor = high + MARGIN + SIZE
    parts = [_mark(weight, i, j, middles, floor, wide, i == last) for weight, i, j in seen]
    parts += [
        _named(text, x, floor + 30, i == last)
        for i, (x, text) in enumerate(zip(middles, words, strict=True))
    ]
    parts += _number(weights[last], middles, floor, wide)
    tall = floor + BELOW
    return (
        f'<svg class="arcs" role="img" fill="currentColor" '
        f'viewBox="0 0 {wide:.0f} {tall:.0f}" width="{wide:.0f}" height="{tall:.0f}" '
        f'aria-label="{escape(in_words(words, weights))}"><style>{STYLE}</style>'
        f'<rect width="100%" height="100%" rx="8"/>{"".join(part.markup() for part in parts)}</svg>'
    )


def alone(picture: str) -> str:
    """The same as a file."""
    return picture.replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" ', 1)


def _named(text: str, x: float, y: float, last: bool) -> Part:
    return word(text, x, y, text, ORANGE, weight=600) if last else word(text, x, y, text)


def _mark(
    weight: float, i: int, j: int, middles: Sequence[float], floor: float, wide: float, last: bool
) -> Part:
    """An arc from word i back to word j; a dot for what a word gives itself."""
    colour = ORANGE if last else BLUE
    if i == j:
        return dot(f"{i}", middles[i], floor + 2, 1 + 5 * weight, colour)
    return arc(f"{i} {j}", middles[i], middles[j], floor, weight, colour, wide=wide)


def _number(
    row: Sequence[float], middles: Sequence[float], floor: float, wide: float
) -> list[Part]:
    """The largest weight that the last word gives to another, above its arc."""
    most = max(range(len(row) - 1), key=lambda j: row[j])
    if row[most] < LEAST:
        return []
    top = floor - 0.75 * rise(middles[-1] - middles[most], wide) - 8
    middle = (middles[-1] + middles[most]) / 2
    return [word("most", middle, top, f"{row[most]:.2f}", ORANGE, weight=600)]


def in_words(words: Sequence[str], weights: Sequence[Sequence[float]]) -> str:
    """What there is to see: '“sees” listens most to “dogs” (0.83); …', a clause for each word."""
    clauses = []
    for each, row in zip(words, weights, strict=True):
        most = max(range(len(row)), key=lambda j: row[j])
        clauses.append(f"“{each}” listens most to “{words[most]}” ({row[most]:.2f})")
    return f"Arcs from each word back to the words that it listens to. {'; '.join(clauses)}."
