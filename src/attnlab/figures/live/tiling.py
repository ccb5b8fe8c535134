"""The loop of attention in tiles: which queries meet which keys, and what is kept of them.

Beside `tiles`, which shows it one tile at a time.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, slots=True)
class Tile:
    """A block of queries and a block of keys; every query and key is counted from 0.

    Attributes:
        queries: those of the block.
        keys: those of the block.
        is_first, is_last: of all tiles of these queries.
    """

    queries: range
    keys: range
    is_first: bool
    is_last: bool


@dataclass(frozen=True, slots=True)
class Kept:
    """What a query keeps of the keys that it has met.

    Attributes:
        m: largest score.
        s: sum of e^(score − m).
        o: (d_v,), the values weighed by e^(score − m), not divided by s yet.
        factor: by which s and o of before were multiplied in the last step.
        before: m before the last step.
    """

    m: float
    s: float
    o: np.ndarray
    factor: float = 0.0
    before: float = -np.inf

    def having_met(self, scores: np.ndarray, values: np.ndarray) -> Kept:
        """After some more keys.

        Args:
            scores: (b,), of the open ones.
            values: (b, d_v), theirs.
        """
        top = max(self.m, float(scores.max()))
        fades, enters = float(np.exp(self.m - top)), np.exp(scores - top)
        total = self.s * fades + float(enters.sum())
        return Kept(top, total, self.o * fades + enters @ values, fades, self.m)


def open_to(n: int, m: int, causal: bool) -> np.ndarray:
    """(N, M) bool, True = may attend."""
    return np.tri(n, m, dtype=bool) if causal else np.ones((n, m), dtype=bool)


def tiles(n: int, m: int, block: int, causal: bool) -> list[Tile]:
    """Those that are visited, in their order."""
    loop = []
    for queries in _blocks(n, block):
        # Keys after the last query of the block are closed to all of it.
        met = [keys for keys in _blocks(m, block) if not causal or keys.start <= queries[-1]]
        loop += [Tile(queries, keys, keys is met[0], keys is met[-1]) for keys in met]
    return loop


def _blocks(count: int, block: int) -> list[range]:
    return [range(start, min(start + block, count)) for start in range(0, count, block)]


def after(
    done: list[Tile], scores: np.ndarray, values: np.ndarray, is_open: np.ndarray
) -> dict[int, Kept]:
    """What each query keeps after some tiles.

    Args:
        done: the tiles, in their order.
        scores: (N, M).
        values: (M, d_v).
        is_open: (N, M) bool.
    """
    kept: dict[int, Kept] = {}
    for tile in done:
        for i in tile.queries:
            met = [j for j in tile.keys if is_open[i, j]]
            before = kept.get(i, Kept(-np.inf, 0.0, np.zeros(values.shape[1])))
            kept[i] = before.having_met(scores[i, met], values[met])
    return kept
