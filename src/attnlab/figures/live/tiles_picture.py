"""The picture of Tiles: slow memory with q, k, v and output, the tile in fast memory, and a plan.

It is drawn twice, for wide pages and for narrow ones. Scores are in fast memory alone; the plan,
which is in neither memory, shows whose they are and which are done. What comes into fast memory
has the name of where it lay as `data-from`: the page lets it travel.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from attnlab.figures import palette
from attnlab.figures.live.on_paper import short, written
from attnlab.figures.live.strokes import svg, text
from attnlab.figures.live.tiling import Kept, Tile

NUMBERED = 4  # blocks whose scores are told
HEAD, GAP = 32, 10  # room for a memory's name, and inside of its frame
BOLD = ' font-weight="bold"'
BLUE, ORANGE, GREEN, PINK, GREY = (
    each.drawn
    for each in (palette.BLUE, palette.ORANGE, palette.GREEN, palette.PURPLE, palette.GREY)
)
FILLED = f' fill="{GREY}" fill-opacity="0.6"'
NOW = f' fill="{ORANGE}" fill-opacity="0.12" stroke="{ORANGE}" stroke-width="3"'
OUTLINE = ' fill="none" stroke="currentColor" stroke-opacity="0.3"'
COLOURS = {"q": ORANGE, "k": BLUE, "v": GREEN, "output": PINK}


class Box(NamedTuple):
    """A place in the drawing."""

    x: float
    y: float
    width: float
    height: float


class Sheet(NamedTuple):
    """Where what is on a drawing.

    Attributes:
        size: width and height of the drawing.
        type: size of words.
        slow, fast: the memories.
        pitch, bar: from one row of slow memory to the next, and how high it is.
        side, deep: of fast memory's room for scores; of a row of q, of m, and of s and o.
        plan: its pairs.
        legend: where it is said what its cells mean.
        ways: from slow to fast memory and back: where from, how far, and where its name is.
    """

    size: tuple[float, float]
    type: float
    slow: Box
    fast: Box
    pitch: float
    bar: float
    side: float
    deep: tuple[float, float, float]
    plan: Box
    legend: tuple[tuple[float, float], ...]
    ways: tuple[tuple[float, float, float, float, float, float], ...]


WIDE = Sheet(
    (1002, 274),
    16,
    Box(1, 1, 316, 272),
    Box(397, 1, 360, 272),
    pitch=59,
    bar=47,
    side=148,
    deep=(32, 82, 88),
    plan=Box(817, 58, 184, 184),
    legend=((777, 262), (849, 262), (916, 262)),
    ways=((323, 106, 68, 0, 357, 92), (391, 235, -68, 0, 357, 221)),
)
NARROW = Sheet(
    (356, 682),
    17.5,
    Box(1, 1, 354, 190),
    Box(1, 237, 354, 260),
    pitch=39,
    bar=32,
    side=148,
    deep=(34, 84, 76),
    plan=Box(27, 567, 114, 114),
    legend=((180, 592), (180, 624), (180, 656)),
    ways=((60, 195, 0, 38, 105, 214), (190, 233, 0, -38, 227, 214)),
)


def pictures(
    scores: np.ndarray, is_open: np.ndarray, done: list[Tile], kept: dict[int, Kept]
) -> list[str]:
    """Wide and narrow, each of one size whatever the tile.

    Args:
        scores: (N, M).
        is_open: (N, M) bool.
        done: the tiles up to the one at hand, which is the last.
        kept: of each query that has met keys.
    """
    (n, m), now = scores.shape, done[-1]
    rows = [i for each in done if each.is_last for i in each.queries]
    said = (
        f"slow memory, large: {n} rows of q, {m} of k and of v, and {len(rows)} of {n} rows "
        f"of output; no scores. Fast memory, small: {len(now.queries) * len(now.keys)} scores of "
        f"{named('query', 'queries', now.queries)} with {named('key', 'keys', now.keys)}, their "
        f"rows of q, k and v, and o, m and s; {len(done) - 1} tiles before it are done"
    )
    return [
        svg(
            said,
            (0, 0, *sheet.size),
            _frame(sheet.slow, "slow memory, large", "currentColor"),
            _frame(sheet.fast, "fast memory, small", ORANGE),
            _slow(sheet, (n, m), now, rows),
            _ways(sheet, now),
            _fast(sheet, scores, is_open, now, kept),
            _plan(sheet, is_open, done),
            wide=round(max(sheet.size[0], 480)),
            size=sheet.type,
            more=' text-anchor="middle" dominant-baseline="central"',
        )
        for sheet in (WIDE, NARROW)
    ]


def _frame(box: Box, name: str, colour: str) -> str:
    return (
        f'<rect x="{box.x}" y="{box.y}" width="{box.width}" height="{box.height}" rx="5" '
        f'fill="none" stroke="{colour}" stroke-width="1.5"/>'
        + text(box.x + GAP, box.y + 16, name, "start", BOLD)
    )


def _slow(sheet: Sheet, shape: tuple[int, ...], now: Tile, rows: list[int]) -> str:
    """Rows of q, k and v, and those of output that are done."""
    (n, m), (x, y, width, _), bar = shape, sheet.slow, sheet.bar
    left = x + 76
    unit = (width - 76 - GAP) / max(n, m)
    held = (("q", n, now.queries), ("k", m, now.keys), ("v", m, now.keys), ("output", n, ()))
    parts = []
    for line, (name, count, there) in enumerate(held):
        top = y + HEAD + line * sheet.pitch
        parts.append(text(left - 8, top + bar / 2, name, "end"))
        for each in range(count):
            cell = Box(left + each * unit, top, unit, bar)
            if name != "output":
                key = f"slow-{name}-{each}"
                parts.append(_bar(cell, f"{each}", COLOURS[name], key, bold=each in there))
                continue
            parts.append(_line(_path(cell), 0.6, ' stroke-dasharray="2 3"'))
            if each in rows:
                parts.append(_bar(cell, f"{each}", PINK, f"out-{each}", start=f"o-{each}"))
    return "".join(parts)


def _ways(sheet: Sheet, now: Tile) -> str:
    """What is read, and what is written once all keys are met: queries stay while keys change."""
    parts, names = [], ("q, k, v" if now.is_first else "k, v", "output")
    for (x, y, right, down, left, middle), name in zip(sheet.ways, names, strict=True):
        to, back = np.array([x + right, y + down]), np.array([right, down]) / np.hypot(right, down)
        ends = [to + 9 * (0.6 * side * back[::-1] - back) for side in (1, -1)]
        corners = "L".join(f"{a:g} {b:g}" for a, b in (ends[0], to, ends[1]))
        opacity = 1 if name != "output" or now.is_last else 0.3
        parts += [
            _line(f"M{x} {y}L{to[0]:g} {to[1]:g}M{corners}", opacity, ' stroke-width="1.5"'),
            text(left, middle, name),
        ]
    return "".join(parts)


def _fast(
    sheet: Sheet, scores: np.ndarray, is_open: np.ndarray, now: Tile, kept: dict[int, Kept]
) -> str:
    """The tile at hand with its scores, its rows of q, k and v, and what is kept of its queries."""
    a, b = len(now.queries), len(now.keys)
    cell = min(sheet.side / max(a, b), sheet.side / 2.6)
    is_told, bar, box, deep = max(a, b) <= NUMBERED, 28, sheet.fast, sheet.deep
    left = box.x + (box.width - b * cell - sum(deep)) / 2 + deep[0]
    top = box.y + HEAD + (box.height - HEAD - a * cell) / 2 - 2
    right, under = left + b * cell, top + a * cell
    numbers = ""
    for (row, column), score in np.ndenumerate(scores[np.ix_(now.queries, now.keys)]):
        x, y = left + column * cell, top + row * cell
        shown = text(x + cell / 2, y + cell / 2, short(score)) * is_told
        if not is_open[now.queries[row], now.keys[column]]:
            shown = f'<path d="{_hatching(x, y, cell)}" stroke="{GREY}"/>'
        numbers += (
            f'<rect x="{x:g}" y="{y:g}" width="{cell:g}" height="{cell:g}" fill="none" '
            f'stroke="{ORANGE}"/>{shown}'
        )
    parts = [f'<g data-key="{now.queries[0]} {now.keys[0]}">{numbers}</g>']
    for row, i in enumerate(now.queries):
        y, factor = top + row * cell, "new" if now.is_first else f"× {written(kept[i].factor, 2)}"
        m, last = Box(right, y, deep[1], cell), Box(right + deep[1], y, deep[2], cell)
        query, name = Box(left - deep[0], y, deep[0], cell), f"{'q' * is_told}{i}"
        parts += [
            _bar(query, name, ORANGE, f"q-{i}", start=f"slow-q-{i}", bold=True),
            _bar(m, _risen(kept[i]) * is_told, PINK, f"m-{i}", bold=True),
            _remains(last, factor * is_told, kept[i].factor, f"o-{i}"),
        ]
    for name, y in (("k", top - bar), ("v", under)):
        for column, j in enumerate(now.keys):
            place, key = Box(left + column * cell, y, cell, bar), f"{name}-{j}"
            label = f"{name * is_told}{j}"
            parts.append(_bar(place, label, COLOURS[name], key, start=f"slow-{key}", bold=True))
    for x, names in (
        (deep[1] / 2, ("largest", "so far")),
        (deep[1] + deep[2] / 2, ("what was", "kept")),
    ):
        parts += [text(right + x, top - 30 + 18 * n, name) for n, name in enumerate(names)]
    return "".join(parts)


def _risen(kept: Kept) -> str:
    """The largest score, after the one before it if that was smaller."""
    rose = -np.inf < kept.before < kept.m
    return f"{short(kept.before)} → {short(kept.m)}" if rose else short(kept.m)


def _plan(sheet: Sheet, is_open: np.ndarray, done: list[Tile]) -> str:
    """Pairs of a query and a key: those that are done are filled, blocked ones hatched."""
    (n, m), (x, y, side, _) = is_open.shape, sheet.plan
    unit = side / max(n, m)

    def place(tile: Tile) -> Box:
        (i, j), (a, b) = (tile.queries[0], tile.keys[0]), (len(tile.queries), len(tile.keys))
        return Box(x + j * unit, y + i * unit, b * unit, a * unit)

    filled = "".join(
        f'<path d="{_path(place(tile))}" data-key="{tile.queries[0]} {tile.keys[0]}"/>'
        for tile in done[:-1]
    )
    lines = "".join(f"M{x} {y + row * unit:g}h{m * unit:g}" for row in range(n + 1))
    lines += "".join(f"M{x + column * unit:g} {y}v{n * unit:g}" for column in range(m + 1))
    blocked = np.argwhere(~is_open).tolist()
    hatched = "".join(_hatching(x + j * unit, y + i * unit, unit) for i, j in blocked)
    legend = ""
    named = (("done", FILLED), ("now", NOW), ("blocked", ""))[: 2 + bool(blocked)]
    for (left, middle), (name, look) in zip(sheet.legend, named, strict=False):
        cell = Box(left, middle - 8, 16, 16)
        legend += f'<path d="{_path(cell)}"{look or OUTLINE}/>' + text(
            left + 22, middle, name, "start"
        )
        if not look:
            legend += _line(_hatching(cell.x, cell.y, 16), 0.7)
    turned = f' transform="rotate(-90 {x - 14} {y + n * unit / 2:g})"'
    return (
        text(x, y - 41, "the plan", "start", BOLD)
        + text(x + m * unit / 2, y - 14, "keys")
        + text(x - 14, y + n * unit / 2, "queries", more=turned)
        + f"<g{FILLED}>{filled}</g>{_line(lines, 0.3)}{_line(hatched, 0.7)}"
        f'<path d="{_path(place(done[-1]))}"{NOW}/>{legend}'
    )


def _bar(box: Box, label: str, colour: str, key: str, start: str = "", bold: bool = False) -> str:
    """A row of numbers that is held, as a bar.

    Args:
        key: its name in the drawing.
        start: name of the bar that it comes from.
    """
    x, y, width, height = box
    comes = f' data-from="{start}"' if start else ""
    return (
        f'<g data-key="{key}"{comes}><rect x="{x:g}" y="{y:g}" width="{width:g}" '
        f'height="{height:g}" fill="{colour}" fill-opacity="{0.55 if bold else 0.2}" '
        f'stroke="currentColor" stroke-width="{1.5 if bold else 0.5}"/>'
        f"{text(x + width / 2, y + height / 2, label)}</g>"
    )


def _remains(box: Box, label: str, factor: float, key: str) -> str:
    """What was kept before at full length, pale; what is left of it, in full colour."""
    x, y, width, height = box.x + 4, box.y + 4, box.width - 4, box.height - 8
    whole, left = (
        f'<rect x="{x:g}" y="{y:g}" width="{long:.2f}" height="{height:g}" fill="{PINK}" '
        f'fill-opacity="{opacity}"/>'
        for long, opacity in ((width, 0.2 * bool(factor)), (width * factor, 0.6))
    )
    words = text(x + width - 6, y + height / 2, label, "end")
    return f'<g data-key="{key}">{whole}{left}{words}</g>'


def named(name: str, plural: str, numbers: range) -> str:
    """query 4, or queries 4 to 6."""
    if len(numbers) == 1:
        return f"{name} {numbers[0]}"
    return f"{plural} {numbers[0]} to {numbers[-1]}"


def _line(path: str, opacity: float = 1, more: str = "") -> str:
    return f'<path d="{path}" fill="none" stroke="currentColor" stroke-opacity="{opacity}"{more}/>'


def _path(box: Box) -> str:
    """An outline."""
    return f"M{box.x:g} {box.y:g}h{box.width:g}v{box.height:g}h{-box.width:g}z"


def _hatching(x: float, y: float, unit: float) -> str:
    """Diagonals of a cell, as a path."""
    half = unit / 2
    return (
        f"M{x:g} {y + unit:g}l{unit:g} {-unit:g}M{x:g} {y + half:g}l{half:g} {-half:g}"
        f"M{x + half:g} {y + unit:g}l{half:g} {-half:g}"
    )
