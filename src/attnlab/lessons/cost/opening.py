"""Lesson 11 opens with tiles: scores live in a small fast memory, 16 at a time, and are forgotten.

Of a row, its largest score and a sum are kept. The first row is followed alone: block B brings a
larger score, so the old sum shrinks by one factor, and no score of A is needed again.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from attnlab.figures.live.film import Film, Frame
from attnlab.figures.live.parts import INK, SIZE, SMALL, Part, box, line, word
from attnlab.figures.palette import BLUE, GREEN, GREY, ORANGE, PURPLE, Colour

BLOCK, BLOCKS = 4, 3  # queries or keys in a block; blocks
TOKENS = BLOCK * BLOCKS
NAMES, COLOURS = "ABC", (PURPLE, GREEN, BLUE)  # of blocks of keys

HIGH, HEAD = 252, 20  # of the sheet; of the line over both sides
SMALLER, MAP = 13, (27, 66)  # a score among all, and where they begin
OUT, STRIP = (191, 34), 20  # left and width of the answers; how thick blocks of queries or keys are
FAST = (236, 30), (242, 218)  # corner and size of the fast memory
CELL, LEFT, TOP = 30, 242, 82  # a score in it; where they begin
LARGEST, SUMS, UNIT = 387, 411, 16  # middle and left of what is kept, and px for a sum of 1
ENDS = 472  # the right of what is said there
ROOM = f"room for {BLOCK**2} scores"
PALE = 0.3  # rows that are not followed


class Kept(NamedTuple):
    """Of four queries, after some blocks of keys.

    Attributes:
        m: (4,), the largest score so far.
        sums: (4, blocks so far), of e^(score − m): s of each query, block by block.
        factors: (4,), by which the last block multiplied the sums before it.
    """

    m: np.ndarray
    sums: np.ndarray
    factors: np.ndarray

    def having_met(self, scores: np.ndarray) -> Kept:
        """After one more block, (4, 4) scores; one factor a query multiplies what was kept."""
        m = np.maximum(self.m, scores.max(axis=1))
        fresh = np.exp(scores - m[:, None]).sum(axis=1, keepdims=True)
        factors = np.exp(self.m - m)
        return Kept(m, np.hstack([self.sums * factors[:, None], fresh]), factors)

    @property
    def shares(self) -> np.ndarray:
        """(4, blocks so far), how much of an answer comes from each; a query's add up to 1."""
        shares: np.ndarray = self.sums / self.sums.sum(axis=1, keepdims=True)
        return shares


def scores() -> np.ndarray:
    """(12, 12) whole numbers, of queries and keys that are drawn."""
    q, k = np.random.default_rng(863).normal(size=(2, TOKENS, 4))
    scores: np.ndarray = np.rint(q @ k.T) + 0.0  # no −0
    return scores


