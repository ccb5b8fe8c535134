"""Lesson 11 opens with a tile that slides over all scores: two are held at a time, then forgotten.

The first query is followed. Each key gives it a column, as wide as its weight and as high as its
value. Columns are poured level, into one block, whose width is the sum of the weights, s, and whose
area is the sum of weights × values, o: these and the largest score, m, are what is kept. Inside it
each block of keys stays as wide as its weights. Keys B bring a larger score, so what A gave becomes
narrower by one factor, and no score of A is needed again. In the end the block's height, o/s, is
the answer, at which all columns at once are level, too.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from attnlab.figures.live.film import Film, Frame
from attnlab.figures.live.parts import INK, SMALL, Part, Place, box, line, word
from attnlab.figures.palette import BLUE, GREEN, GREY, ORANGE, PURPLE, Colour

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

HIGH, HEAD = 242, 18  # of the sheet; a line over it
LEFT, TOP, CELL, TALL = 86, 30, 26, 30  # of all scores; of one
SIDE, LOW, FOOT = TOKENS * CELL, 237, 236  # of all scores; the floor; a line of what is held
ROOM, ROOM_SIZE = (256, 27), (222, LOW - 24)  # of what is kept, in fast memory
SUMS, OTHER, UNIT, STEP = (
    260,
    2,
    100,
    36,
)  # left of columns, and at once; px for 1, of weight, value
NARROW = 18  # a column whose value stands beside its top
LARGEST = (446, 32)  # the largest score so far
LEVEL, LOUD = 26, 40  # size of a block's height, and of how many scores are held
DARK, PALE = 0.6, 0.2  # faces of the largest score so far, and of others


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

    def tile(j: int, told: str, *more: Part, held: Kept | None = None) -> None:
        """Two of the first query's scores, and what is held of those before them."""
        parts = [*_grid(f"{BLOCK} of {TOKENS**2} held", j), *_memory(j)]
        parts += [*_scores(j, scores[j], met[j].m), *_largest(held or met[j], held is None)]
        frames.append(Frame([*parts, *more], told))

    def columns(j: int, level: bool = False) -> list[Part]:
        """Of the first query in a tile, right of what was kept before, or levelled with it."""
        now, before = met[j], met[j - 1] if j else Kept()
        weights = np.exp(scores[j] - now.m)
        left = SUMS + UNIT * before.s * now.factor
        highs = np.full(BLOCK, now.answer) if level else VALUES[j * BLOCK :][:BLOCK]
        return _columns(j * BLOCK, weights, highs, left, named=not level, opacity=float(not level))

    parts = [*_grid(f"{TOKENS**2} scores"), *_memory(0)]
    parts += _holds(ROOM[0] + ROOM_SIZE[0] / 2, 120, BLOCK, ORANGE)
    told = f"{TOKENS} queries ask {TOKENS} keys: {TOKENS**2} scores. "
    frames.append(Frame(parts, f"{told}Fast memory holds {BLOCK} of them at a time."))
    told = "Each key is a column: width = e^(score − max), height = value."
    tile(0, told, *columns(0))
    told = "Pour the columns level: height = the average so far."
    tile(0, told, *columns(0, True), *_block([a]))
    told = "The tile moves on to block B. A's scores are forgotten."
    tile(1, told, *_trace(a), *_block([a]), held=a)
    shrunk = a.shrunk(b.factor)
    told = f"A larger score: A now counts {b.factor:.2f} as much. Narrower, same height."
    tile(1, told, *_trace(a), *_block([shrunk]), *_shrinks(shrunk))
    told = "B's columns join. Their widths are measured from the new max."
    tile(1, told, *columns(1), *_block([shrunk]))
    told = "Poured level again, and B's scores are forgotten. C's columns join."
    tile(2, told, *columns(1, True), *columns(2), *_block([a, b]))
    told = "Poured a last time: the height is the answer to query 1. The others go the same way."
    tile(2, told, *columns(2, True), *_block(met))
    told = f"All {TOKENS} scores of query 1 at once, or {BLOCK} at a time: "
    frames.append(Frame(_both(met), f"{told}its answer is {c.answer:.1f} both times."))
    return Film("Exact attention, tile by tile", frames, HIGH)


