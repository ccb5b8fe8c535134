"""Lesson 11 opens with tiles: scores live in a small fast memory, 16 at a time, and are forgotten.

Keys and values come there block by block, to four queries. Of a row stay its largest score, and a
bar: as long as its sum of weights, and as much of each colour as that block gave. The first row is
followed: block B brings a larger score, so all of the bar shrinks by one factor, and no score of A
is needed again.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from attnlab.figures.live.film import Film, Frame
from attnlab.figures.live.parts import INK, SMALL, Part, Place, box, line, word
from attnlab.figures.palette import BLUE, GREEN, GREY, ORANGE, PURPLE, Colour

BLOCK, BLOCKS = 4, 3  # queries or keys in a block; blocks
TOKENS = BLOCK * BLOCKS
NAMES, COLOURS = "ABC", (PURPLE, GREEN, BLUE)  # of blocks of keys

HIGH, HEAD, FEET = 268, 20, 254  # of the sheet; of the lines over both memories and in their feet
SLOW, FAST = ((2, 28), (188, 126)), ((198, 28), (280, 238))  # corner and size of each memory
STRIP, BETWEEN = 18, 4  # how thick blocks in fast memory are, and how far from their scores
ASIDE, NEXT = 10, 28  # where blocks of queries and of answers begin, and from one to the next
WIDE, TALL = 24, 32  # one of those
STACK, THICK, LONG = (116, 36), 24, 66  # blocks of keys; from one to the next; how long one is
SMALLER, MAP = 7.75, (96, 162)  # a score among all, and where they begin
CELL, TILE = 30, (222, 97)  # a score in fast memory, and where they begin
LARGEST, SUMS, UNIT = 346, 371, 19  # left of what is kept, and px for a sum of 1
LENGTH = 122  # of the answer that is shown at the end
DIGITS, MANY = 19, 60  # sizes of scores, and of how many fit
DARK, PALE = 0.55, 0.1  # faces of a row's largest score so far, and of others
RAISED = str.maketrans("0123456789−", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")


class Kept(NamedTuple):
    """Of four queries, after some blocks of keys.

    Attributes:
        m: (4,), the largest score so far.
        whence: (4,), the first block that has it.
        sums: (4, blocks so far), of e^(score − m): s of each query, block by block.
        factors: (4,), by which the last block multiplied the sums before it.
    """

    m: np.ndarray
    whence: np.ndarray
    sums: np.ndarray
    factors: np.ndarray

    def having_met(self, scores: np.ndarray) -> Kept:
        """After one more block, (4, 4) scores; one factor a query multiplies what was kept."""
        m = np.maximum(self.m, scores.max(axis=1))
        fresh = np.exp(scores - m[:, None]).sum(axis=1, keepdims=True)
        factors = np.exp(self.m - m)
        whence = np.where(m > self.m, self.sums.shape[1], self.whence)
        return Kept(m, whence, np.hstack([self.sums * factors[:, None], fresh]), factors)

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
    old, new = a.m[0], b.m[0]
    frames: list[Frame] = []

    def tile(at: int, following: int | None, told: str, *more: Part) -> None:
        """One in fast memory, and at its place the block of keys for the following one."""
        i, j = divmod(at, BLOCKS)
        parts = [*_slow(at), *_all(at, at), *_coming(following)]
        parts += _fast(f"{BLOCK**2} scores held", at)
        parts += [part for n in range(i) for part in _answers(n, kept[n][-1])]
        parts += [*_came(at), *_tile(at, every[i, j], kept[i][j]), *more]
        frames.append(Frame(parts, told))

    told = f"{TOKENS} queries and {TOKENS} keys make {TOKENS**2} scores. Fast memory has room "
    parts = [*_slow(0), *_all(0), *_coming(0), *_fast("scores fit here"), _many()]
    frames.append(Frame(parts, f"{told}for {BLOCK**2}."))
    told = f"{BLOCK} queries and block A come: {BLOCK**2} scores. Dark: a row's largest so far."
    tile(0, None, told)
    told = "Kept of a row: its largest, sum of weights (bar), mix of values (not drawn)."
    tile(0, 1, told, *_kept(0, a, a.m))
    told = f"Tile A is forgotten. In B, row one has a larger score: {_whole(new)} instead of "
    tile(1, None, f"{told}{_whole(old)}.", *_before(a, b), *_kept(0, a, b.m))
    told = f"Weights count from the largest: {_whole(new)}, not {_whole(old)}, so A's sum "
    power = f"e{_whole(old)}⁻{_whole(new)}".translate(RAISED)
    shrunk = b._replace(sums=b.sums[:, :1])
    told += f"shrinks: ×{power} = ×{b.factors[0]:.2f}."
    tile(1, 2, told, *_before(a, b), *_kept(0, shrunk, b.m), *_shrinks(b.factors))
    told = "B's weights join, then C's, each in its colour: all keys have been met."
    tile(2, None, told, *_kept(0, c, c.m))
    told = f"Each mix, divided by its sum, is an answer. {BLOCK} answers go out, and no score."
    parts = [*_slow(BLOCKS), *_all(BLOCKS), *_coming(2 * BLOCKS + 1), *_fast("0 scores held", -1)]
    frames.append(Frame([*parts, *_answers(0, c)], told))
    told = f"The other {TOKENS - BLOCK} queries: a tile comes, is used, and is gone."
    i, j = divmod(at := 2 * BLOCKS + 1, BLOCKS)
    tile(at, None, told, *_kept(i, kept[i][j], kept[i][j].m))
    parts = [*_slow(BLOCKS**2), *_all(BLOCKS**2), *_fast("scores at most"), _many(), *_one(c)]
    parts += [part for n in range(BLOCKS) for part in _answers(n, kept[n][-1])]
    told = (
        f"{TOKENS**2} scores, never more than {BLOCK**2} held, and all {TOKENS} answers are exact."
    )
    frames.append(Frame(parts, told))
    return Film("Exact attention, a tile of scores at a time", frames, HIGH)


def _met(tiles: np.ndarray) -> list[Kept]:
    """What is kept of four queries after each block, (blocks, 4, 4) scores."""
    none = np.full(BLOCK, -np.inf), np.zeros(BLOCK, int), np.empty((BLOCK, 0)), np.empty(BLOCK)
    kept, after = Kept(*none), []
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
    """Queries, keys with their values, and answers; those queries are bright that are in use."""
    (left, top), (wide, _) = SLOW
    parts = [
        box("slow", *SLOW, filled=0.06),
        word("slow name", left + wide / 2, HEAD, "slow memory"),
        word("queries", ASIDE, top + 20, "queries", ORANGE, "start", SMALL),
        word("keys", STACK[0] + LONG / 2, top + 97, "keys +", size=SMALL),
        word("values", STACK[0] + LONG / 2, top + 117, "values", size=SMALL),
        word("answers", ASIDE, top + 81, "answers", anchor="start", size=SMALL),
    ]
    for n in range(BLOCKS):
        used = 0.7 if n == done // BLOCKS else 0.2
        queries = ASIDE + n * NEXT, top + 26
        parts += [
            box(f"q {n}", queries, (WIDE, TALL), ORANGE, used, 1.5),
            *_keys(f"k {n}", n, False),
            box(f"out {n}", _out(n), (WIDE, TALL), INK, 0, 1, 0.5),
        ]
    return parts


def _out(n: int) -> Place:
    """Where a block of answers begins."""
    return ASIDE + n * NEXT, SLOW[0][1] + 87


def _all(done: int, held: int | None = None) -> list[Part]:
    """All scores, which no memory holds: those made are ticked, and those held are in colour."""
    (left, top), side, tile = MAP, TOKENS * SMALLER, BLOCK * SMALLER
    parts = [
        word("all", 2, top + 27, f"{TOKENS**2}", anchor="start", size=36, weight=700),
        word("all name", 2, top + 49, "scores", anchor="start", size=SMALL),
        word("count", 2, FEET, f"{done * BLOCK**2} done", anchor="start", size=SMALL, weight=600),
    ]
    for n in range(TOKENS + 1):
        along, edge = n * SMALLER, n % BLOCK == 0
        thick, pale, dashes = (1.5, 0.9, "4 4") if edge else (0.7, 0.3, "")
        across, down = [(0, along), (side, along)], [(along, 0), (along, side)]
        parts += [
            line(f"{key} {n}", [(left + x, top + y) for x, y in ends], GREY, thick, pale, dashes)
            for key, ends in (("across", across), ("down", down))
        ]
    if held is not None:
        parts.append(box("held", _corner(held), (tile, tile), COLOURS[held % BLOCKS], 0.75, 2))
    for n in range(done):
        x, y = _corner(n)
        tick = [(x + 8, y + 15), (x + 13, y + 20), (x + 22, y + 9)]
        parts.append(line(f"done {n}", tick, INK, 2.5))
    return parts


def _keys(key: str, j: int, fast: bool) -> list[Part]:
    """A block of keys and values, in one of both memories, with its name."""
    if fast:
        corner, size = (TILE[0] + 1, TILE[1] - BETWEEN - STRIP), (BLOCK * CELL - 2, STRIP)
    else:
        corner, size = (STACK[0], STACK[1] + j * THICK), (LONG, 20)
    (x, y), (wide, high) = corner, size
    return [
        box(key, corner, size, COLOURS[j], 0.3, 1.5),
        word(f"{key} name", x + wide / 2, y + high / 2 + 6, NAMES[j], size=SMALL),
    ]


def _coming(tile: int | None) -> list[Part]:
    """The block that a tile needs and fast memory lacks, still at its place in slow memory."""
    return [] if tile is None else [_keys(f"came k {tile}", tile % BLOCKS, False)[0]]


def _came(tile: int) -> list[Part]:
    """Blocks in fast memory."""
    (x, y), i = TILE, tile // BLOCKS
    strip = box(
        f"came q {i}", (x - BETWEEN - STRIP, y + 1), (STRIP, BLOCK * CELL - 2), ORANGE, 0.7, 1.5
    )
    name = word(
        "came q name", FAST[0][0] + 4, y + BLOCK * CELL + 17, "queries", ORANGE, "start", SMALL
    )
    return [strip, name, *_keys(f"came k {tile}", tile % BLOCKS, True)]


def _fast(says: str, at: int | None = None) -> list[Part]:
    """Fast memory with its room, and what it says: of each tile anew, so not between two."""
    (left, top), (wide, _) = FAST
    key, y = ("says", TILE[1] + BLOCK * CELL + 24) if at is None else (f"says {at}", top + 26)
    middle, side = TILE[0] + BLOCK * CELL / 2, range(BLOCK)
    return [
        box("fast", *FAST, filled=0.06),
        word("fast name", left + wide / 2, HEAD, "fast memory"),
        *(_cell("room", r, c, INK, 0.04, 0.5) for r in side for c in side),
        word(key, middle, y, says, size=SMALL, weight=600),
    ]


def _many() -> Part:
    """How many scores there are at a time."""
    x, y = (corner + BLOCK * CELL / 2 for corner in TILE)
    return word("most", x, y + MANY * 0.36, f"{BLOCK**2}", size=MANY, weight=700)


def _cell(
    key: str,
    r: int,
    c: int,
    colour: str | Colour,
    filled: float,
    opacity: float = 1,
) -> Part:
    corner = TILE[0] + c * CELL, TILE[1] + r * CELL
    return box(f"{key} {r}{c}", corner, (CELL, CELL), colour, filled, 1, opacity)


def _tile(tile: int, scores: np.ndarray, kept: Kept) -> list[Part]:
    """The tile in fast memory: in each row what equals the largest so far is dark.

    Its scores are its own: those of another tile come as these are gone.
    """
    colour, parts = COLOURS[tile % BLOCKS], []
    for r, row in enumerate(scores):
        for c, score in enumerate(row):
            x, y = TILE[0] + (c + 0.5) * CELL, TILE[1] + (r + 0.5) * CELL + 7
            top = bool(score == kept.m[r])
            parts += [
                _cell(f"score {tile}", r, c, colour, DARK if top else PALE),
                word(
                    f"number {tile} {r}{c}",
                    x,
                    y,
                    _whole(score),
                    size=DIGITS,
                    weight=700 if top else 400,
                ),
            ]
    return parts


def _kept(i: int, kept: Kept, largest: np.ndarray) -> list[Part]:
    """What stays of queries of block i: a score, dark if still the largest, and a sum by blocks."""
    parts = [word("kept", LARGEST, TILE[1] - 9, "kept", anchor="start", size=SMALL)]
    wide = SUMS - LARGEST - BETWEEN
    for r, m in enumerate(kept.m):
        y, top = TILE[1] + r * CELL, bool(m == largest[r])
        corner, size = (LARGEST, y), (wide, CELL)
        look = COLOURS[kept.whence[r]], DARK if top else PALE, 1
        parts += [
            box(f"top {i} {r}", corner, size, *look),
            word(
                f"largest {i} {r}",
                LARGEST + wide / 2,
                y + CELL / 2 + 7,
                _whole(m),
                size=DIGITS,
                weight=700 if top else 400,
            ),
        ]
    sums = np.pad(kept.sums, ((0, 0), (0, BLOCKS - kept.sums.shape[1])))  # from which others grow
    return parts + _bars("sum", i, sums, (SUMS, TILE[1]), (UNIT, CELL))


def _before(kept: Kept, after: Kept) -> list[Part]:
    """Outlines of the sums that will shrink."""
    bars = _bars("old", 0, kept.sums, (SUMS, TILE[1]), (UNIT, CELL))
    edge = {"fill-opacity": 0, "stroke-width": 1.5, "opacity": 0.6}
    return [
        bar._replace(look={**bar.look, **edge})
        for bar, factor in zip(bars, after.factors, strict=True)
        if factor < 1
    ]


def _shrinks(factors: np.ndarray) -> list[Part]:
    """By how much, where there is a larger score."""
    return [
        word(
            f"factor {r}",
            477,
            TILE[1] + (r + 0.5) * CELL + 7,
            f"×{factor:.2f}",
            ORANGE,
            "end",
            SMALL,
            600,
        )
        for r, factor in enumerate(factors)
        if factor < 1
    ]


def _answers(i: int, kept: Kept) -> list[Part]:
    left, top = _out(i)
    return _bars("sum", i, kept.shares, (left, top), (WIDE, TALL / BLOCK))


def _one(kept: Kept) -> list[Part]:
    """The answer that was followed, and how much of it each block gave."""
    bars = _bars("answer", 0, kept.shares[:1], (LARGEST, TILE[1]), (LENGTH, CELL))
    middles = [float(each.look["x"]) + float(each.look["width"]) / 2 for each in bars]
    y = TILE[1] + CELL + 15
    return [
        word("one", LARGEST, TILE[1] - 9, "answer 1", anchor="start", size=SMALL, weight=600),
        *bars,
        *(word(f"part {j}", x, y, NAMES[j], size=SMALL) for j, x in enumerate(middles)),
    ]


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
