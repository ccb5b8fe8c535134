"""What attention costs, measured here: time and memory of plain attention, for a few lengths.

A run is bounded: it starts no length that, going by the one before, would take it past its budget
of time or of memory. Before the first length, one plain matrix product stands for it. It takes
place when it is asked for, never on import.
"""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import Any, NamedTuple

import torch

from attnlab.figures.live.counts import MIB, SIZES, score_bytes, total_flops
from attnlab.one_run import held_by, one_thread

LENGTHS = tuple(2**power for power in range(6, 14))
SECONDS = 2.0  # for all lengths together
MEMORY = 256 * MIB  # for the scores and the weights of one length
# The shortest of some runs counts: whatever else goes on in a machine only adds to a time.
REPEATS = 3
FIRST_RUNS = 3  # of the first length at least: to warm up, for its time, and for its memory
LEAST = 0.02  # seconds of runs, however short each is
MATMUL = 256  # rows and columns of the plain matrix product beside it


class Point(NamedTuple):
    """One length: seconds of the shortest run, and the most bytes that a run held at once."""

    n: int
    seconds: float
    held: int


class Measured(NamedTuple):
    """Points by length, and the FLOPs a second of one plain matrix product."""

    points: tuple[Point, ...]
    rate: float


def plain_attention(
    x: torch.Tensor, w_qkv: torch.Tensor, w_o: torch.Tensor, heads: int
) -> torch.Tensor:
    """Self-attention as it is written down, with all scores held.

    Args:
        x: (N, d).
        w_qkv: (d, 3 d).
        w_o: (d, d).
        heads: H, which divides d.
    Returns:
        (N, d).
    """
    n, d = x.shape
    parts = (x @ w_qkv).view(n, 3, heads, d // heads).permute(1, 2, 0, 3)
    q, k, v = parts[0], parts[1], parts[2]  # (H, N, d / H) each
    weights = torch.softmax(q @ k.mT * (d // heads) ** -0.5, dim=-1)  # (H, N, N)
    return (weights @ v).transpose(0, 1).reshape(n, d) @ w_o


def shortest(run: Callable[[], Any], until: float) -> float:
    """Seconds of the shortest of some runs; after `until`, no second one starts."""
    times: list[float] = []
    while not times or (perf_counter() < until and (len(times) < REPEATS or sum(times) < LEAST)):
        start = perf_counter()
        run()
        times.append(perf_counter() - start)
    return min(times)


def measure(d: int, heads: int, dtype: str) -> Measured:
    """Time and memory of plain attention on one core of this machine.

    Args:
        d: numbers a token.
        heads: H, which divides d.
        dtype: a name in SIZES.
    Raises:
        RuntimeError: the first length alone is expected to take longer than the budget.
    """
    kind: torch.dtype = getattr(torch, dtype)
    square = torch.full((MATMUL, MATMUL), 1 / MATMUL, dtype=kind)
    points: list[Point] = []
    with one_thread():
        rate = 2 * MATMUL**3 / shortest(lambda: square @ square, perf_counter() + SECONDS)
    _fits_into_the_budget(d, dtype, rate)
    w_qkv, w_o = (torch.full((d, wide), 1 / d, dtype=kind) for wide in (3 * d, d))

    def attend(n: int) -> Callable[[], torch.Tensor]:
        x = torch.ones(n, d, dtype=kind)
        return lambda: plain_attention(x, w_qkv, w_o, heads)

    with torch.no_grad(), one_thread():
        held_by(attend(LENGTHS[0]))  # what PyTorch does only once is not counted
        until = perf_counter() + SECONDS
        for n in LENGTHS:
            point = Point(n, seconds=shortest(attend(n), until), held=held_by(attend(n)))
            points.append(point)
            growth = total_flops(2 * n, d) / total_flops(n, d)
            soon = perf_counter() + growth * point.seconds * (REPEATS + 1)
            if soon > until or held_next(n, heads, dtype) > MEMORY:
                break
    return Measured(tuple(points), rate)


def _fits_into_the_budget(d: int, dtype: str, rate: float) -> None:
    """Refuse a first length that would block the kernel: some types are very slow on some CPUs.

    Raises:
        RuntimeError: at this rate it takes longer than all lengths together may.
    """
    n = LENGTHS[0]
    expected = FIRST_RUNS * total_flops(n, d) / rate
    if expected > SECONDS:
        raise RuntimeError(
            f"d = {d:,} in {dtype} would take this machine about {expected:.0f} s for N = {n} "
            f"alone, and {SECONDS:g} s are meant for all lengths; try a smaller d or another type"
        )


def held_next(n: int, heads: int, dtype: str) -> int:
    """Bytes of the scores and of the weights for twice as many tokens."""
    return 2 * score_bytes(2 * n, heads, SIZES[dtype])
