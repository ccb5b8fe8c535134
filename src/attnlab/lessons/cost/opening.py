"""Lesson 11 opens with tiles: scores live in a small fast memory, 16 at a time, and are forgotten.

What is kept of a query is drawn as a bar: the sum of its powers, by blocks of keys. Where a block
brings a larger score, what was kept shrinks by one factor, so that no score is needed again.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from attnlab.figures.live.film import Film, Frame
from attnlab.figures.live.parts import INK, SMALL, Part, box, line, word
from attnlab.figures.palette import BLUE, GREEN, GREY, ORANGE, PURPLE

BLOCK, BLOCKS = 4, 3  # queries or keys in a block; blocks
TOKENS = BLOCK * BLOCKS
NAMES, COLOURS = "ABC", (PURPLE, GREEN, BLUE)  # of blocks of keys and their values

HIGH = 264
SLOW, FAST = ((3, 30), (196, 231)), ((213, 30), (264, 231))  # corners and sizes of the memories
WIDE, TALL, GAP, FIRST = 54, 56, 8, 62  # of a block in slow memory
Q, KV, OUT = 12, 74, 136  # lefts of its columns
LEFT, TOP, CELL = 249, 104, 28  # of the tile
STRIP = 24  # how thick a block is beside the tile
SO_FAR, UNIT = LEFT + BLOCK * CELL + 8, 14  # left of what is kept, and px for a sum of 1
SMALLER = 13  # a cell among all
ROWS = ("first", "second", "third", "fourth")


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
    """(12, 12), of queries and keys that are drawn."""
    q, k = np.random.default_rng(4).normal(size=(2, TOKENS, 4))
    scores: np.ndarray = 1.6 * q @ k.T / 2
    return scores


def opening() -> Film:
    """The film."""
    every = scores().reshape(BLOCKS, BLOCK, BLOCKS, BLOCK).swapaxes(1, 2)
    done: list[np.ndarray] = []
    told = f"{TOKENS} queries and {TOKENS} keys make {TOKENS**2} scores. The fast memory has room "
    told += f"for {BLOCK**2}."
    frames = [Frame([*_slow(done), *_room(), *_arriving(0, 0), _count(0)], told)]
    for i in range(BLOCKS):
        kept = Kept(np.full(BLOCK, -np.inf), np.empty((BLOCK, 0)), np.empty(BLOCK))
        for j in range(BLOCKS):
            kept = kept.having_met(every[i, j])
            parts = [*_slow(done), *_tile(i, j, every[i, j], kept.m), _count(BLOCK**2)]
            if j + 1 < BLOCKS:
                parts += _arriving(i, j + 1)
            if i == 0 and j:  # the first time slowly
                shrunk = [*_kept(i, kept.sums[:, :-1]), *_factors(kept)]
                frames.append(Frame([*parts, *shrunk], _shrinks(j, kept)))
            frames.append(Frame([*parts, *_kept(i, kept.sums)], _told(i, j)))
        done.append(kept.shares)
        if i == 0:
            parts = [*_slow(done), *_room(), *_arriving(1, 0), _count(0)]
            told = (
                "Divided by their sums, these answers are whole. They go back, and no score does."
            )
            frames.append(Frame(parts, told))
    told = f"All {TOKENS} answers are exact, and never more than {BLOCK**2} scores were there."
    frames.append(Frame([*_slow(done), *_never(), _count(BLOCK**2, " at most")], told))
    return Film("Attention in tiles", frames, HIGH, telling=2)


def _told(i: int, j: int) -> str:
    if i:
        return f"The next {BLOCK} queries and block {NAMES[j]}: the same again."
    if j:
        return f"The sums of {NAMES[j]} join, and its scores are not needed again."
    made = f"{BLOCK} queries and block {NAMES[j]} come: {BLOCK**2} scores"
    return f"{made}. Kept are the sums of their powers."


def _shrinks(j: int, kept: Kept) -> str:
    row = int(kept.factors.argmin())
    return (
        f"Where block {NAMES[j]} has a larger score, the old sum shrinks: by "
        f"{kept.factors[row]:.2f} in the {ROWS[row]} row."
    )


def _slow(done: list[np.ndarray]) -> list[Part]:
    """The slow memory with all blocks, and the answers that are done; the fast one's edge."""
    parts = [
        box("slow", *SLOW, filled=0.05, edge=1.5),
        word("slow name", SLOW[0][0] + SLOW[1][0] / 2, 20, "large, slow memory", size=SMALL),
        box("fast", *FAST, filled=0.05, edge=1.5),
        word("fast name", FAST[0][0] + FAST[1][0] / 2, 20, "small, fast memory", size=SMALL),
    ]
    for name, left in (("q", Q), ("k, v", KV), ("out", OUT)):
        parts.append(word(f"column {name}", left + WIDE / 2, FIRST - 10, name, size=SMALL))
    for b in range(BLOCKS):
        parts += [
            box(f"q {b}", (Q, _top(b)), (WIDE, TALL), ORANGE, 0.25, 1.5),
            box(f"kv {b}", (KV, _top(b)), (WIDE, TALL), COLOURS[b], 0.25, 1.5),
            word(f"kv {b} name", KV + WIDE / 2, _top(b) + TALL / 2 + 7, NAMES[b], weight=600),
            box(f"out {b}", (OUT, _top(b)), (WIDE, TALL), INK, 0, 1, 0.5),
        ]
    for i, shares in enumerate(done):
        parts += _bars(i, shares, (OUT, _top(i)), (WIDE, TALL / BLOCK))
    return parts


