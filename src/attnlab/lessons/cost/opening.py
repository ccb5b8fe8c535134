"""Lesson 11 opens with a tile that slides over all scores: four are seen at a time, then forgotten.

The first query is followed. Each key gives it a column, as wide as its weight and as high as its
value. Columns are poured level, into one block, whose width is the sum of the weights, s, and whose
area is the sum of weights × values, o: these and the largest score, m, are what is kept. Inside it
each block of keys stays as wide as its weights. Keys B bring a larger score, so what A gave becomes
narrower by one factor, and no score of A is needed again. In the end the block's height, o/s, is
the answer, at which all columns at once are level, too.
"""

from __future__ import annotations

from itertools import product
from typing import NamedTuple

import numpy as np

from attnlab.figures.live.film import Film, Frame
from attnlab.figures.live.parts import INK, SMALL, Part, Place, box, line, word
from attnlab.figures.palette import BLUE, GREEN, GREY, ORANGE, PURPLE, Colour

BLOCK, BLOCKS = 2, 3  # queries or keys in a block; blocks
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

HIGH, CELL = 264, 31  # of the sheet; a score
LEFT, TOP = 58, 52  # of all scores
LOW, FOOT = TOP + TOKENS * CELL, 257  # of all scores; a line under them
HEADS = 19, 43  # lines over them
ROOM, ROOM_SIZE = (256, TOP - 2), (222, LOW - TOP + 5)  # of what is kept, in fast memory
SUMS, UNIT, STEP = 260, 100, 33  # left of columns; px for a weight of 1, and for a value of 1
MARGIN = 3  # of fast memory around a tile
APART = (ROOM[0] + ROOM_SIZE[0] / 2 - CELL, 66)  # the tile that has not come yet
LARGEST = (443, 55)  # a row's largest score so far
DIGITS, LEVEL = 22, 26  # size of scores; of a block's height
DARK, PALE = 0.6, 0.2  # faces of a row's largest score so far, and of others
LATER = 0.3  # of queries that are not seen yet


class Kept(NamedTuple):
    """Of a block of queries, after some blocks of keys; each is (2,).

    Attributes:
        m: the largest score so far.
        whence: the first block that has it.
        s: the sum of e^(score − m).
        o: the sum of e^(score − m) times value.
        factors: by which the last block multiplied the sums before it.
    """

    m: np.ndarray
    whence: np.ndarray
    s: np.ndarray
    o: np.ndarray
    factors: np.ndarray

    def having_met(self, j: int, scores: np.ndarray) -> Kept:
        """After block j of keys, (2, 2) scores; one factor a query multiplies both sums."""
        m = np.maximum(self.m, scores.max(axis=1))
        shrunk, weights = self.shrunk(np.exp(self.m - m)), np.exp(scores - m[:, None])
        s, o = shrunk.s + weights.sum(axis=1), shrunk.o + weights @ VALUES[j * BLOCK :][:BLOCK]
        return Kept(m, np.where(m > self.m, j, self.whence), s, o, shrunk.factors)

    def shrunk(self, factors: np.ndarray) -> Kept:
        return self._replace(s=self.s * factors, o=self.o * factors, factors=factors)

    @property
    def answers(self) -> np.ndarray:
        answers: np.ndarray = self.o / self.s
        return answers


_ZERO = np.zeros(BLOCK)
NOTHING = Kept(_ZERO - np.inf, _ZERO.astype(int), _ZERO, _ZERO, _ZERO)


def at_once(query: int) -> np.ndarray:
    """(6,), softmax of all scores of a query."""
    powers = np.exp(SCORES[query])
    weights: np.ndarray = powers / powers.sum()
    return weights


