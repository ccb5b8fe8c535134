"""Lesson 11 opens with a tile that slides over all scores: two are held at a time, then forgotten.

The first query is followed. Each key gives it a column, as wide as its weight and as high as its
value. Columns are poured level, into one block, whose width is the sum of the weights, s, and whose
area is the sum of weights × values, o: these and the largest score, m, are what is kept. Keys B
bring a larger score, so the block becomes narrower by one factor, and no score of A is needed
again. In the end the block's height, o/s, is the answer, at which all columns at once are level.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from attnlab.figures.live.film import Film, Frame
from attnlab.figures.live.parts import INK, SIZE, SMALL, WIDE, Part, Place, area, box, line, word
from attnlab.figures.palette import BLUE, GREEN, GREY, GROUND, ORANGE, PURPLE, Colour

BLOCK, BLOCKS = 2, 3  # keys in a block; blocks
TOKENS = BLOCK * BLOCKS
NAMES, COLOURS = "ABC", (PURPLE, GREEN, BLUE)  # of blocks of keys
SCORES = np.array(
    [
        [1, 0, 0, 2, 0, 1],
        [3, 1, 2, 0, 1, 1],
        [3, 1, 2, 0, 4, 1],
        [1, 2, 0, 3, 0, 2],
        [2, 0, 1, 2, 3, 1],
        [1, 4, 2, 1, 3, 2],
    ],
    float,
)
VALUES = np.array([4, 2, 3, 1, 4, 2], float)

HIGH, LOW, EDGE, HEAD = 264, 255, 479, 20  # of the sheet: all, floor, right; a line over it
LEFT, TOP, CELL, TALL = 86, 32, 35, 38  # of all scores; of one
SIDE = TOKENS * CELL  # of all scores
ROOM = (1, 73, LOW + 3)  # of what is kept, in fast memory: left, top, floor
SUMS, UNIT, STEP = 13, 212, 28  # left of columns; px for 1, wide and high
LARGEST = (EDGE - CELL - 8, 85)  # the largest score so far
LEVEL, NAMED, LOUD = 32, 60, 40  # size of a block's height, its room; of counts
DARK, PALE, FACE = 0.6, 0.2, 0.35  # of a largest score, others, a block
ONE, TALLER, FLOOR = 92, 40, 236  # both ways in the end: px for 1, wide and high; their floor
EDGED = {"stroke": GROUND, "stroke-width": "1.5"}  # columns beside columns
HEADS, HERO, ANSWER = 40, 64, 42  # line over both ways; sizes of counts, of the answer


class Kept(NamedTuple):
    """Of a query, after some blocks of keys.

    Attributes:
        m: the largest score so far.
        whence: the first block that has it.
        s: the sum of e^(score − m).
        o: the sum of e^(score − m) times value.
        factor: by which the last block multiplied the sums before it.
    """

    m: float = -np.inf
    whence: int = 0
    s: float = 0
    o: float = 0
    factor: float = 0

    def having_met(self, j: int, scores: np.ndarray) -> Kept:
        """After block j of keys; one factor multiplies both sums."""
        m = max(self.m, float(scores.max()))
        shrunk, weights = self.shrunk(float(np.exp(self.m - m))), np.exp(scores - m)
        s, o = shrunk.s + weights.sum(), shrunk.o + weights @ VALUES[j * BLOCK :][:BLOCK]
        return Kept(m, j if m > self.m else self.whence, s, o, shrunk.factor)

    def shrunk(self, factor: float) -> Kept:
        return self._replace(s=self.s * factor, o=self.o * factor, factor=factor)

    @property
    def answer(self) -> float:
        return self.o / self.s


def opening() -> Film:
    """The film."""
    scores = SCORES[0].reshape(BLOCKS, BLOCK)
    met = after_each(SCORES[0])
    a, b, c = met
    frames: list[Frame] = []

    def tile(j: int, told: str, *more: Part, forgotten: bool = False) -> None:
        """Two of the first query's scores, or none any more, and what is held of those before."""
        held = 0 if forgotten else BLOCK
        parts = [*_grid(1, j + forgotten), *_memory(j, has_room=True)]
        parts.append(
            word("title", SUMS, LARGEST[1] + 23, "fast memory", ORANGE, "start", SMALL, 600)
        )
        parts.append(word("held", EDGE, TOP + 25, f"scores held: {held}", INK, "end", SIZE, 600))
        parts += _scores(j, scores[j][:held], met[j].m)
        frames.append(Frame([*parts, *_largest(met[j]), *more], told))

    def columns(j: int, level: bool = False) -> list[Part]:
        """Of the first query in a tile, right of what was kept before, or levelled with it."""
        now, before = met[j], met[j - 1] if j else Kept()
        weights = np.exp(scores[j] - now.m)
        left = SUMS + UNIT * before.s * now.factor
        highs = np.full(BLOCK, now.answer) if level else VALUES[j * BLOCK :][:BLOCK]
        named = () if level else ("", "") if j else ("score ", "value ")
        return _columns(j * BLOCK, weights, highs, left, named, float(not level))

    parts = [*_grid(TOKENS), *_memory()]
    for y, many, colour, how in (
        (98, TOKENS**2, INK, "scores"),
        (208, BLOCK, ORANGE, "at a time"),
    ):
        parts.append(word(f"many {how}", EDGE, y, f"{many}", colour, "end", HERO, 700))
        parts.append(word(f"many are {how}", EDGE, y + 27, how, colour, "end", 22))
    told = f"{TOKENS} queries ask {TOKENS} keys: {TOKENS**2} scores. "
    frames.append(Frame(parts, f"{told}Fast memory here holds {BLOCK} at a time."))
    told = "Each key is a column. Its height: the value. Its width: e to the power of score − max."
    tile(0, told, *columns(0), _height(0, SUMS + 12))
    told = "Pour them level: height = the average so far. Only max, width and height are kept."
    tile(0, told, *_block(a), *columns(0, True), forgotten=True)
    shrunk = a.shrunk(b.factor)
    told = f"the block shrinks to e¹⁻² = {b.factor:.2f} of its width. Same height."
    tile(
        1,
        f"B raises the max from {a.m:.0f} to {b.m:.0f}: {told}",
        *_block(shrunk),
        *_shrinks(shrunk, a.m, b.m),
    )
    told = "B's columns join. Their widths are measured from the new max."
    tile(1, told, *_block(shrunk), *columns(1))
    told = "Poured level, they are one block again. B's scores are forgotten, too."
    tile(1, told, *_block(b), *columns(1, True), forgotten=True)
    told = "C has no larger score: its columns join, and nothing gets narrower."
    highs = np.array([b.answer] * 2 * BLOCK + [*VALUES[2 * BLOCK :]])
    tile(2, told, *_block(b), *columns(2), *_once(c, highs, SUMS, 0))
    told = f"Poured a last time: {c.answer:.1f}, as from all {TOKENS} scores at once. "
    told += f"All {TOKENS**2} go the same way, {BLOCK} at a time."
    frames.append(Frame(_both(c), told))
    return Film("Exact attention, tile by tile", frames, HIGH)


