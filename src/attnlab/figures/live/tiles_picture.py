"""The pictures of Tiles: slow memory, fast memory, and the pairs of queries and keys.

What comes into fast memory has the name of where it lay as `data-from`: the page lets it travel.
"""

from __future__ import annotations

import numpy as np

from attnlab.figures import palette
from attnlab.figures.live.on_paper import short
from attnlab.figures.live.strokes import svg, text
from attnlab.figures.live.tiling import Tile

UNIT = 28  # of a cell
EDGE = 24  # for numbers along the edges, and names
BAR, DEEP = 38, 20  # of what is held of a query or a key: its length, and how deep it is in fast
GAP = 8
BOLD = ' font-weight="bold"'
BLUE, ORANGE, GREEN, PINK = (
    each.drawn for each in (palette.BLUE, palette.ORANGE, palette.GREEN, palette.PURPLE)
)


def pictures(scores: np.ndarray, is_open: np.ndarray, done: list[Tile]) -> list[str]:
    """Slow memory, fast memory and the pairs, each of one size whatever the tile.

    Args:
        scores: (N, M).
        is_open: (N, M) bool.
        done: the tiles up to the one at hand, which is the last.
    """
    return [_slow(scores.shape, done), _fast(scores, is_open, done[-1]), _pairs(is_open, done)]


def _slow(shape: tuple[int, ...], done: list[Tile]) -> str:
    """Rows of q, k, v and of the output, one under the other; those that are in fast are marked."""
    (n, m), now = shape, done[-1]
    written = [i for tile in done if tile.is_last for i in tile.queries]
    columns = (("q", n, BLUE, now.queries), ("k", m, ORANGE, now.keys), ("v", m, GREEN, now.keys))
    parts = []
    for place, (name, count, colour, there) in enumerate(columns):
        x = GAP + place * (BAR + GAP)
        parts.append(text(x + BAR / 2, -10, name))
        parts += [
            _bar((x, i * UNIT, BAR, UNIT), f"{i}", colour, f"slow-{name}-{i}", bold=i in there)
            for i in range(count)
        ]
    x = GAP + len(columns) * (BAR + GAP)
    parts.append(text(x + BAR / 2, -10, "output"))
    hollow = "".join(f"M{x} {i * UNIT}h{BAR}v{UNIT}h{-BAR}z" for i in range(n))
    parts.append(
        f'<path d="{hollow}" fill="none" stroke="currentColor" stroke-dasharray="2 3" '
        f'stroke-opacity="0.6"/>'
    )
    parts += [
        _bar((x, i * UNIT, BAR, UNIT), f"{i}", PINK, f"out-{i}", start=f"o-{i}") for i in written
    ]
    width, height = x + BAR + GAP, max(n, m) * UNIT
    said = (
        f"slow memory, large: {n} rows of q, {m} of k and of v, and {len(written)} of {n} rows of "
        "output; no scores"
    )
    return _memory(
        said, "slow memory, large", (width, _high(n, m)), (width, height), "".join(parts)
    )


def _memory(said: str, name: str, room: tuple[int, int], size: tuple[int, int], parts: str) -> str:
    """A drawing of a memory.

    Args:
        said: what is read out.
        name: over it.
        room: width and height of the drawing.
        size: of the memory in it.
    """
    (width, height), (wide, high) = room, size
    return _sheet(
        said,
        (-2, -2 * EDGE, width + 4, height + 2 * EDGE + GAP + 2),
        text(GAP, -EDGE - 10, name, "start", BOLD),
        f'<rect y="{-EDGE}" width="{wide}" height="{high + EDGE + GAP}" rx="4" fill="none" '
        f'stroke="currentColor"/>{parts}',
    )


def _fast(scores: np.ndarray, is_open: np.ndarray, now: Tile) -> str:
    """The tile at hand with its scores, its rows of q, k and v, and what is kept of its queries."""
    (n, m), a, b = scores.shape, len(now.queries), len(now.keys)
    left, top = GAP + BAR, DEEP
    right, under = left + b * UNIT, top + a * UNIT
    numbers = ""
    for row, i in enumerate(now.queries):
        for column, j in enumerate(now.keys):
            x, y = left + column * UNIT, top + row * UNIT
            shown = (
                text(x + UNIT / 2, y + UNIT / 2, short(scores[i, j]))
                if is_open[i, j]
                else f'<path d="{_hatching(x, y)}" stroke="#888"/>'
            )
            numbers += (
                f'<rect x="{x}" y="{y}" width="{UNIT}" height="{UNIT}" fill="none" '
                f'stroke="{ORANGE}"/>{shown}'
            )
    bars = [
        *(("q", i, (GAP, top + row * UNIT, BAR, UNIT), BLUE) for row, i in enumerate(now.queries)),
        *(("k", j, (left + at * UNIT, 0, UNIT, DEEP), ORANGE) for at, j in enumerate(now.keys)),
        *(("v", j, (left + at * UNIT, under, UNIT, DEEP), GREEN) for at, j in enumerate(now.keys)),
    ]
    parts = f'<g data-key="{now.queries[0]} {now.keys[0]}" font-size="9.7">{numbers}</g>'
    parts += "".join(
        _bar(box, f"{name}{number}", colour, f"{name}-{number}", start=f"slow-{name}-{number}")
        for name, number, box, colour in bars
    )
    parts += "".join(
        _bar((right, top + row * UNIT, BAR, UNIT), f"o{i}", PINK, f"o-{i}")
        for row, i in enumerate(now.queries)
    )
    said = (
        f"fast memory, small: {a * b} scores of {named('query', 'queries', now.queries)} with "
        f"{named('key', 'keys', now.keys)}, their rows of q, k and v, and o, m and s"
    )
    room = (2 * (BAR + GAP) + m * UNIT, _high(n, m))
    return _memory(said, "fast memory, small", room, (right + BAR + GAP, under + DEEP), parts)


