"""What lesson 09's exercises share: their base, advice on frequencies, and widths that are even."""

from __future__ import annotations

import numpy as np

BASE = 10000.0
FREQUENCY = (
    "Pair i turns by base^(−2i/d) a step, i from 0 to d/2 − 1: try d = 4, where it is 1 and 1/100."
)


def even_sizes(rng: np.random.Generator, number: int, high: int = 8) -> tuple[int, ...]:
    """So many sizes that all differ, the last of them even."""
    d = 2 * int(rng.integers(2, high // 2 + 1))
    others = [size for size in range(2, high + 1) if size != d]
    return (*map(int, rng.choice(others, number - 1, replace=False)), d)