def after_each(scores: np.ndarray) -> list[Kept]:
    """What is kept of a query after each block of keys."""
    kept, after = Kept(), []
    for j, each in enumerate(scores.reshape(BLOCKS, BLOCK)):
        kept = kept.having_met(j, each)
        after.append(kept)
    return after


def _grid(rows: int, done: int = 0) -> list[Part]:
    """Scores of so many queries, none of which is there, under their keys; so many tiles went."""
    low, y = TOP + TALL, TOP + 25
    parts = [word("first", 0, y, "query 1", ORANGE, "start", SMALL, 600)]
    if rows == TOKENS:
        y += (rows - 1) * TALL
        parts.append(word("last", 0, y, f"query {rows}", GREY, "start", SMALL))
        parts.append(word("keys", EDGE, HEAD, f"blocks of {BLOCK} keys", GREY, "end", SMALL))
    for n in range(TOKENS + 1):
        x, y = LEFT + n * CELL, TOP + n * TALL
        parts.append(line(f"down {n}", [(x, TOP), (x, low)], GREY, 1, 0.5))
        if rows == TOKENS:
            parts.append(line(f"on {n}", [(x, low), (x, TOP + rows * TALL)], GREY, 1, 0.5))
        if n <= rows:
            parts.append(line(f"across {n}", [(LEFT, y), (LEFT + SIDE, y)], GREY, 1, 0.5))
    for j in range(BLOCKS):
        left, wide = LEFT + j * BLOCK * CELL, BLOCK * CELL
        parts += _keys("keys", j, (left + 2, 3), wide - 4)
        if j < done:
            parts.append(box(f"done {j}", (left, TOP), (wide, TALL), GREY, 0.3))
    return parts


