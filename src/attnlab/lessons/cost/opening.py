"""Lesson 11 opens with tiles: scores live in a small fast memory, 16 at a time, and are forgotten.

Queries and keys come there block by block. Of a row its largest score and a sum are kept. The first
row is followed: block B brings a larger score, so the old sum shrinks by one factor, and no score
of A is needed again.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from attnlab.figures.live.film import Film, Frame
from attnlab.figures.live.parts import INK, SIZE, SMALL, Part, Place, box, line, word
from attnlab.figures.palette import BLUE, GREEN, GREY, ORANGE, PURPLE, Colour

BLOCK, BLOCKS = 4, 3  # queries or keys in a block; blocks
TOKENS = BLOCK * BLOCKS
NAMES, COLOURS = "ABC", (PURPLE, GREEN, BLUE)  # of blocks of keys

HIGH, HEAD, FEET = 268, 20, 254  # of the sheet; of the lines over both memories and in their feet
SLOW, FAST = ((2, 30), (206, 236)), ((216, 30), (262, 236))  # corner and size of each memory
STRIP, BETWEEN = 18, 4  # how thick blocks of queries or keys are, and how far from their scores
SMALLER, MAP = 12, (28, 72)  # a score among all, and where they begin
OUT = (178, 24)  # left and width of the answers
CELL, TILE = 36, (244, 72)  # a score in fast memory, and where they begin
LARGEST, SUMS, UNIT = 401, 412, 15.5  # middle and left of what is kept, and px for a sum of 1
DIGITS, MANY = 22, 64  # sizes of scores, and of how many there are


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
    frames: list[Frame] = []

    def tile(at: int, following: int | None, told: str, *more: Part) -> None:
        """One in fast memory, and at their places the blocks that come for the following one."""
        i, j = divmod(at, BLOCKS)
        parts = [*_slow(at), *_held(at), *_coming(following, at), *_fast(f"{BLOCK**2} scores held")]
        parts += [part for n in range(i) for part in _answers(n, kept[n][-1])]
        parts += [*_came(at), *_tile(at, every[i, j], kept[i][j].m), *more]
        frames.append(Frame(parts, told))

    told = f"{TOKENS} queries and {TOKENS} keys make {TOKENS**2} scores. Fast memory has room "
    parts = [*_slow(0), *_coming(0), *_fast("scores fit here"), *_room(), *_many()]
    frames.append(Frame(parts, f"{told}for {BLOCK**2}."))
    told = f"{BLOCK} queries and block A of the keys come. Their {BLOCK**2} scores are made there."
    tile(0, None, told)
    told = (
        f"A row keeps its largest score, {_whole(old)}, and the sum of e^(score − {_whole(old)})."
    )
    first = _kept(0, a.m[:1], a.sums[:1])
    tile(0, 1, told, *first)
    told = f"Tile A is forgotten. Block B comes, with a larger score: {_whole(new)}."
    first = _kept(0, b.m[:1], np.array([[a.sums[0, 0], 0]]))
    tile(1, None, told, *first)
    power = f"e^({_whole(old)} − {_whole(new)})"
    shrinks = word("factor", 474, TILE[1] + CELL + 26, f"×{factor:.2f}", ORANGE, "end", SIZE, 700)
    first = [*_kept(0, b.m[:1], np.array([[b.sums[0, 0], 0]])), shrinks]
    tile(1, None, f"So the old sum shrinks, times {power}. No score of A is needed.", *first)
    told = "B's own sum joins it, and each row does the same."
    tile(1, 2, told, *_kept(0, b.m, b.sums))
    tile(2, None, "Then block C.", *_kept(0, c.m, c.sums))
    told = f"Each row becomes shares of A, B and C. {BLOCK} answers go out, and no score."
    parts = [*_slow(BLOCKS), *_coming(BLOCKS), *_fast("0 scores held"), *_room()]
    parts += _answers(0, c)
    frames.append(Frame(parts, told))
    for at, told in (
        (3, "The next four queries: a tile comes, is used, and is gone."),
        (5, "Keys come and go. Of each row only two numbers stay."),
        (7, "At no time are there more scores than those of one tile."),
    ):
        i, j = divmod(at, BLOCKS)
        tile(
            at,
            at + 2 if at + 2 < BLOCKS**2 else None,
            told,
            *_kept(i, kept[i][j].m, kept[i][j].sums),
        )
    parts = [*_slow(BLOCKS**2), *_fast("scores at most"), *_room(), *_many()]
    parts += [part for n in range(BLOCKS) for part in _answers(n, kept[n][-1])]
    told = (
        f"{TOKENS**2} scores, never more than {BLOCK**2} held, and all {TOKENS} answers are exact."
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


def _corner(tile: int) -> Place:
    """Of a tile among all, counted row by row."""
    i, j = divmod(tile, BLOCKS)
    return MAP[0] + j * BLOCK * SMALLER, MAP[1] + i * BLOCK * SMALLER


def _slow(done: int) -> list[Part]:
    """Queries, keys and answers, and where all scores would be, of which so many tiles are done."""
    (left, top), side = MAP, TOKENS * SMALLER
    parts = [
        box("slow", *SLOW, filled=0.06),
        word("slow name", SLOW[0][0] + SLOW[1][0] / 2, HEAD, "slow memory"),
        word("queries", left - BETWEEN - STRIP / 2, top - 9, "q", size=SMALL),
        word("answers", OUT[0] + OUT[1] / 2, top + side + 17, "out", size=SMALL),
    ]
    for n in range(TOKENS + 1):
        along, pale = n * SMALLER, 0.3 if n % BLOCK else 0.8
        parts += [
            line(f"across {n}", [(left, top + along), (left + side, top + along)], GREY, 1, pale),
            line(f"down {n}", [(left + along, top), (left + along, top + side)], GREY, 1, pale),
        ]
    wide = BLOCK * SMALLER
    for n in range(BLOCKS):
        y = _corner(n * BLOCKS)[1]
        parts += [
            _queries(f"q {n}", n, False),
            *_keys(f"k {n}", n, False),
            box(f"out {n}", (OUT[0], y + 1), (OUT[1], wide - 2), INK, 0, 1, 0.5),
        ]
    for tile in range(done):
        (x, y), colour = _corner(tile), COLOURS[tile % BLOCKS]
        parts.append(box(f"done {tile}", (x + 1, y + 1), (wide - 2, wide - 2), colour, 0.3))
    says = f"{done * BLOCK**2} of {TOKENS**2} done"
    parts.append(word("count", SLOW[0][0] + SLOW[1][0] / 2, FEET, says, size=SMALL, weight=600))
    return parts


def _queries(key: str, i: int, fast: bool) -> Part:
    """A block of queries, in one of both memories."""
    (x, y), side = (TILE, CELL) if fast else (_corner(i * BLOCKS), SMALLER)
    corner = x - BETWEEN - STRIP, y + 1
    return box(key, corner, (STRIP, BLOCK * side - 2), ORANGE, 0.3, 1.5)


def _keys(key: str, j: int, fast: bool) -> list[Part]:
    """A block of keys, in one of both memories, with its name."""
    (x, y), side = (TILE, CELL) if fast else (_corner(j), SMALLER)
    wide, top = BLOCK * side, y - BETWEEN - STRIP
    return [
        box(key, (x + 1, top), (wide - 2, STRIP), COLOURS[j], 0.3, 1.5),
        word(f"{key} name", x + wide / 2, top + 15, NAMES[j], size=SMALL),
    ]


def _coming(tile: int | None, held: int = -1) -> list[Part]:
    """Blocks that a tile needs and fast memory lacks, still at their places in slow memory."""
    if tile is None:
        return []
    (i, j), there = divmod(tile, BLOCKS), held // BLOCKS
    came = [] if i == there else [_queries(f"came q {i}", i, False)]
    return [*came, _keys(f"came k {tile}", j, False)[0]]


def _came(tile: int) -> list[Part]:
    """Blocks in fast memory."""
    i, j = divmod(tile, BLOCKS)
    name = word("came q name", TILE[0] - BETWEEN - STRIP / 2, TILE[1] - 9, "q", size=SMALL)
    return [_queries(f"came q {i}", i, True), name, *_keys(f"came k {tile}", j, True)]


def _held(tile: int) -> list[Part]:
    """Which of all is in fast memory."""
    side = BLOCK * SMALLER
    return [box("held", _corner(tile), (side, side), COLOURS[tile % BLOCKS], 0.75, 2)]


def _fast(held: str) -> list[Part]:
    middle = FAST[0][0] + FAST[1][0] / 2
    return [
        box("fast", *FAST, filled=0.06),
        word("fast name", middle, HEAD, "fast memory"),
        word("held says", middle, FEET, held, size=SMALL, weight=600),
    ]


def _many() -> list[Part]:
    """How many scores there are in all, and at a time."""
    middles = MAP[0] + TOKENS * SMALLER / 2, FAST[0][0] + FAST[1][0] / 2
    y = TILE[1] + BLOCK * CELL / 2 + MANY * 0.36
    return [
        word(key, x, y, f"{many}", size=MANY, weight=700)
        for key, x, many in zip(("all", "most"), middles, (TOKENS**2, BLOCK**2), strict=True)
    ]


def _room() -> list[Part]:
    """For a tile, in the middle of fast memory."""
    left, side = FAST[0][0] + (FAST[1][0] - BLOCK * CELL) / 2, range(BLOCK)
    return [_cell("room", r, c, INK, 0.04, 0.5, left) for r in side for c in side]


def _cell(
    key: str,
    r: int,
    c: int,
    colour: str | Colour,
    filled: float,
    opacity: float = 1,
    left: float = TILE[0],
) -> Part:
    corner = left + c * CELL, TILE[1] + r * CELL
    return box(f"{key} {r}{c}", corner, (CELL, CELL), colour, filled, 1, opacity)


def _tile(tile: int, scores: np.ndarray, largest: np.ndarray) -> list[Part]:
    """The tile in fast memory: a cell is as full as its power, and the first row says its scores.

    Its scores are its own: those of another tile come as these are gone.
    """
    colour, parts = COLOURS[tile % BLOCKS], []
    for r, row in enumerate(scores):
        for c, score in enumerate(row):
            power = float(np.exp(score - largest[r]))
            parts.append(_cell(f"score {tile}", r, c, colour, 0.08 + 0.6 * power))
    x, y = TILE[0] + CELL / 2, TILE[1] + CELL / 2 + 8
    parts += [
        word(f"says {tile} {c}", x + c * CELL, y, _whole(score), size=DIGITS)
        for c, score in enumerate(scores[0])
        if tile < BLOCKS
    ]
    return parts


def _kept(i: int, largest: np.ndarray, sums: np.ndarray) -> list[Part]:
    """What stays of queries of block i: the largest score, and a sum, block by block."""
    return [
        word("kept", SUMS - 18, TILE[1] - 9, "kept", anchor="start", size=SMALL),
        *(
            word(
                f"largest {i} {r}",
                LARGEST,
                TILE[1] + (r + 0.5) * CELL + 8,
                _whole(m),
                ORANGE,
                size=DIGITS,
                weight=700,
            )
            for r, m in enumerate(largest)
        ),
        *_bars("sum", i, sums, (SUMS, TILE[1]), (UNIT, CELL)),
    ]


def _answers(i: int, kept: Kept) -> list[Part]:
    top = _corner(i * BLOCKS)[1]
    return _bars("sum", i, kept.shares, (OUT[0], top), (OUT[1], SMALLER))


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