def opening() -> Film:
    """The film."""
    first = SCORES[:BLOCK].reshape(BLOCK, BLOCKS, BLOCK).swapaxes(0, 1)
    firsts = _met(first)
    a, b, c = firsts
    frames: list[Frame] = []

    def tile(j: int, told: str, *more: Part, held: Kept | None = None) -> None:
        """One of the first queries in fast memory, and what is held of those before it."""
        parts = [*_grid(j, j), *_memory(_corner(j)), *_title("fast memory", "query 1; 2 likewise")]
        parts += [*_scores(j, first[j], firsts[j].m), *_largest(held or firsts[j], held is None)]
        frames.append(Frame([*parts, *more], told))

    def columns(j: int, level: bool = False) -> list[Part]:
        """Of the first query in a tile, right of what was kept before, or levelled with it."""
        now, before = firsts[j], firsts[j - 1] if j else NOTHING
        weights = np.exp(first[j, 0] - now.m[0])
        left = SUMS + UNIT * before.s[0] * now.factors[0]
        highs = np.full(BLOCK, now.answers[0]) if level else VALUES[j * BLOCK :][:BLOCK]
        return _columns(j * BLOCK, weights, highs, left, named=not level, opacity=float(not level))

    told = f"{TOKENS} queries, {TOKENS} keys: {TOKENS**2} scores, "
    parts = [*_grid(0), *_memory(APART), *_apart()]
    frames.append(Frame(parts, f"{told}of which fast memory holds {BLOCK**2} at a time."))
    told = "Each key is a column: width = e^(score − max), height = value."
    tile(0, told, *columns(0))
    told = "Pour the columns level: height = the average so far."
    tile(0, told, *columns(0, True), *_block([a]))
    told = "The tile moves on to block B. A's scores are forgotten."
    tile(1, told, *_trace(a), *_block([a]), held=a)
    shrunk = a.shrunk(b.factors)
    told = f"A larger score: A now counts {b.factors[0]:.2f} as much. Narrower, same height."
    tile(1, told, *_trace(a), *_block([shrunk]), *_shrinks(shrunk))
    told = "B's columns join. Their widths are measured from the new max."
    tile(1, told, *columns(1), *_block([shrunk]))
    told = "Poured level again, and B's scores are forgotten. C's columns join."
    tile(2, told, *columns(1, True), *columns(2), *_block([a, b]))
    told = "Poured level a last time: the height is the answer to query 1."
    tile(2, told, *columns(2, True), *_block(firsts))
    told = f"On it goes, {BLOCK**2} scores held, not {TOKENS**2}. Query 1's {TOKENS} at once give "
    parts = [*_grid(BLOCKS**2), *_at_once(c)]
    frames.append(Frame(parts, f"{told}{c.answers[0]:.1f}, too."))
    return Film("Exact attention, tile by tile", frames, HIGH)


def _met(tiles: np.ndarray) -> list[Kept]:
    """What is kept of a block of queries after each block of keys, (blocks, 2, 2) scores."""
    kept, after = NOTHING, []
    for j, each in enumerate(tiles):
        kept = kept.having_met(j, each)
        after.append(kept)
    return after


def _whole(score: float) -> str:
    return f"{score:.0f}"


def _row(query: int) -> float:
    """The top of a query's row, counted from 0."""
    return TOP + query * CELL


def _corner(tile: int) -> Place:
    """Of a tile among all, counted row by row."""
    i, j = divmod(tile, BLOCKS)
    return LEFT + j * BLOCK * CELL, _row(i * BLOCK)