def _keys(key: str, j: int, corner: Place, wide: float) -> list[Part]:
    """A block of keys, by its name."""
    (x, y), name = corner, NAMES[j]
    return [
        box(f"{key} {name}", corner, (wide, 22), COLOURS[j], 0.35, 1.5),
        word(f"{key} name {name}", x + wide / 2, y + 17, name, size=SMALL, weight=600),
    ]


def _memory(j: int = 0, has_room: bool = False) -> list[Part]:
    """Fast memory: a tile, on the room of what is kept."""
    left, y = LEFT + j * BLOCK * CELL - 2, ROOM[1]
    right = left + BLOCK * CELL + 4
    tile = [(left, y), (left, TOP - 3), (right, TOP - 3), (right, y)]
    (far, _, low), ends = ROOM, (tile[0], tile[-1])
    room = [ends[0], (far, y), (far, low), (EDGE, low), (EDGE, y), ends[1]]
    shapes = ("memory", tile), ("room", room) if has_room else ("floor", ends)
    return [
        part
        for key, shape in shapes
        for part in (area(f"in {key}", shape, ORANGE, 0.06), line(key, shape, ORANGE, 2.5))
    ]


def _holds(left: float, many: int, colour: Colour, how: str) -> list[Part]:
    """How many scores are held."""
    return [
        word(f"holds {how}", left, HEADS, f"{many}", colour, "start", LOUD, 700),
        word(f"held {how}", left + 31, HEADS, how, colour, "start", 22),
    ]


def _score(key: str, corner: Place, score: float, colour: Colour, top: bool) -> list[Part]:
    """A score in its box; dark if it is the largest so far."""
    (x, y), size = corner, (CELL - 4, TALL - 4)
    return [
        box(f"box {key}", corner, size, colour, DARK if top else PALE, 1),
        word(f"number {key}", x + size[0] / 2, y + 25, f"{score:.0f}", size=24, weight=600),
    ]


def _scores(j: int, scores: np.ndarray, largest: float) -> list[Part]:
    """A tile's scores, which are its own: those of another come as these are gone."""
    return [
        part
        for n, score in enumerate(scores, j * BLOCK)
        for part in _score(
            f"{n}", (LEFT + n * CELL + 2, TOP + 2), score, COLOURS[j], bool(score == largest)
        )
    ]


def _largest(kept: Kept) -> list[Part]:
    """What stays of the first query's scores."""
    x, y = LARGEST
    return [
        word("max", x - 9, y + 23, "max so far", GREY, "end", SMALL),
        *_score("largest", LARGEST, kept.m, COLOURS[kept.whence], True),
    ]


