"""What attention costs, counted: multiplications and additions, and bytes for its scores.

All counts are of one sequence in one layer of self-attention, N tokens of d numbers, H heads of
d / H each, matrix products alone; a multiplication and an addition count as two, as in Kaplan et
al. 2020, section 2.1. The N² · d is that of Vaswani et al. 2017, table 1. The softmax is left out:
a few operations for each of the H · N² scores, on which the products spend 4 · d / H.
"""

from __future__ import annotations

import os
from collections.abc import Sequence

KIB, MIB, GIB, TIB = (2 ** (10 * power) for power in (1, 2, 3, 4))
SIZES = {"float64": 8, "float32": 4, "bfloat16": 2, "float16": 2}  # bytes a number
MEMORIES = {
    "a laptop with 16 GiB": 16 * GIB,
    "a GPU with 80 GiB": 80 * GIB,
    "a GPU with 140 GiB": 140 * GIB,  # sold as 141 GB
}


def memory_here() -> int | None:
    """Bytes of this machine's memory; None where the system does not tell, as on Windows."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return None


def score_flops(n: int, d: int) -> int:
    """Q Kᵀ of all heads: H · N² dot products of d / H terms, 2 · N² · d, whatever H is."""
    return 2 * n**2 * d


def mixing_flops(n: int, d: int) -> int:
    """Weights · V of all heads: H · N · d / H sums of N terms, 2 · N² · d."""
    return 2 * n**2 * d


def projection_flops(n: int, d: int) -> int:
    """X W_q, X W_k, X W_v and the output's W_o: four (N, d) times (d, d), 8 · N · d²."""
    return 8 * n * d**2


def total_flops(n: int, d: int) -> int:
    """All matrix products of the layer: 4 · N² · d + 8 · N · d²."""
    return score_flops(n, d) + mixing_flops(n, d) + projection_flops(n, d)


def score_bytes(n: int, heads: int, size: int) -> int:
    """The scores of all heads, held once: H · N² numbers of so many bytes."""
    return heads * n**2 * size


def longest(memory: int, heads: int, size: int) -> int:
    """The most tokens whose scores, held once, fit into so many bytes."""
    n = int((memory / (heads * size)) ** 0.5)
    return n + 1 if score_bytes(n + 1, heads, size) <= memory else n


def _scaled(count: float, units: Sequence[tuple[float, str]]) -> str:
    """Three digits and the largest unit that is not larger than the count."""
    size, unit = max((each for each in units if each[0] <= count), default=units[0])
    share = count / size
    digits = 0 if share >= 100 or share == int(share) else 1 if share >= 10 else 2
    return f"{share:,.{digits}f} {unit}".rstrip()


def in_number_words(count: float) -> str:
    """34.4 billion."""
    units = ((1, ""), (1e3, "thousand"), (1e6, "million"), (1e9, "billion"), (1e12, "trillion"))
    return _scaled(count, units)


def in_bytes(count: float) -> str:
    """256 MiB."""
    units = ((1, "bytes"), (KIB, "KiB"), (MIB, "MiB"), (GIB, "GiB"), (TIB, "TiB"))
    return _scaled(count, units)


def in_seconds(seconds: float) -> str:
    """1.50 s, 2.5 ms or 30 µs."""
    for size, unit in ((1, "s"), (1e-3, "ms"), (1e-6, "µs")):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds * 1e9:.3g} ns"