def _arriving(i: int, j: int) -> list[Part]:
    """What travels next, where it lies in slow memory."""
    parts = [
        box(f"comes {i} kv {j}", (KV, _top(j)), (WIDE, TALL), COLOURS[j], 0.5, 1.5),
        word(f"comes {i} kv {j} name", KV + WIDE / 2, _top(j) + TALL / 2 + 7, ""),
    ]
    if j == 0:
        parts.append(box(f"comes q {i}", (Q, _top(i)), (WIDE, TALL), ORANGE, 0.5, 1.5))
    return parts


def _tile(i: int, j: int, scores: np.ndarray, m: np.ndarray) -> list[Part]:
    """The tile in fast memory with its queries and keys; a cell is as full as its power."""
    side = BLOCK * CELL
    parts = [
        box(f"comes q {i}", (LEFT - STRIP - 4, TOP), (STRIP, side), ORANGE, 0.5, 1.5),
        box(f"comes {i} kv {j}", (LEFT, TOP - STRIP - 4), (side, STRIP), COLOURS[j], 0.5, 1.5),
        word(f"comes {i} kv {j} name", LEFT + side / 2, TOP - 9, NAMES[j]),
    ]
    for r, row in enumerate(np.exp(scores - m[:, None])):
        for c, power in enumerate(row):
            corner = LEFT + c * CELL, TOP + r * CELL
            parts.append(box(f"cell {i}{j} {r}{c}", corner, (CELL, CELL), COLOURS[j], power, 1))
    return parts


def _room(corner: tuple[float, float] = (LEFT, TOP), cell: float = CELL) -> list[Part]:
    """Where a tile is, or was."""
    side, (left, top) = range(BLOCK), corner
    corners = [(r, c, (left + c * cell, top + r * cell)) for r in side for c in side]
    return [box(f"room {r}{c}", at, (cell, cell), INK, 0.15, 1) for r, c, at in corners]


def _never() -> list[Part]:
    """All scores at once, which were never there, and the room for a tile among them."""
    corner, cell = (FAST[0][0] + (FAST[1][0] - TOKENS * SMALLER) / 2, 54), SMALLER
    (left, top), side = corner, TOKENS * SMALLER
    lines = []
    for n in range(TOKENS + 1):
        along = n * cell
        lines += [
            line(f"across {n}", [(left, top + along), (left + side, top + along)], GREY, 1, 0.7),
            line(f"down {n}", [(left + along, top), (left + along, top + side)], GREY, 1, 0.7),
        ]
    return [*lines, *_room(corner, cell)]


def _kept(i: int, sums: np.ndarray) -> list[Part]:
    return [
        *_bars(i, sums, (SO_FAR, TOP), (UNIT, CELL)),
        word("sums", SO_FAR, TOP - 10, "sums", anchor="start", size=SMALL),
    ]


def _factors(kept: Kept) -> list[Part]:
    """Behind the bars that they made shorter."""
    ends = SO_FAR + UNIT * kept.sums[:, :-1].sum(axis=1) + 5
    return [
        word(
            f"factor {r}",
            end,
            TOP + (r + 0.5) * CELL + 7,
            "×1" if factor == 1 else f"×{factor:.2f}",
            INK if factor == 1 else ORANGE,
            "start",
            SMALL,
            600,
        )
        for r, (end, factor) in enumerate(zip(ends, kept.factors, strict=True))
    ]


def _bars(
    i: int, numbers: np.ndarray, corner: tuple[float, float], size: tuple[float, float]
) -> list[Part]:
    """A bar for each query of block i; size is how long 1 is, and how tall a bar."""
    (left, top), (unit, tall) = corner, size
    parts = []
    for r, row in enumerate(numbers):
        right = left
        for j, number in enumerate(row):
            place, wide = (right, top + r * tall + 1), unit * number
            parts.append(box(f"share {i} {r} {j}", place, (wide, tall - 2), COLOURS[j]))
            right += wide
    return parts


def _count(many: int, more: str = "") -> Part:
    middle, low = FAST[0][0] + FAST[1][0] / 2, FAST[0][1] + FAST[1][1]
    return word("count", middle, low - 12, f"{many} of {TOKENS**2} scores{more}", size=SMALL)


def _top(b: int) -> float:
    return FIRST + b * (TALL + GAP)