def opening() -> Film:
    """The film."""
    every = scores().reshape(BLOCKS, BLOCK, BLOCKS, BLOCK).swapaxes(1, 2)
    kept = [_met(rows) for rows in every]
    a, b, c = kept[0]
    old, new, factor = a.m[0], b.m[0], b.factors[0]
    power = f"e^({_whole(old)}\u00a0−\u00a0{_whole(new)})"

    told = f"{TOKENS} queries and {TOKENS} keys make {TOKENS**2} scores. The fast memory has room "
    frames = [Frame([*_all(0), *_fast(ROOM), *_room()], f"{told}for {BLOCK**2}.")]

    def followed(tile: int, m: float, bars: list[float], told: str, *more: Part) -> None:
        """The first row alone: its largest score, and its sum, block by block."""
        now = [*_all(tile), *_held(tile), *_fast(), *_tile(tile, every[0, tile], kept[0], 0)]
        sums = [
            *_peak(every[0, tile, 0]),
            *_largest([m]),
            *_bars("sum", 0, np.array([bars]), (SUMS, TOP), (UNIT, CELL)),
        ]
        number = f"{sum(bars):.2f}".rstrip("0").rstrip(".")
        says = word("sum", SUMS, TOP - 30, number, INK, "start")
        frames.append(Frame([*now, *sums, says, *more], told))

    told = (
        f"{BLOCK} queries and block A of the keys come: {BLOCK**2} scores are made in fast memory."
    )
    parts = [*_all(0), *_held(0), *_fast(), *_tile(0, every[0, 0], kept[0])]
    frames.append(Frame(parts, told))
    total = a.sums[0, 0]
    told = f"Of the first row two numbers are kept: its largest score, {_whole(old)}, and the sum "
    followed(0, old, [total], f"{told}of e^(score\u00a0−\u00a0{_whole(old)}).")
    told = f"Block B takes the place of A. The first row has a larger score now: {_whole(new)}."
    followed(1, new, [total, 0], told)
    told = f"The old sum shrinks to fit it: times {power}, which is {factor:.3f}."
    says = f"×{factor:.3f}"
    shrinks = word("factor", ENDS, TOP + CELL + 20, says, ORANGE, "end", SIZE, 700)
    followed(1, new, [b.sums[0, 0], 0], told, shrinks)
    told = "B's own sum joins it. No score of A was needed again."
    followed(1, new, [*b.sums[0]], told)

    def at_once(i: int, j: int, told: str) -> None:
        """All four rows of a tile."""
        parts = [*_all(i * BLOCKS + j), *_held(i * BLOCKS + j), *_fast()]
        parts += [part for n in range(i) for part in _answers(n, kept[n][-1])]
        parts += [*_tile(i * BLOCKS + j, every[i, j], kept[i]), *_sums(i, kept[i][j])]
        frames.append(Frame(parts, told))

    at_once(0, 2, "Then block C. All four rows do the same, each with its own largest score.")
    parts = [*_all(BLOCKS), *_fast(ROOM), *_room()]
    shares = _bars("share", 0, c.shares, (SUMS, TOP), (60, CELL))
    told = "Divided by its sum, each row becomes shares of A, B and C, which weigh their values."
    frames.append(Frame([*parts, *shares], told))
    told = f"The answers of these {BLOCK} go out. No score does."
    frames.append(Frame([*parts, *_answers(0, c)], told))
    at_once(1, 1, "The next four queries: a tile comes, is used, and is gone.")
    at_once(2, 1, "At no time are there more scores than those of one tile.")
    parts = [*_all(BLOCKS**2), *_fast(f"never more than {BLOCK**2}"), *_room()]
    parts += [part for n in range(BLOCKS) for part in _answers(n, kept[n][-1])]
    told = (
        f"All {TOKENS} answers are exact, and no more than {BLOCK**2} scores were held at a time."
    )
    frames.append(Frame(parts, told))
    return Film("Exact attention, a tile of scores at a time", frames, HIGH)


def _met(tiles: np.ndarray) -> list[Kept]:
    """What is kept of four queries after each block, (blocks, 4, 4) scores."""
    kept, after = Kept(np.full(BLOCK, -np.inf), np.empty((BLOCK, 0)), np.empty(BLOCK)), []
    for each in tiles:
        kept = kept.having_met(each)
        after.append(kept)
    return after


def _whole(score: float) -> str:
    return f"{score:.0f}".replace("-", "−")


def _corner(tile: int) -> tuple[float, float]:
    """Of a tile among all, counted row by row."""
    i, j = divmod(tile, BLOCKS)
    return MAP[0] + j * BLOCK * SMALLER, MAP[1] + i * BLOCK * SMALLER


def _all(done: int) -> list[Part]:
    """All scores, of which so many tiles are gone; queries and keys beside them, and answers."""
    (left, top), side = MAP, TOKENS * SMALLER
    parts = [
        word("all", left + side / 2, HEAD, f"{TOKENS**2} scores", size=SMALL),
        word("queries", left - STRIP / 2 - 2, top - 6, "q", size=SMALL),
        word("answers", OUT[0] + OUT[1] / 2, top - 6, "out", size=SMALL),
    ]
    for n in range(TOKENS + 1):
        along = n * SMALLER
        parts += [
            line(f"across {n}", [(left, top + along), (left + side, top + along)], GREY, 1, 0.5),
            line(f"down {n}", [(left + along, top), (left + along, top + side)], GREY, 1, 0.5),
        ]
    wide = BLOCK * SMALLER
    for n in range(BLOCKS):
        x, y = _corner(n)[0], _corner(n * BLOCKS)[1]
        parts += [
            box(f"q {n}", (left - STRIP - 3, y + 1), (STRIP, wide - 2), ORANGE, 0.25, 1.5),
            box(f"k {n}", (x + 1, top - STRIP - 3), (wide - 2, STRIP), COLOURS[n], 0.3, 1.5),
            word(f"k {n} name", x + wide / 2, top - 7, NAMES[n], size=SMALL),
            box(f"out {n}", (OUT[0], y + 1), (OUT[1], wide - 2), INK, 0, 1, 0.5),
        ]
    for tile in range(done):
        (x, y), colour = _corner(tile), COLOURS[tile % BLOCKS]
        parts += [
            box(f"done {tile}", (x + 1, y + 1), (wide - 2, wide - 2), colour, 0.14),
            word(f"gone {tile}", x + wide / 2, y + wide / 2 + 6, "gone", size=SMALL),
        ]
    return parts