def _grid(done: int, held: int | None = None) -> list[Part]:
    """Queries, keys, and all scores, none of which is there: ticked are those that were used."""
    parts = [
        word("queries", LEFT - 16, FOOT, "queries", size=SMALL),
        word("keys", 2, HEADS[0], "keys", anchor="start", size=SMALL),
        word("values", 2, HEADS[1], "values", anchor="start", size=SMALL),
    ]
    for n in range(TOKENS):
        used = held is not None and n // BLOCK == held // BLOCKS
        seen = 1 if used or held is None else LATER
        corner, size = (LEFT - 27, _row(n) + 3), (22, CELL - 6)
        middle, face = corner[0] + size[0] / 2, 0.3 if used else 0.08
        parts += [
            box(f"query {n}", corner, size, ORANGE if n == 0 else INK, face, 1, 0.9 * seen),
            word(f"query name {n}", middle, _row(n) + 22, f"{n + 1}", size=SMALL, opacity=seen),
        ]
    for n in range(TOKENS):
        j, left = n // BLOCK, LEFT + n * CELL
        used = held is not None and j == held % BLOCKS
        name = f"{NAMES[j]}{n % BLOCK + 1}"
        look = COLOURS[j], 0.6 if used else 0.2, 1.5
        parts += [
            box(f"key {n}", (left + 1.5, 1), (CELL - 3, 24), *look),
            word(f"key name {n}", left + CELL / 2, HEADS[0], name, size=SMALL),
        ]
    parts += [
        word(f"value {n}", LEFT + (n + 0.5) * CELL, HEADS[1], _whole(value), size=SMALL)
        for n, value in enumerate(VALUES)
    ]
    side = TOKENS * CELL
    for n in range(TOKENS + 1):
        along, edge = n * CELL, n % BLOCK == 0
        thick, pale = (1.5, 0.8) if edge else (1, 0.25)
        across, down = [(0, along), (side, along)], [(along, 0), (along, side)]
        parts += [
            line(f"{key} {n}", [(LEFT + x, TOP + y) for x, y in ends], GREY, thick, pale, "4 4")
            for key, ends in (("across", across), ("down", down))
        ]
    for n in range(done):
        x, y = (corner + CELL for corner in _corner(n))
        tick = [(x - 9, y), (x - 3, y + 6), (x + 9, y - 7)]
        parts.append(line(f"done {n}", tick, GREY, 2.5))
    return parts


def _memory(corner: Place, colour: Colour = ORANGE) -> list[Part]:
    """Fast memory of a tile; and of what is kept, or a room for a check."""
    (x, y), side = corner, BLOCK * CELL + 2 * MARGIN
    return [
        box("kept in", ROOM, ROOM_SIZE, colour, 0.06, 2),
        box("memory", (x - MARGIN, y - MARGIN), (side, side), ORANGE, 0.08, 3),
    ]


def _title(*lines: str, colour: str | Colour = ORANGE) -> list[Part]:
    """Of what is kept: where, and of which query."""
    right, looks = ROOM[0] + ROOM_SIZE[0], ((colour, "end", SMALL, 600), (INK, "end", SMALL))
    return [word(f"title {n}", right, HEADS[n], each, *looks[n]) for n, each in enumerate(lines)]


def _apart() -> list[Part]:
    """Fast memory, of which the tile has not gone yet."""
    (x, y), side = APART, BLOCK * CELL
    middle, room = x + side / 2, range(BLOCK)
    return [
        *(
            box(f"room {r}{c}", (x + c * CELL, y + r * CELL), (CELL, CELL), INK, 0, 1, 0.4)
            for r, c in product(room, room)
        ),
        *_title("fast memory"),
        word("memory room", middle, y + side + 32, f"{BLOCK**2} scores,"),
        word("tile room", middle, y + side + 59, "their q, k and v,"),
        word("totals room", middle, y + side + 86, "and a few totals"),
    ]


def _score(key: str, corner: Place, score: float, colour: Colour, top: bool) -> list[Part]:
    """A score in its box; dark if it is its row's largest so far."""
    x, y = corner[0] + CELL / 2, corner[1] + CELL / 2 + 7
    size, weight = (CELL - 4, CELL - 4), 700 if top else 400
    return [
        box(f"box {key}", (corner[0] + 2, corner[1] + 2), size, colour, DARK if top else PALE, 1),
        word(f"number {key}", x, y, _whole(score), size=DIGITS, weight=weight),
    ]


def _scores(tile: int, scores: np.ndarray, largest: np.ndarray) -> list[Part]:
    """A tile's scores, which are its own: those of another come as these are gone."""
    left, top = _corner(tile)
    return [
        part
        for (r, c), score in np.ndenumerate(scores)
        for part in _score(
            f"{tile} {r}{c}",
            (left + c * CELL, top + r * CELL),
            score,
            COLOURS[tile % BLOCKS],
            bool(score == largest[r]),
        )
    ]


