"""Lesson 11 opens with a tile that slides over all scores: four are seen at a time, then forgotten.

Of a query stay its largest score and a bar: as long as its sum of weights, and as much of each
colour as that block of keys gave. The first query is followed: block B brings a larger score, so
all of its bar shrinks by one factor, and no score of A is needed again. In the end the answers
stand beside those from all scores at once.
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
        [1, 0, 0, 3, 2, 0],
        [3, 1, 2, 0, 1, 1],
        [3, 1, 2, 0, 4, 1],
        [1, 2, 0, 3, 0, 2],
        [2, 0, 1, 2, 3, 0],
        [1, 4, 2, 1, 3, 2],
    ],
    float,
)

HIGH, CELL = 266, 35  # of the sheet; a score
LEFT, TOP = 31, 32  # of all scores
RIGHT, FOOT = LEFT + TOKENS * CELL, 261  # of all scores; a line under them
HEADS = 20  # a line over them
MARGIN = 3  # of fast memory around a tile
APART = (330, 82)  # the tile that has not come yet
LARGEST, SUMS, UNIT = 262, 318, 36  # left of what is kept, and px for a sum of 1
ANSWERS, LENGTH = 390, 84  # left of answers, and how long they are
AT_ONCE = 262  # left of those from all scores at once
THIN = 7  # how far bars are from their row's edges
DIGITS = 22  # size of scores
DARK, PALE = 0.6, 0.2  # faces of a row's largest score so far, and of others
RAISED = str.maketrans("0123456789−", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")


class Kept(NamedTuple):
    """Of a block of queries, after some blocks of keys.

    Attributes:
        m: (2,), the largest score so far.
        whence: (2,), the first block that has it.
        sums: (2, blocks so far), of e^(score − m): s of each query, block by block.
        factors: (2,), by which the last block multiplied the sums before it.
    """

    m: np.ndarray
    whence: np.ndarray
    sums: np.ndarray
    factors: np.ndarray

    def having_met(self, scores: np.ndarray) -> Kept:
        """After one more block, (2, 2) scores; one factor a query multiplies what was kept."""
        m = np.maximum(self.m, scores.max(axis=1))
        fresh = np.exp(scores - m[:, None]).sum(axis=1, keepdims=True)
        factors = np.exp(self.m - m)
        whence = np.where(m > self.m, self.sums.shape[1], self.whence)
        return Kept(m, whence, np.hstack([self.sums * factors[:, None], fresh]), factors)

    @property
    def shares(self) -> np.ndarray:
        """(2, blocks so far), how much of an answer comes from each; a query's add up to 1."""
        shares: np.ndarray = self.sums / self.sums.sum(axis=1, keepdims=True)
        return shares


def at_once() -> np.ndarray:
    """(6, 3), how much of each answer comes from each block: softmax of all scores."""
    powers = np.exp(SCORES)
    weights = powers / powers.sum(axis=1, keepdims=True)
    shares: np.ndarray = weights.reshape(TOKENS, BLOCKS, BLOCK).sum(axis=2)
    return shares