def after_each(scores: np.ndarray) -> list[Kept]:
    """What is kept of a query after each block of keys."""
    kept, after = Kept(), []
    for j, each in enumerate(scores.reshape(BLOCKS, BLOCK)):
        kept = kept.having_met(j, each)
        after.append(kept)
    return after


def _grid(held: str, done: int = 0) -> list[Part]:
    """All scores, none of which is there, under their keys; so many tiles were used."""
    parts = [
        word("keys", LEFT - 9, HEAD, "keys", GREY, "end", SMALL),
        word("first", LEFT - 9, TOP + 22, "query 1", ORANGE, "end", SMALL, 600),
        word("last", LEFT - 9, TOP + 22 + 5 * TALL, f"query {TOKENS}", GREY, "end", SMALL),
        word("held", LEFT + SIDE, FOOT, held, INK, "end", 22, 600),
    ]
    for j, (name, colour) in enumerate(zip(NAMES, COLOURS, strict=True)):
        left, wide = LEFT + j * BLOCK * CELL, BLOCK * CELL
        parts += [
            box(f"keys {name}", (left + 2, 2), (wide - 4, 22), colour, 0.35, 1.5),
            word(f"keys name {name}", left + wide / 2, HEAD, name, size=SMALL, weight=600),
        ]
        if j < done:
            parts.append(box(f"done {j}", (left, TOP), (wide, TALL), GREY, 0.3))
    for n in range(TOKENS + 1):
        x, y = LEFT + n * CELL, TOP + n * TALL
        parts += [
            line(f"across {n}", [(LEFT, y), (LEFT + SIDE, y)], GREY, 1, 0.5),
            line(f"down {n}", [(x, TOP), (x, TOP + TOKENS * TALL)], GREY, 1, 0.5),
        ]
    return parts


def _memory(j: int) -> list[Part]:
    """Fast memory: of a tile, and of what is kept."""
    corner, size = (LEFT + j * BLOCK * CELL - 3, TOP - 3), (BLOCK * CELL + 6, TALL + 6)
    return [
        box("kept in", ROOM, ROOM_SIZE, ORANGE, 0.04, 2),
        box("memory", corner, size, ORANGE, 0.08, 3),
        word("title", ROOM[0] + ROOM_SIZE[0], HEAD, "fast memory", ORANGE, "end", SMALL, 600),
    ]


def _holds(
    x: float, y: float, many: int, colour: str | Colour, how: str = "at a time"
) -> list[Part]:
    """How many scores are held."""
    return [
        word(f"holds {how}", x, y, f"{many}", colour, size=LOUD, weight=700),
        word(f"held {how}", x, y + 28, f"scores {how}", colour),
    ]