def _largest(kept: Kept, top: bool) -> list[Part]:
    """What stays of the first query's scores, dark if it is still on top."""
    x, y = LARGEST
    return [
        word("so far", x - 6, y + 21, "max so far", anchor="end", size=SMALL),
        *_score("largest", LARGEST, kept.m[0], COLOURS[kept.whence[0]], top),
    ]


def _standing(key: str, left: float, size: Place, colour: Colour, opacity: float = 1) -> Part:
    """A box on the floor of what is kept."""
    return box(key, (left, LOW - size[1]), size, colour, opacity=opacity)


def _columns(
    key: int,
    weights: np.ndarray,
    highs: np.ndarray,
    left: float,
    named: bool = False,
    of: str = "column",
    opacity: float = 1,
) -> list[Part]:
    """Of keys from this on, side by side; with their values, if they are named."""
    parts = []
    for n, (weight, high) in enumerate(zip(weights, highs, strict=True), key):
        size, colour = (UNIT * weight, STEP * high), COLOURS[n // BLOCK]
        parts.append(_standing(f"{of} {n}", left, size, colour, opacity))
        if named:
            at = left + max(size[0] / 2, 8), LOW - size[1] - 5
            parts.append(word(f"high {n}", *at, _whole(high), size=SMALL))
        left += size[0]
    return parts


def _block(kept: list[Kept]) -> list[Part]:
    """What columns of the first query were levelled into after each block of keys: its height.

    Each block of keys has in it what its weights are by now.
    """
    last, parts, left = kept[-1], [], SUMS + 0.0
    wide, high = UNIT * last.s[0], STEP * last.answers[0]
    sums = np.array([each.s[0] * np.exp(each.m[0] - last.m[0]) for each in kept])
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
        _level(SUMS + wide / 2, LOW - high - 6, last.answers[0]),
    ]


def _trace(kept: Kept) -> list[Part]:
    """Of the block that will shrink."""
    size = UNIT * kept.s[0], STEP * kept.answers[0]
    return [_standing("trace", SUMS, size, GREY, 0.25)]


def _shrinks(shrunk: Kept) -> list[Part]:
    """By how much, over an arrow from its old right edge to the new one."""
    s, factor = shrunk.s[0], shrunk.factors[0]
    old, new = SUMS + UNIT * s / factor, SUMS + UNIT * s
    y, tip = LOW - STEP * shrunk.answers[0] / 2, new + 3
    return [
        line("shaft", [(old, y), (tip, y)], ORANGE, 3),
        line("head", [(tip + 8, y - 6), (tip, y), (tip + 8, y + 6)], ORANGE, 3),
        word("factor", new + 4, y - 14, f"× {factor:.2f}", anchor="start", weight=700),
    ]


def _at_once(kept: Kept) -> list[Part]:
    """All columns of the first query before the block of its tiles, and where they are levelled."""
    weights, s = at_once(0), kept.s[0]
    size = UNIT * s, STEP * kept.answers[0]
    n, y = weights.argmax(), LOW - STEP * (weights @ VALUES)
    middle = SUMS + UNIT * s * (weights[:n].sum() + weights[n] / 2)
    return [
        *_memory(_corner(BLOCKS**2 - 1), GREY),
        *_title("a check", "query 1 at once", colour=INK),
        _standing("block", SUMS, size, GREY, 0.3),
        *_columns(0, s * weights, VALUES, SUMS, of="once"),
        line("at once", [(SUMS, y), (SUMS + size[0], y)], ORANGE, 3),
        _level(middle, y - 7, weights @ VALUES),
    ]


def _level(x: float, y: float, answer: float) -> Part:
    """How high a block is."""
    return word("level", x, y, f"{answer:.1f}", size=LEVEL, weight=700)