def opening() -> Film:
    """The film."""
    every = SCORES.reshape(BLOCKS, BLOCK, BLOCKS, BLOCK).swapaxes(1, 2)
    kept = [_met(rows) for rows in every]
    a, b, c = kept[0]
    old, new = a.m[0], b.m[0]
    frames: list[Frame] = []

    def tile(at: int, told: str, *more: Part) -> None:
        """One in fast memory, and the answers of all blocks of queries before."""
        i, j = divmod(at, BLOCKS)
        parts = [*_grid(at, at), *_memory(_corner(at)), *_scores(at, every[i, j], kept[i][j].m)]
        parts += [part for n in range(i) for part in _answers(n, kept[n][-1])]
        frames.append(Frame([*parts, *more], told))

    told = f"{TOKENS} queries and {TOKENS} keys make {TOKENS**2} scores. Fast memory has "
    frames.append(Frame([*_grid(0), *_memory(APART), *_apart()], f"{told}room for {BLOCK**2}."))
    tile(0, f"The first {BLOCK} queries meet the first {BLOCK} keys. Bold: a row's largest score.")
    told = "Kept: each row's largest, and its weights, e^(score − largest), added up."
    tile(0, told, *_kept(0, a, a.m))
    told = f"The tile moves on and forgets A. Query 1 has a larger score: {_whole(new)}"
    tile(1, f"{told}, not {_whole(old)}.", *_before(a, b), *_kept(0, a, b.m))
    power = f"e{_whole(old)}⁻{_whole(new)}".translate(RAISED)
    shrunk = b._replace(sums=b.sums[:, :1])
    told = f"So its bar shrinks, times {power} = {b.factors[0]:.2f}. No score of A is needed again."
    tile(1, told, *_before(a, b), *_kept(0, shrunk, b.m), *_shrinks(a, b.factors))
    tile(2, "B's weights join the bars, then C's, each in its colour.", *_kept(0, c, c.m))
    tile(BLOCKS, "Each bar, divided by its sum, is an answer: so much of each block's values.")
    last = kept[1][-1]
    told = "The next queries: a tile comes, is used, and is gone."
    tile(2 * BLOCKS - 1, told, *_kept(1, last, last.m))
    last = kept[2][-1]
    tile(
        BLOCKS**2 - 1,
        "The last tile. Whatever came before is in the bars.",
        *_kept(2, last, last.m),
    )
    parts = [*_grid(BLOCKS**2), *_memory(_corner(BLOCKS**2 - 1)), *_equal()]
    says = f"{BLOCK**2} at a time"
    parts += [part for n in range(BLOCKS) for part in _answers(n, kept[n][-1], says)]
    told = f"{TOKENS**2} scores, {BLOCK**2} at a time, and the same answers as from all at once."
    frames.append(Frame(parts, told))
    return Film("Exact attention, tile by tile", frames, HIGH)


def _met(tiles: np.ndarray) -> list[Kept]:
    """What is kept of a block of queries after each block of keys, (blocks, 2, 2) scores."""
    none = np.full(BLOCK, -np.inf), np.zeros(BLOCK, int), np.empty((BLOCK, 0)), np.empty(BLOCK)
    kept, after = Kept(*none), []
    for each in tiles:
        kept = kept.having_met(each)
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
        word("queries", 2, FOOT, "queries", anchor="start", size=SMALL),
        word("all", RIGHT, FOOT, f"{TOKENS**2} scores", anchor="end", size=SMALL),
    ]
    for n in range(TOKENS):
        used = held is not None and n // BLOCK == held // BLOCKS
        corner, size = (4, _row(n) + 3), (22, CELL - 6)
        parts += [
            box(f"query {n}", corner, size, INK, 0.3 if used else 0.08, 1, 0.9),
            word(f"query name {n}", 15, _row(n) + 24, f"{n + 1}", size=SMALL),
        ]
    for j, (name, colour) in enumerate(zip(NAMES, COLOURS, strict=True)):
        used = held is not None and j == held % BLOCKS
        left, wide = LEFT + j * BLOCK * CELL, BLOCK * CELL
        parts += [
            box(f"keys {j}", (left + 3, 2), (wide - 6, 24), colour, 0.6 if used else 0.2, 1.5),
            word(f"keys name {j}", left + wide / 2, HEADS, f"keys {name}", size=SMALL),
        ]
    side = TOKENS * CELL
    for n in range(TOKENS + 1):
        along, edge = n * CELL, n % BLOCK == 0
        thick, pale = (1.5, 0.8) if edge else (1, 0.4)
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


def _memory(corner: Place) -> list[Part]:
    """Fast memory around a tile."""
    (x, y), side = corner, BLOCK * CELL + 2 * MARGIN
    return [box("memory", (x - MARGIN, y - MARGIN), (side, side), ORANGE, 0.08, 3)]