def _score(key: str, corner: Place, score: float, colour: Colour, top: bool) -> list[Part]:
    """A score in its box; dark if it is the largest so far."""
    (x, y), size = corner, (CELL - 4, TALL - 4)
    return [
        box(f"box {key}", corner, size, colour, DARK if top else PALE, 1),
        word(f"number {key}", x + size[0] / 2, y + 21, f"{score:.0f}", size=22, weight=600),
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


def _largest(kept: Kept, top: bool) -> list[Part]:
    """What stays of the first query's scores, dark if it is still on top."""
    x, y = LARGEST
    return [
        word("so far", x - 7, y + 19, "max so far", anchor="end", size=SMALL),
        *_score("largest", LARGEST, kept.m, COLOURS[kept.whence], top),
    ]


def _standing(
    key: str, left: float, size: Place, colour: Colour, opacity: float = 1, ghost: bool = False
) -> Part:
    """A box on the floor of what is kept, or its edge."""
    filled, edge = (0.06, 1.5) if ghost else (1, 0)
    return box(key, (left, LOW - size[1]), size, colour, filled, edge, opacity)


def _columns(
    key: int,
    weights: np.ndarray,
    highs: np.ndarray,
    left: float,
    named: bool = False,
    of: str = "column",
    opacity: float = 1,
    ghost: bool = False,
) -> list[Part]:
    """Of keys from this on, side by side; with their values, if named; or only edges."""
    parts = []
    for n, (weight, high) in enumerate(zip(weights, highs, strict=True), key):
        size, colour = (UNIT * weight, STEP * high), COLOURS[n // BLOCK]
        parts.append(_standing(f"{of} {n}", left, size, colour, opacity, ghost))
        if named:
            middle, top = left + size[0] / 2, LOW - size[1]
            x, y = (middle, top - 5) if size[0] > NARROW else (left + size[0] + 9, top + 14)
            parts.append(word(f"high {n}", x, y, f"{high:.0f}", size=SMALL))
        left += size[0]
    return parts


def _block(kept: list[Kept]) -> list[Part]:
    """What columns of the first query were levelled into after each block of keys: its height.

    Each block of keys has in it what its weights are by now.
    """
    last, parts, left = kept[-1], [], SUMS + 0.0
    wide, high = UNIT * last.s, STEP * last.answer
    sums = np.array([each.s * np.exp(each.m - last.m) for each in kept])
    for n, share in enumerate(np.diff(sums, prepend=0)):
        size = UNIT * share, high
        parts += [
            _standing(f"inside {n}", left, size, COLOURS[n], 0.4),
            word(f"inside name {n}", left + size[0] / 2, LOW - 10, NAMES[n], size=SMALL),
        ]
        left += size[0]
    return [
        *parts,
        box("block", (SUMS, LOW - high), (wide, high), GREY, 0, 2),
        _level(SUMS, LOW - high - 6, last.answer),
    ]


def _trace(kept: Kept) -> list[Part]:
    """Of the block that will shrink."""
    wide, high = UNIT * kept.s, STEP * kept.answer
    return [box("trace", (SUMS, LOW - high), (wide, high), GREY, 0.1, 1.5)]


def _shrinks(shrunk: Kept) -> list[Part]:
    """By how much, over an arrow from its old right edge to the new one."""
    old, new = SUMS + UNIT * shrunk.s / shrunk.factor, SUMS + UNIT * shrunk.s
    y, tip = LOW - STEP * shrunk.answer / 2, new + 3
    return [
        line("shaft", [(old, y), (tip, y)], ORANGE, 3),
        line("head", [(tip + 8, y - 6), (tip, y), (tip + 8, y + 6)], ORANGE, 3),
        word("factor", new + 4, y - 14, f"× {shrunk.factor:.2f}", anchor="start", weight=700),
    ]


def _both(kept: list[Kept]) -> list[Part]:
    """All columns of the first query beside the block of its tiles, and one level."""
    s, powers = kept[-1].s, np.exp(SCORES[0])
    weights = powers / powers.sum()
    wide, answer = UNIT * s, weights @ VALUES
    y = LOW - STEP * answer
    shares = (s * weights).reshape(BLOCKS, BLOCK).sum(axis=1)
    lefts = OTHER + UNIT * (shares.cumsum() - shares)
    poured = [
        _standing(f"poured {n}", left, (UNIT * share, LOW - y), COLOURS[n], 0.4)
        for n, (left, share) in enumerate(zip(lefts, shares, strict=True))
    ]
    return [
        *_holds(OTHER + wide / 2, 38, TOKENS, INK, "at once"),
        *_holds(SUMS + wide / 2, 38, BLOCK, ORANGE),
        *poured,
        *_columns(0, s * weights, VALUES, OTHER, of="once", ghost=True),
        box("outline", (OTHER, y), (wide, LOW - y), GREY, 0, 2),
        *_block(kept)[:-1],
        line("at once", [(OTHER, y), (SUMS + wide, y)], INK, 3),
        _level(SUMS + wide - 42, y - 9, answer),
    ]


def _level(x: float, y: float, answer: float) -> Part:
    """How high a block is."""
    return word("level", x, y, f"{answer:.1f}", INK, "start", LEVEL, 700)
