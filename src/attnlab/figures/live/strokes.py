"""The strokes that drawings are made of, as SVG: the sheet, words, axes, bars, hatching.

Lines have the ink of the page's text, and colours come from `palette`, so that both themes fit.
"""

from __future__ import annotations

import html
from collections.abc import Sequence
from typing import NamedTuple


def svg(
    said: str, view: Sequence[float], *parts: str, wide: int, size: float = 11, more: str = ""
) -> str:
    """A drawing with a name that is read out.

    Args:
        said: its name.
        view: x, y, width and height.
        parts: what is in it.
        wide: px, at most.
        size: of its words.
        more: attributes.
    """
    return (
        f'<svg role="img" aria-label="{html.escape(said, quote=True)}" '
        f'viewBox="{" ".join(f"{each:g}" for each in view)}" font-size="{size}" '
        f'fill="currentColor"{more} style="width:100%;max-width:{wide}px;display:block">'
        f"{''.join(parts)}</svg>"
    )


def text(x: float, y: float, words: str, anchor: str = "", more: str = "") -> str:
    """Words that begin at a point, or have their middle or their end there."""
    placed = anchor and f' text-anchor="{anchor}"'
    return f'<text x="{x:.4g}" y="{y:.4g}"{placed}{more}>{html.escape(words)}</text>'


class Tick(NamedTuple):
    """A number along an axis, at a place in pixels; one at the end of a line ends there."""

    at: float
    label: str
    anchor: str = "middle"


def axes(
    wide: float,
    high: float,
    title: str,
    up: Sequence[Tick],
    along: Sequence[Tick],
    *names: str,
    room: float = 3,
) -> str:
    """Two lines from the corner at (0, high), with numbers.

    Args:
        wide: length of the flat one.
        high: length of the upright one.
        title: over the upright one.
        up: numbers along it.
        along: numbers under the flat one.
        names: what the flat one measures, line by line.
        room: between the axes and their numbers.
    """
    return "".join(
        [
            f'<path d="M0 0V{high}H{wide}" fill="none" stroke="currentColor" stroke-width="0.7"/>',
            text(0, -10, title),
            *(text(-room, at + 4, label, "end") for at, label, _ in up),
            *(text(at, high + 12 + room, label, anchor) for at, label, anchor in along),
            *(text(wide / 2, high + 34 + 12 * n, line, "middle") for n, line in enumerate(names)),
        ]
    )


def bars(shares: Sequence[float], wide: float, high: float, most: float = 1, gap: float = 0) -> str:
    """Bars between 0 and the most, as a path that has as many parts whatever they are."""
    each = wide / len(shares)
    return "".join(
        f"M{n * each + gap / 2:.4g} {high}v{-high * share / most:.1f}h{each - gap:.3g}V{high}"
        for n, share in enumerate(shares)
    )
