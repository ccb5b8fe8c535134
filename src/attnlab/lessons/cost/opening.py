"""Lesson 11 opens with tiles: scores live in a small fast memory, 16 at a time, and are forgotten.

What is kept of a query is drawn as a bar: how much of its answer comes from each block of keys so
far. When a block comes, all that was kept shrinks by one factor, so that no score is needed again.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from attnlab.figures.live.film import Film, Frame
from attnlab.figures.live.parts import INK, SMALL, Part, box, word
from attnlab.figures.palette import BLUE, GREEN, ORANGE, PURPLE

BLOCK, BLOCKS = 4, 3  # queries or keys in a block; blocks
TOKENS = BLOCK * BLOCKS
NAMES, COLOURS = "ABC", (PURPLE, GREEN, BLUE)  # of blocks of keys and their values

HIGH = 262
SLOW, FAST = ((3, 30), (236, 228)), ((266, 60), (211, 198))  # corners and sizes of the memories
WIDE, TALL, GAP, FIRST = 62, 56, 8, 62  # of a block in slow memory
Q, KV, OUT = 14, 90, 166  # lefts of its columns
LEFT, TOP, CELL = 304, 118, 27  # of the tile
STRIP = 24  # how thick a block is beside the tile
SO_FAR = (LEFT + BLOCK * CELL + 8, 46)  # left and width of what is kept


class Kept(NamedTuple):
    """Of four queries, after some blocks of keys.

    Attributes:
        m: (4,), the largest score so far.
        sums: (4, blocks so far), of e^(score − m): s of each query, block by block.
    """

    m: np.ndarray
    sums: np.ndarray

    def having_met(self, scores: np.ndarray) -> Kept:
        """After one more block, (4, 4) scores; one factor a query multiplies what was kept."""
        m = np.maximum(self.m, scores.max(axis=1))
        fresh = np.exp(scores - m[:, None]).sum(axis=1, keepdims=True)
        return Kept(m, np.hstack([self.sums * np.exp(self.m - m)[:, None], fresh]))

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
    count = f"{TOKENS} queries and {TOKENS} keys make {TOKENS**2} scores"
    frames = [
        Frame(
            [*_slow(done), *_arriving(0, 0), _count("no scores")],
            f"{count}. The fast memory has room for {BLOCK**2}.",
        )
    ]
    for i in range(BLOCKS):
        kept = Kept(np.full(BLOCK, -np.inf), np.empty((BLOCK, 0)))
        for j in range(BLOCKS):
            kept = kept.having_met(every[i, j])
            parts = [*_slow(done), *_tile(i, j, every[i, j], kept.m), *_kept(i, kept.shares)]
            if j + 1 < BLOCKS:
                parts += _arriving(i, j + 1)
            parts.append(_count(f"{BLOCK**2} of {TOKENS**2} scores"))
            frames.append(Frame(parts, _told(i, j, kept)))
        done.append(kept.shares)
        told = f"These {BLOCK} answers are whole: they go back, and no score does."
        if i + 1 < BLOCKS:
            parts = [*_slow(done), *_arriving(i + 1, 0), _count("no scores")]
            frames.append(Frame(parts, told))
    told = f"All {TOKENS} answers are exact, and never more than {BLOCK**2} scores were there."
    parts = [*_slow(done), *_room(), _count(f"{BLOCK**2} of {TOKENS**2} at most")]
    frames.append(Frame(parts, told))
    return Film("Attention in tiles", frames, HIGH, telling=2)


def _told(i: int, j: int, kept: Kept) -> str:
    share = kept.shares[0]
    if not i and not j:
        return (
            f"{BLOCK} queries and block {NAMES[j]} come: {BLOCK**2} scores, and the sums of them."
        )
    if not i and j == 1:
        return (
            "Block B comes, and the scores of A are forgotten. What was kept of A is now "
            f"{share[0]:.2f} of the first answer."
        )
    if j == 0:
        return f"The next {BLOCK} queries, and block A again."
    if j == 1:
        return "Block B: what was kept of A makes room."
    return "Block C: the bars now say how much of each answer is from A, B and C."


def _slow(done: list[np.ndarray]) -> list[Part]:
    """The slow memory with all blocks, and the answers that are done; the fast one's edge."""
    parts = [
        box("slow", *SLOW, filled=0.05, edge=1.5),
        word("slow name", SLOW[0][0] + SLOW[1][0] / 2, 20, "large, slow memory"),
        box("fast", *FAST, filled=0.05, edge=1.5),
        word("fast name", FAST[0][0] + FAST[1][0] / 2, FAST[0][1] - 10, "small, fast memory"),
    ]
    for name, left in (("q", Q), ("k, v", KV), ("out", OUT)):
        parts.append(word(f"column {name}", left + WIDE / 2, FIRST - 10, name, size=SMALL))
    for b in range(BLOCKS):
        parts += [
            box(f"q {b}", (Q, _top(b)), (WIDE, TALL), ORANGE, 0.25, 1.5),
            box(f"kv {b}", (KV, _top(b)), (WIDE, TALL), COLOURS[b], 0.25, 1.5),
            word(f"kv {b} name", KV + WIDE / 2, _top(b) + TALL / 2 + 7, NAMES[b], COLOURS[b]),
            box(f"out {b}", (OUT, _top(b)), (WIDE, TALL), INK, 0, 1, 0.5),
        ]
    for i, shares in enumerate(done):
        parts += _bars(i, shares, (OUT, _top(i)), (WIDE, TALL / BLOCK))
    return parts


def _arriving(i: int, j: int) -> list[Part]:
    """What travels next, where it lies in slow memory."""
    parts = [
        box(f"comes {i} kv {j}", (KV, _top(j)), (WIDE, TALL), COLOURS[j], 0.5, 1.5),
        word(f"comes {i} kv {j} name", KV + WIDE / 2, _top(j) + TALL / 2 + 7, "", COLOURS[j]),
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


def _room() -> list[Part]:
    """Where a tile was."""
    side = range(BLOCK)
    corners = [(r, c, (LEFT + c * CELL, TOP + r * CELL)) for r in side for c in side]
    return [box(f"room {r}{c}", at, (CELL, CELL), INK, 0, 1, 0.5) for r, c, at in corners]


def _kept(i: int, shares: np.ndarray) -> list[Part]:
    left, wide = SO_FAR
    return [
        *_bars(i, shares, (left, TOP), (wide, CELL)),
        word("so far", left + wide / 2, TOP - 9, "so far", size=SMALL),
    ]


def _bars(
    i: int, shares: np.ndarray, corner: tuple[float, float], size: tuple[float, float]
) -> list[Part]:
    """A bar for each query of block i; size is that of one."""
    (left, top), (wide, tall) = corner, size
    parts = []
    for r, row in enumerate(shares):
        right = left
        for j, share in enumerate(row):
            place = right, top + r * tall + 1
            parts.append(box(f"share {i} {r} {j}", place, (wide * share, tall - 2), COLOURS[j]))
            right += wide * share
    return parts


def _count(text: str) -> Part:
    return word(
        "count", FAST[0][0] + FAST[1][0] / 2, FAST[0][1] + FAST[1][1] - 10, text, size=SMALL
    )


def _top(b: int) -> float:
    return FIRST + b * (TALL + GAP)