def _columns(
    key: int,
    weights: np.ndarray,
    highs: np.ndarray,
    left: float,
    named: Sequence[str],
    opacity: float,
    unit: float = UNIT,
    step: float = STEP,
    low: float = LOW,
) -> list[Part]:
    """Of keys from this on, side by side; with their scores and values, if named."""
    parts = []
    for n, (weight, high) in enumerate(zip(weights, highs, strict=True), key):
        wide, top = unit * weight, low - step * high
        parts.append(
            box(f"column {n}", (left, top), (wide, low - top), COLOURS[n // BLOCK], 1, 0, opacity)
        )
        if named:
            score, value = (f"{a}{b:.0f}" for a, b in zip(named, (SCORES[0, n], high), strict=True))
            parts.append(word(f"says {n}", left + wide / 2, LOW - 8, score, GROUND, size=SMALL))
            parts.append(word(f"high {n}", left + 3, top - 6, value, INK, "start", SMALL))
        left += wide
    return parts


def _block(kept: Kept) -> list[Part]:
    """What all columns of the first query so far were levelled into, and its height."""
    wide, high = UNIT * kept.s, STEP * kept.answer
    y = LOW - high - 8
    return [
        box("block", (SUMS, LOW - high), (wide, high), ORANGE, FACE),
        word("level", SUMS, y, f"{kept.answer:.1f}", INK, "start", LEVEL, 700),
        *(
            [word("what", SUMS + NAMED, y, "so far", GREY, "start", SMALL)]
            if wide > 2 * NAMED
            else []
        ),
    ]


def _shrinks(shrunk: Kept, old_max: float, new_max: float) -> list[Part]:
    """By how much, over an arrow from its old right edge to the new one."""
    old, new = SUMS + UNIT * shrunk.s / shrunk.factor, SUMS + UNIT * shrunk.s
    high, middle, tip = STEP * shrunk.answer, (new + old) / 2, new + 4
    y = LOW - high / 2
    return [
        box("trace", (SUMS, LOW - high), (old - SUMS, high), GREY, 0, 1.5),
        line("shaft", [(old, y), (tip, y)], GREY, 1.5),
        line("head", [(tip + 7, y - 5), (tip, y), (tip + 7, y + 5)], GREY, 1.5),
        word("e", middle - 8, y - 10, "e", GREY, "end", 24),
        word("power", middle - 7, y - 21, f"{old_max:.0f}−{new_max:.0f}", GREY, "start", SMALL),
        word("factor", (SUMS + new) / 2, y + 8, f"×{shrunk.factor:.2f}", size=22, weight=700),
    ]


def _height(n: int, x: float) -> Part:
    """In a column, over all of it, with a cap at either end."""
    top, low = LOW - STEP * VALUES[n] + 4, LOW - 4
    ends = [(x - 4, top), (x + 4, top), (x, top), (x, low), (x - 4, low), (x + 4, low)]
    return line(f"height {n}", ends, GROUND, 2)


def _once(kept: Kept, highs: np.ndarray, left: float, opacity: float, *sizes: float) -> list[Part]:
    """All columns of the first query."""
    columns = _columns(0, np.exp(SCORES[0] - kept.m), highs, left, (), opacity, *sizes)
    return [p._replace(key=f"once {p.key}", look={**p.look, **EDGED}) for p in columns]


def _both(last: Kept) -> list[Part]:
    """All columns of the first query and the block they became, on one scale, and one level."""
    weights, high = np.exp(SCORES[0] - last.m), TALLER * last.answer
    y, left, sizes = FLOOR - high, WIDE - ONE * last.s, (ONE, TALLER, FLOOR)
    sides = ONE * np.array([0, *weights.reshape(BLOCKS, BLOCK).sum(axis=1).cumsum()])
    level = np.full(BLOCK, last.answer)
    parts = [
        *_holds(0, TOKENS, GREY, "scores at once"),
        *_holds(left, BLOCK, ORANGE, "at a time"),
        box("block", (left, y), (WIDE - left, high), ORANGE, 0),
        *_columns(2 * BLOCK, weights[2 * BLOCK :], level, left + sides[2], (), 0, *sizes),
        word("reached", WIDE / 2, y - 9, f"{last.answer:.1f}", INK, size=ANSWER, weight=700),
        word("answer", WIDE / 2, y + 24, "answer", GREY, size=SMALL),
    ]
    for j, (start, end) in enumerate(pairwise(sides)):
        wide, x = end - start - 2, left + start + 1
        parts += _keys("side", j, (start + 1, FLOOR + 5), wide)
        parts += _keys("band", j, (x, FLOOR + 5), wide)
        parts.append(box(f"poured {j}", (x, y), (wide, high), COLOURS[j], DARK, 1.5))
    parts += _once(last, VALUES, 0, 1, *sizes)
    return [*parts, line("same", [(0, y), (WIDE, y)], INK, 3)]