def _held(tile: int) -> list[Part]:
    """Which of all is in fast memory."""
    side = BLOCK * SMALLER
    return [box("held", _corner(tile), (side, side), COLOURS[tile % BLOCKS], 0.7, 2)]


def _fast(held: str = f"{BLOCK**2} scores held") -> list[Part]:
    (left, top), (wide, tall) = FAST
    return [
        box("fast", *FAST, filled=0.05, edge=1.5),
        word("fast name", left + wide / 2, HEAD, "fast memory", size=SMALL),
        word("held says", left + wide / 2, top + tall - 14, held, size=SMALL, weight=600),
    ]


def _room() -> list[Part]:
    """For a tile."""
    side = range(BLOCK)
    return [_cell("room", r, c, INK, 0.08, 0.5) for r in side for c in side]


def _cell(
    key: str, r: int, c: int, colour: str | Colour, filled: float, opacity: float = 1
) -> Part:
    corner = LEFT + c * CELL, TOP + r * CELL
    return box(f"{key} {r}{c}", corner, (CELL, CELL), colour, filled, 1, opacity)


def _tile(tile: int, scores: np.ndarray, kept: list[Kept], row: int | None = None) -> list[Part]:
    """The tile in fast memory, all rows or one followed; a cell is as full as its power.

    Its scores are its own: those of another tile come as these go.
    """
    wide, j = BLOCK * CELL, tile % BLOCKS
    parts = [
        box(f"keys {j}", (LEFT, TOP - STRIP - 5), (wide, STRIP), COLOURS[j], 0.3, 1.5),
        word(f"keys {j} name", LEFT + wide / 2, TOP - 9, NAMES[j], size=SMALL),
    ]
    for r, each in enumerate(scores):
        opacity = 1 if row in (None, r) else PALE
        for c, score in enumerate(each):
            power, x = float(np.exp(score - kept[j].m[r])), LEFT + (c + 0.5) * CELL
            parts += [
                _cell(f"cell {tile}", r, c, COLOURS[j], 0.5 * power, opacity),
                word(
                    f"score {tile} {r}{c}",
                    x,
                    TOP + r * CELL + 22,
                    _whole(score),
                    size=SMALL,
                    opacity=opacity,
                ),
            ]
    return parts


def _peak(row: np.ndarray) -> list[Part]:
    """An edge around the first row's largest score."""
    corner = LEFT + int(row.argmax()) * CELL, TOP
    return [box("peak", corner, (CELL, CELL), ORANGE, 0, 3)]


def _largest(m: Sequence[float]) -> list[Part]:
    """Of each row, under a name, as that of the sums beside them."""
    return [
        word("largest", LARGEST + 17, TOP - 9, "max", ORANGE, "end", SMALL),
        word("sums", SUMS, TOP - 9, "sum", anchor="start", size=SMALL),
        *(
            word(
                f"largest {r} {each:.0f}",
                LARGEST,
                TOP + r * CELL + 22,
                _whole(each),
                ORANGE,
                weight=700,
            )
            for r, each in enumerate(m)
        ),
    ]


def _sums(i: int, kept: Kept) -> list[Part]:
    """What is kept of four rows."""
    bars = _bars("sum", i, kept.sums, (SUMS, TOP), (UNIT, CELL))
    return [*bars, *_largest(kept.m.tolist())]


def _answers(i: int, kept: Kept) -> list[Part]:
    top = _corner(i * BLOCKS)[1]
    return _bars("share", i, kept.shares, (OUT[0], top), (OUT[1], SMALLER))


def _bars(
    what: str, i: int, numbers: np.ndarray, corner: tuple[float, float], size: tuple[float, float]
) -> list[Part]:
    """Sums or shares of each query of block i; size is how long 1 is, and how tall a bar."""
    (left, top), (unit, tall) = corner, size
    parts, gap = [], tall / 6
    for r, row in enumerate(numbers):
        right = left
        for j, number in enumerate(row):
            place, wide = (right, top + r * tall + gap), unit * number
            parts.append(box(f"{what} {i} {r} {j}", place, (wide, tall - 2 * gap), COLOURS[j]))
            right += wide
    return parts