def _pairs(is_open: np.ndarray, done: list[Tile]) -> str:
    """N × M cells: the tile at hand is framed, those before it are filled, blocked ones hatched."""
    (n, m), now = is_open.shape, done[-1]
    said = (
        f"grid of {n} queries by {m} keys; the tile in fast memory is that of "
        f"{named('query', 'queries', now.queries)} and {named('key', 'keys', now.keys)}; "
        f"{len(done) - 1} tiles before it are done"
    )
    filled = "".join(f'<path d="{_box(tile)}" data-key="{_box(tile)}"/>' for tile in done[:-1])
    width, height, high = m * UNIT, n * UNIT, _high(n, m)
    grid = "".join(f"M0 {row * UNIT}h{width}" for row in range(n + 1))
    grid += "".join(f"M{column * UNIT} 0v{height}" for column in range(m + 1))
    hatched = "".join(_hatching(j * UNIT, i * UNIT) for i, j in np.argwhere(~is_open).tolist())
    return _sheet(
        said,
        (-EDGE, -2 * EDGE, width + EDGE + 2, high + 2 * EDGE + GAP + 2),
        text(0, -EDGE - 10, "pairs", "start", BOLD),
        f'<g fill="{BLUE}">{filled}</g>',
        f'<path d="{grid}" stroke="currentColor" stroke-opacity="0.35" fill="none"/>',
        f'<path d="{hatched}" stroke="#888" fill="none"/>',
        f'<path d="{_box(now)}" fill="none" stroke="{ORANGE}" stroke-width="3"/>',
        _edges(n, m, now),
    )


def _high(n: int, m: int) -> int:
    """The height of every drawing: side by side, they have one scale."""
    return max(n, m) * UNIT + 2 * DEEP


def _sheet(said: str, view: tuple[int, ...], *parts: str) -> str:
    middle = ' text-anchor="middle" dominant-baseline="central"'
    return svg(said, view, *parts, wide=view[2], size=10, more=middle)


def _bar(
    box: tuple[int, int, int, int],
    label: str,
    colour: str,
    key: str,
    start: str = "",
    bold: bool = False,
) -> str:
    """A row of numbers that is held, as a bar.

    Args:
        key: its name in the drawing.
        start: name of the bar that it comes from.
    """
    x, y, width, height = box
    comes = f' data-from="{start}"' if start else ""
    return (
        f'<g data-key="{key}"{comes}><rect x="{x}" y="{y}" width="{width}" height="{height}" '
        f'fill="{colour}" fill-opacity="{0.55 if bold else 0.25}" stroke="currentColor" '
        f'stroke-width="{2 if bold else 0.6}"/><text x="{x + width / 2:g}" '
        f'y="{y + height / 2:g}">{label}</text></g>'
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


def _hatching(x: int, y: int) -> str:
    """Diagonals of a cell, as a path."""
    half = UNIT // 2
    return (
        f"M{x} {y + UNIT}l{UNIT} {-UNIT}M{x} {y + half}l{half} {-half}"
        f"M{x + half} {y + UNIT}l{half} {-half}"
    )


def _edges(n: int, m: int, now: Tile) -> str:
    """Numbers of queries and keys; those of the tile are bold."""
    places = [(-7.0, (i + 0.5) * UNIT, i, i in now.queries) for i in range(n)]
    places += [((j + 0.5) * UNIT, -8.0, j, j in now.keys) for j in range(m)]
    marks = "".join(
        text(x, y, f"{label}", more=BOLD if bold else ' font-weight="normal"')
        for x, y, label, bold in places
    )
    across, down = m * UNIT / 2, n * UNIT / 2
    return (
        f"{marks}{text(across, -20, 'keys')}"
        f'<text transform="translate(-19 {down:g}) rotate(-90)">queries</text>'
    )