def _apart() -> list[Part]:
    """Fast memory has not come yet, and is named."""
    (x, y), side = APART, BLOCK * CELL
    middle, room = x + side / 2, range(BLOCK)
    return [
        *(
            box(f"room {r}{c}", (x + c * CELL, y + r * CELL), (CELL, CELL), INK, 0, 1, 0.4)
            for r, c in product(room, room)
        ),
        word("memory name", middle, y - 16, "fast memory", ORANGE, weight=600),
        word("memory room", middle, y + side + 28, f"room for {BLOCK**2} scores"),
    ]


def _score(key: str, corner: Place, score: float, colour: Colour, top: bool) -> list[Part]:
    """A score in its box; dark if it is its row's largest so far."""
    x, y = corner[0] + CELL / 2, corner[1] + CELL / 2 + 8
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


def _kept(i: int, kept: Kept, largest: np.ndarray) -> list[Part]:
    """What stays of queries of block i: a score, dark if still the largest, and a sum by blocks."""
    parts = [
        word("largest", LARGEST + CELL / 2, HEADS, "largest", size=SMALL),
        word("weights", SUMS, HEADS, "weights", anchor="start", size=SMALL),
    ]
    for r, m in enumerate(kept.m):
        corner, colour = (LARGEST, _row(i * BLOCK + r)), COLOURS[kept.whence[r]]
        parts += _score(f"largest {i} {r}", corner, m, colour, bool(m == largest[r]))
    sums = np.pad(kept.sums, ((0, 0), (0, BLOCKS - kept.sums.shape[1])))  # from which others grow
    return parts + _bars("sum", i * BLOCK, sums, SUMS, UNIT)


def _before(kept: Kept, after: Kept) -> list[Part]:
    """Outlines of the sums that will shrink."""
    edge = {"fill-opacity": 0, "stroke-width": 1.5, "opacity": 0.7}
    return [
        bar._replace(look={**bar.look, **edge})
        for bar, factor in zip(_bars("old", 0, kept.sums, SUMS, UNIT), after.factors, strict=True)
        if factor < 1
    ]


def _shrinks(before: Kept, factors: np.ndarray) -> list[Part]:
    """By how much, beside each sum that does."""
    right = SUMS + UNIT * before.sums.sum(axis=1) + 10
    return [
        word(f"factor {r}", right[r], _row(r) + 26, f"× {factor:.2f}", ORANGE, "start", 24, 700)
        for r, factor in enumerate(factors)
        if factor < 1
    ]


def _answers(i: int, kept: Kept, says: str = "answers") -> list[Part]:
    name = word("answers", ANSWERS + LENGTH / 2, HEADS, says, size=SMALL)
    return [*([name] if i == 0 else []), *_bars("sum", i * BLOCK, kept.shares, ANSWERS, LENGTH)]


def _equal() -> list[Part]:
    """Answers from all scores at once, and that they are the same."""
    between = (AT_ONCE + LENGTH + ANSWERS) / 2
    return [
        word("at once", AT_ONCE + LENGTH / 2, HEADS, f"{TOKENS**2} at once", size=SMALL),
        *_bars("at once", 0, at_once(), AT_ONCE, LENGTH),
        *(word(f"equal {n}", between, _row(n) + 25, "=", size=24) for n in range(TOKENS)),
    ]


def _bars(what: str, first: int, numbers: np.ndarray, left: float, unit: float) -> list[Part]:
    """Sums or shares of queries from the first on; unit is how long 1 is."""
    parts = []
    for n, row in enumerate(numbers, first):
        right = left
        for j, number in enumerate(row):
            size = unit * number, CELL - 2 * THIN
            parts.append(box(f"{what} {n} {j}", (right, _row(n) + THIN), size, COLOURS[j]))
            right += size[0]
    return parts
