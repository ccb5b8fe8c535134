"""The picture of Tiles: large slow memory, and beside it, as if magnified, the tile in small fast
memory. It is drawn twice, for wide pages and for narrow ones, where fast memory lies below.

What comes into fast memory has the name of where it lay as `data-from`: the page lets it travel.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from attnlab.figures import palette
from attnlab.figures.live.on_paper import short
from attnlab.figures.live.strokes import svg, text
from attnlab.figures.live.tiling import Tile

ROOMY, CELLS = 8, (26, 20)  # tokens whose cells are of the first size; more are of the second
NUMBERED, LARGE = 4, (50, 36)  # blocks whose scores are told, in cells of this size
BAR, GAP = 30, 8  # what is held of a query or a key: how deep
HEAD, FOOT = 30, 24  # room for names over a memory and under what is in it
APART = (64, 44)  # between the memories; wide first, as in LARGE
BOLD = ' font-weight="bold"'
BLUE, ORANGE, GREEN, PINK, GREY = (
    each.drawn
    for each in (palette.BLUE, palette.ORANGE, palette.GREEN, palette.PURPLE, palette.GREY)
)


class Box(NamedTuple):
    """A place in the drawing."""

    x: float
    y: float
    width: float
    height: float


def pictures(scores: np.ndarray, is_open: np.ndarray, done: list[Tile]) -> list[str]:
    """Both memories, side by side and one over the other, of one size whatever the tile.

    Args:
        scores: (N, M).
        is_open: (N, M) bool.
        done: the tiles up to the one at hand, which is the last.
    """
    n, m = scores.shape
    unit = CELLS[max(n, m) > ROOMY]
    slow = Box(1, 1, m * unit + 2 * (BAR + GAP) + 4, HEAD + 2 * BAR + n * unit + FOOT + GAP)
    aside, below = slow.width + APART[0], slow.height + APART[1]
    wide, high = (max(count * unit, NUMBERED * LARGE[0]) for count in (m, n))
    size = (aside + wide + 2 * (LARGE[0] + GAP), max(slow.height, high + HEAD + 2 * BAR + GAP))
    long = below + max(n * unit, NUMBERED * LARGE[1]) + HEAD + 2 * BAR + GAP
    wide = max(m * unit, NUMBERED * LARGE[1]) + 2 * (LARGE[1] + GAP)
    return [
        _memories(scores, is_open, done, (unit, LARGE[0]), slow, (aside, 1), size),
        _memories(
            scores,
            is_open,
            done,
            (unit, LARGE[1]),
            slow,
            (1, below),
            (max(slow.width, wide), long),
        ),
    ]


def _memories(
    scores: np.ndarray,
    is_open: np.ndarray,
    done: list[Tile],
    cells: tuple[int, int],
    slow: Box,
    at: tuple[float, float],
    size: tuple[float, float],
) -> str:
    """Slow memory, and fast memory at a place.

    Args:
        scores, is_open, done: as for `pictures`.
        cells: edges of a pair's cell and of one in fast memory.
        slow: where slow memory is.
        at: the corner of fast memory.
        size: width and height of the drawing.
    """
    (n, m), now, unit = scores.shape, done[-1], cells[0]
    grid = (slow.x + BAR + GAP + 2, slow.y + HEAD + 2 * BAR)
    tile = _box(now, unit, grid)
    fast, held = _fast(scores, is_open, now, cells, at)
    done_rows = [i for each in done if each.is_last for i in each.queries]
    said = (
        f"slow memory, large: {n} rows of q, {m} of k and of v, and {len(done_rows)} of {n} rows "
        f"of output; no scores. Fast memory, small: {len(now.queries) * len(now.keys)} scores of "
        f"{named('query', 'queries', now.queries)} with {named('key', 'keys', now.keys)}, their "
        f"rows of q, k and v, and o, m and s; {len(done) - 1} tiles before it are done"
    )
    return svg(
        said,
        (0, 0, size[0] + 2, size[1] + 2),
        _frame(slow, "slow memory, large", "currentColor"),
        _frame(fast, "fast memory, small", ORANGE),
        _pairs(is_open, done, unit, grid),
        _rows((n, m), now, done_rows, unit, grid),
        _lens(tile, fast),
        f'<path d="{_path(tile)}" fill="none" stroke="{ORANGE}" stroke-width="3"/>',
        held,
        wide=round(size[0] * 1.1),
        size=15,
        more=' text-anchor="middle" dominant-baseline="central"',
    )


def _frame(box: Box, name: str, colour: str) -> str:
    return (
        f'<rect x="{box.x}" y="{box.y}" width="{box.width}" height="{box.height}" rx="5" '
        f'fill="none" stroke="{colour}" stroke-width="1.5"/>'
        + text(box.x + GAP, box.y + 16, name, "start", BOLD)
    )


def _rows(
    shape: tuple[int, ...], now: Tile, done_rows: list[int], unit: int, grid: tuple[float, float]
) -> str:
    """Rows of q beside the pairs, of k and v over them, and of output where they are done."""
    (n, m), (x, y) = shape, grid
    left, right, under = x - BAR - 2, x + m * unit + 2, y + n * unit + 14
    rows = [
        *(
            ("v", j, Box(x + j * unit, y - 2 * BAR, unit, BAR - 4), GREEN, now.keys)
            for j in range(m)
        ),
        *(("k", j, Box(x + j * unit, y - BAR, unit, BAR - 4), BLUE, now.keys) for j in range(m)),
        *(("q", i, Box(left, y + i * unit, BAR, unit), ORANGE, now.queries) for i in range(n)),
    ]
    parts = [
        _bar(box, f"{number}", colour, f"slow-{name}-{number}", bold=number in there)
        for name, number, box, colour, there in rows
    ]
    hollow = "".join(f"M{right} {y + i * unit}h{BAR}v{unit}h{-BAR}z" for i in range(n))
    parts.append(
        f'<path d="{hollow}" fill="none" stroke="currentColor" stroke-dasharray="2 3" '
        f'stroke-opacity="0.6"/>'
    )
    parts += [
        _bar(Box(right, y + i * unit, BAR, unit), f"{i}", PINK, f"out-{i}", start=f"o-{i}")
        for i in done_rows
    ]
    names = (
        ("v", left + BAR - 6, y - 1.5 * BAR - 2, "end"),
        ("k", left + BAR - 6, y - 0.5 * BAR - 2, "end"),
        ("q", left + BAR / 2, under, "middle"),
        ("output", right + BAR, under, "end"),
    )
    done = text(x, under, "done, forgotten", "start", f' fill="{BLUE}"')
    return done + "".join(parts) + "".join(text(x, y, name, anchor) for name, x, y, anchor in names)


def _pairs(is_open: np.ndarray, done: list[Tile], unit: int, grid: tuple[float, float]) -> str:
    """N × M cells: those that are done are filled, blocked ones hatched."""
    (n, m), (x, y) = is_open.shape, grid
    filled = "".join(
        f'<path d="{_path(_box(tile, unit, grid))}" data-key="{tile.queries[0]} {tile.keys[0]}"/>'
        for tile in done[:-1]
    )
    lines = "".join(f"M{x} {y + row * unit}h{m * unit}" for row in range(n + 1))
    lines += "".join(f"M{x + column * unit} {y}v{n * unit}" for column in range(m + 1))
    hatched = "".join(
        _hatching(x + j * unit, y + i * unit, unit) for i, j in np.argwhere(~is_open).tolist()
    )
    return (
        f'<g fill="{BLUE}" fill-opacity="0.6">{filled}</g>'
        f'<path d="{lines}" stroke="currentColor" stroke-opacity="0.3" fill="none"/>'
        f'<path d="{hatched}" stroke="{GREY}" stroke-opacity="0.7" fill="none"/>'
    )


def _lens(tile: Box, fast: Box) -> str:
    """From the tile among the pairs to fast memory, which shows it larger."""
    if fast.x > tile.x + tile.width:
        x, to = tile.x + tile.width, fast.x
        corners = (x, tile.y, to, fast.y, to, fast.y + fast.height, x, tile.y + tile.height)
    else:
        y, to = tile.y + tile.height, fast.y
        corners = (tile.x, y, fast.x, to, fast.x + fast.width, to, tile.x + tile.width, y)
    return (
        f'<path d="M{" ".join(f"{each:g}" for each in corners)}z" fill="{ORANGE}" '
        f'fill-opacity="0.12" stroke="{ORANGE}" stroke-opacity="0.6"/>'
    )


def _fast(
    scores: np.ndarray,
    is_open: np.ndarray,
    now: Tile,
    cells: tuple[int, int],
    at: tuple[float, float],
) -> tuple[Box, str]:
    """The tile at hand with its scores, its rows of q, k and v, and what is kept of its queries."""
    a, b = len(now.queries), len(now.keys)
    is_told = max(a, b) <= NUMBERED
    cell = cells[1] if is_told else cells[0]
    deep = cells[1]
    left, top = at[0] + GAP + deep, at[1] + HEAD + BAR
    right, under = left + b * cell, top + a * cell
    numbers = ""
    for row, i in enumerate(now.queries):
        for column, j in enumerate(now.keys):
            x, y = left + column * cell, top + row * cell
            shown = text(x + cell / 2, y + cell / 2, short(scores[i, j])) * is_told
            if not is_open[i, j]:
                shown = f'<path d="{_hatching(x, y, cell)}" stroke="{GREY}"/>'
            numbers += (
                f'<rect x="{x}" y="{y}" width="{cell}" height="{cell}" fill="none" '
                f'stroke="{ORANGE}"/>{shown}'
            )
    bars = [
        *(
            ("q", i, Box(left - deep, top + row * cell, deep, cell), ORANGE)
            for row, i in enumerate(now.queries)
        ),
        *(
            ("k", j, Box(left + column * cell, top - BAR, cell, BAR), BLUE)
            for column, j in enumerate(now.keys)
        ),
        *(
            ("v", j, Box(left + column * cell, under, cell, BAR), GREEN)
            for column, j in enumerate(now.keys)
        ),
    ]
    parts = f'<g data-key="{now.queries[0]} {now.keys[0]}">{numbers}</g>'
    parts += "".join(
        _bar(
            box,
            f"{name}{number}",
            colour,
            f"{name}-{number}",
            start=f"slow-{name}-{number}",
            bold=True,
        )
        for name, number, box, colour in bars
    )
    parts += "".join(
        _bar(Box(right, top + row * cell, deep, cell), f"o{i}", PINK, f"o-{i}", bold=True)
        for row, i in enumerate(now.queries)
    )
    wide = max(right + deep + GAP - at[0], 178)  # the least is that of its name
    return Box(*at, wide, under + BAR + GAP - at[1]), parts


def _bar(box: Box, label: str, colour: str, key: str, start: str = "", bold: bool = False) -> str:
    """A row of numbers that is held, as a bar.

    Args:
        key: its name in the drawing.
        start: name of the bar that it comes from.
    """
    x, y, width, height = box
    comes = f' data-from="{start}"' if start else ""
    return (
        f'<g data-key="{key}"{comes}><rect x="{x}" y="{y}" width="{width}" height="{height}" '
        f'fill="{colour}" fill-opacity="{0.55 if bold else 0.2}" stroke="currentColor" '
        f'stroke-width="{1.5 if bold else 0.5}"/><text x="{x + width / 2:g}" '
        f'y="{y + height / 2:g}">{label}</text></g>'
    )


def named(name: str, plural: str, numbers: range) -> str:
    """query 4, or queries 4 to 6."""
    if len(numbers) == 1:
        return f"{name} {numbers[0]}"
    return f"{plural} {numbers[0]} to {numbers[-1]}"


def _box(tile: Tile, unit: int, grid: tuple[float, float]) -> Box:
    """Where a tile lies among the pairs."""
    x, y = grid
    return Box(
        x + tile.keys[0] * unit,
        y + tile.queries[0] * unit,
        len(tile.keys) * unit,
        len(tile.queries) * unit,
    )


def _path(box: Box) -> str:
    """An outline."""
    return f"M{box.x:g} {box.y:g}h{box.width:g}v{box.height:g}h{-box.width:g}z"


def _hatching(x: float, y: float, unit: int) -> str:
    """Diagonals of a cell, as a path."""
    half = unit // 2
    return (
        f"M{x:g} {y + unit:g}l{unit} {-unit}M{x:g} {y + half:g}l{half} {-half}"
        f"M{x + half:g} {y + unit:g}l{half} {-half}"
    )
