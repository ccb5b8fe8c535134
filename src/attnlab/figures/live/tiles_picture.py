"""The picture of Tiles: which pairs of queries and keys are there, gone, to come, or never made."""

from __future__ import annotations

import html

import numpy as np

from attnlab.figures.live.tiling import Tile

UNIT = 30  # of a cell
EDGE = 24  # for numbers along the edges
SIDE = 340  # px, of the picture in a page that has room
BLUE, ORANGE = "#0072b2", "#d55e00"


def picture(scores: np.ndarray, is_open: np.ndarray, done: list[Tile]) -> str:
    """N × M cells: numbers in the tile at hand, those before it filled, blocked ones hatched.

    Args:
        scores: (N, M).
        is_open: (N, M) bool.
        done: the tiles up to the one at hand, which is the last.
    """
    (n, m), now = scores.shape, done[-1]
    said = (
        f"grid of {n} queries by {m} keys; the tile in memory is that of "
        f"{named('query', 'queries', now.queries)} and {named('key', 'keys', now.keys)}; "
        f"{len(done) - 1} tiles before it are done"
    )
    filled = "".join(f'<path d="{_box(tile)}"/>' for tile in done[:-1])
    width, height = m * UNIT, n * UNIT
    grid = "".join(f"M0 {row * UNIT}h{width}" for row in range(n + 1))
    grid += "".join(f"M{column * UNIT} 0v{height}" for column in range(m + 1))
    hatched = "".join(_hatching(i, j) for i, j in np.argwhere(~is_open).tolist())
    numbers = "".join(
        f'<text x="{(j + 0.5) * UNIT:g}" y="{(i + 0.5) * UNIT:g}">{_short(scores[i, j])}</text>'
        for i in now.queries
        for j in now.keys
        if is_open[i, j]
    )
    return (
        f'<svg role="img" aria-label="{html.escape(said, quote=True)}" '
        f'viewBox="{-EDGE} {-EDGE} {width + EDGE + 2} {height + EDGE + 2}" font-size="9" '
        f'fill="currentColor" text-anchor="middle" dominant-baseline="central" '
        f'style="width:100%;max-width:{SIDE}px;display:block">'
        f'<g fill="{BLUE}">{filled}</g><path fill="#fff" d="{_box(now)}"/>'
        f'<path d="{grid}" stroke="currentColor" stroke-opacity="0.35" fill="none"/>'
        f'<path d="{hatched}" stroke="#888" fill="none"/>'
        f'<path d="{_box(now)}" fill="none" stroke="{ORANGE}" stroke-width="3"/>'
        f'<g fill="#000" font-size="8.5">{numbers}</g>{_edges(n, m, now)}</svg>'
    )


def named(name: str, plural: str, numbers: range) -> str:
    """query 4, or queries 4 to 6."""
    if len(numbers) == 1:
        return f"{name} {numbers[0]}"
    return f"{plural} {numbers[0]} to {numbers[-1]}"


def _box(tile: Tile) -> str:
    """The tile's outline, as a path."""
    width, height = len(tile.keys) * UNIT, len(tile.queries) * UNIT
    return f"M{tile.keys[0] * UNIT} {tile.queries[0] * UNIT}h{width}v{height}h{-width}z"


def _hatching(row: int, column: int) -> str:
    """Diagonals of a cell, as a path."""
    x, y, half = column * UNIT, row * UNIT, UNIT // 2
    return (
        f"M{x} {y + UNIT}l{UNIT} {-UNIT}M{x} {y + half}l{half} {-half}"
        f"M{x + half} {y + UNIT}l{half} {-half}"
    )


def _short(score: float) -> str:
    """Two digits after the point at most, as cells are small."""
    text = f"{score:.2f}".rstrip("0").rstrip(".")
    return ("0" if text == "-0" else text).replace("-", "−")


def _edges(n: int, m: int, now: Tile) -> str:
    """Numbers of queries and keys; those of the tile are bold."""
    places = [(-8.0, (i + 0.5) * UNIT, i, i in now.queries) for i in range(n)]
    places += [((j + 0.5) * UNIT, -8.0, j, j in now.keys) for j in range(m)]
    marks = "".join(
        f'<text x="{x:g}" y="{y:g}" font-weight="{"bold" if bold else "normal"}">{label}</text>'
        for x, y, label, bold in places
    )
    across, down = m * UNIT / 2, n * UNIT / 2
    return (
        f'{marks}<text x="{across:g}" y="-18">keys</text>'
        f'<text transform="translate(-18 {down:g}) rotate(-90)">queries</text>'
    )
