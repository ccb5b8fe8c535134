"""Measure ways of computing attention, length by length, each beside the others.

A run is bounded: a way starts no length that, going by the one before, would take it past its
budget of time or of memory. What may grow as N² is taken to do so.
"""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from itertools import pairwise
from math import log
from time import perf_counter
from typing import Any, Literal, NamedTuple

import torch

from attnlab.figures.live.counts import GIB, in_bytes
from attnlab.one_run import RUNS, held_by, one_thread, timed

DTYPES = ("float64", "float32", "bfloat16", "float16")
STEP = 4  # no length is more than so many times the one before
SHORTEST = 32  # where the first steps begin
UNEVEN = 0.8  # between the powers of N from one length to the next, where one cannot stand for all
AROUND = 1  # run of a length beside those that count, for its memory; short ones are more


class Refused(Exception):
    """A way of computing attention does not take these inputs; the text says why."""


class Row(NamedTuple):
    """One way at one length.

    Attributes:
        name: of the way.
        n: tokens.
        seconds: median of the runs; None if there were none.
        spread: seconds between the first and the third quartile of the runs.
        bytes: the most that one run held besides its inputs, its output counted.
        skipped: why nothing was measured; '' if it was.
    """

    name: str
    n: int
    seconds: float | None = None
    spread: float | None = None
    bytes: int | None = None
    skipped: str = ""


@dataclass(frozen=True, slots=True)
class Way:
    """A way of computing attention that wants more than to be called with three tensors.

    Attributes:
        run: takes q, k and v as `take` gives them.
        take: makes what `run` takes, an argument each, from a tensor (1, H, N, d).
        within: entered around all runs of a length.
        tensors: whether what it holds is tensors. If not, Python's own allocations are counted.
    """

    run: Callable[[Any, Any, Any], Any]
    take: Callable[[torch.Tensor], Any] = lambda tensor: tensor
    within: Callable[[], AbstractContextManager[Any]] = nullcontext
    tensors: bool = True


def measure(
    implementations: Mapping[str, Callable[..., Any] | Way],
    lengths: Iterable[int],
    *,
    d: int = 64,
    heads: int = 1,
    dtype: str = "float32",
    device: str = "cpu",
    seconds: float = 10.0,
    memory: float = GIB,
) -> list[Row]:
    """Time and memory of each implementation at each length; on the CPU, on one core.

    Args:
        implementations: a function of q, k and v by each name, (1, H, N, d) each. Whether it is
            causal is its own affair: `lambda q, k, v: tiled_attention(q, k, v, 64, causal=True)`.
        lengths: values of N.
        d: width of a head.
        heads: H.
        dtype: one of DTYPES.
        device: 'cpu' or 'cuda'.
        seconds: for all lengths of one implementation.
        memory: bytes, for one run.
    Returns:
        Rows by length, then in the order of the implementations. Whatever was not measured has a
        row that says why.
    Raises:
        ValueError: nothing can be measured like this.
    """
    wanted = sorted(set(lengths))
    check(wanted, d, heads, dtype, device)
    generator = torch.Generator().manual_seed(0)
    budgets = {
        name: _Budget(way if isinstance(way, Way) else Way(way), seconds, memory, device)
        for name, way in implementations.items()
    }
    rows = []
    with torch.no_grad(), one_thread():
        for n in _with_steps(wanted):
            kind = getattr(torch, dtype)
            qkv = [
                torch.randn(1, heads, n, d, generator=generator).to(device, kind) for _ in range(3)
            ]
            for name, budget in budgets.items():
                found = budget.spend(n, qkv, fully=n in wanted)
                if n in wanted:
                    rows.append(Row(name, n, *found, skipped=budget.stopped))
    return rows


def check(lengths: Sequence[int], d: int, heads: int, dtype: str, device: str) -> None:
    """Refuse what no implementation could be measured with.

    Raises:
        ValueError: with what would do.
    """
    if not lengths:
        raise ValueError("there are no lengths to measure")
    for name, number in (("N", min(lengths)), ("d", d), ("the number of heads", heads)):
        if number < 1:
            raise ValueError(f"{name} is {number}; it has to be at least 1")
    if dtype not in DTYPES:
        raise ValueError(f"there is no dtype {dtype!r} here; take one of {', '.join(DTYPES)}")
    if device not in ("cpu", "cuda"):
        raise ValueError(f"the device is {device!r}; it has to be cpu or cuda")
    if device == "cuda" and not torch.cuda.is_available():
        raise ValueError("PyTorch finds no GPU here; device 'cpu' works everywhere")


def _with_steps(lengths: Sequence[int]) -> Iterator[int]:
    """The lengths, and shorter ones before them, so that none is a leap into the unknown."""
    before = min(SHORTEST, lengths[0])
    if before not in lengths:
        yield before
    for n in lengths:
        while before * STEP < n:
            before *= STEP
            if before not in lengths:
                yield before
        before = n
        yield n


Found = tuple[float | None, float | None, int | None]
NOTHING: Found = (None, None, None)


class _Budget:
    """What one implementation may still use, and why it was stopped, if it was.

    Args:
        way: the implementation.
        seconds: in all.
        memory: bytes a run.
        device: 'cpu' or 'cuda'.
    """

    def __init__(self, way: Way, seconds: float, memory: float, device: str) -> None:
        self.stopped = ""
        self._way, self._device = way, device
        self._left, self._memory = seconds, memory
        self._last: tuple[int, float, int] | None = None  # N, seconds of a run, bytes

    def spend(self, n: int, qkv: Sequence[torch.Tensor], fully: bool) -> Found:
        """Seconds, their spread and bytes for one length; without `fully`, roughly and quickly."""
        self.stopped = self.stopped or self._too_much(n)
        if self.stopped:
            return NOTHING
        start = perf_counter()
        try:
            with self._way.within():
                return self._found(n, [self._way.take(each) for each in qkv], fully)
        except (MemoryError, RuntimeError, TypeError, ValueError, Refused) as error:
            self.stopped = _in_words(error)
            return NOTHING
        finally:
            self._left -= perf_counter() - start

    def _found(self, n: int, inputs: Sequence[Any], fully: bool) -> Found:
        def run() -> Any:
            return self._way.run(*inputs)

        peak = self._peak(run)
        times = timed(run, self._device, runs=RUNS if fully else (1, 1))
        self._last = n, times.median, peak
        return times.median, times.spread, peak

    def _peak(self, run: Callable[[], Any]) -> int:
        """The most bytes that one run holds besides its inputs."""
        if self._device == "cuda":
            run()  # what is made once and stays is not counted
            torch.cuda.synchronize()
            before = torch.cuda.memory_allocated()
            torch.cuda.reset_peak_memory_stats()
            run()
            torch.cuda.synchronize()
            return torch.cuda.max_memory_allocated() - before
        if self._way.tensors:
            return held_by(run)
        tracemalloc.start()
        try:
            run()
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    def _too_much(self, n: int) -> str:
        """Why a length is not started, '' if it may be."""
        if self._last is None:
            return ""
        before, seconds, peak = self._last
        growth = (n / before) ** 2
        if growth * peak > self._memory:
            return (
                f"about {in_bytes(growth * peak)} expected, and {in_bytes(self._memory)} are meant"
                " for a run"
            )
        expected = growth * seconds * (RUNS[0] + AROUND)
        if expected > self._left:
            return f"about {expected:.2g} s expected, and {max(self._left, 0):.2g} s are left"
        return ""


def _in_words(error: Exception) -> str:
    """Why a run failed, in one line."""
    said = next(iter(str(error).splitlines()), "") or type(error).__name__
    if isinstance(error, (MemoryError, torch.OutOfMemoryError)) or "t allocate memory" in said:
        return "out of memory"
    if isinstance(error, NotImplementedError):
        return "not written yet" if said == type(error).__name__ else said
    return said if isinstance(error, Refused) else f"{type(error).__name__}: {said}"


def slope(rows: Iterable[Row], name: str, of: Literal["seconds", "bytes"] = "seconds") -> float:
    """The power of N with which time or memory grows: 1 for N, 2 for N².

    A straight line by least squares through the logarithms of the longer half of the lengths, at
    least three of them where there are as many: what is the same at each length hides the power
    at short ones.

    Args:
        rows: of one call of `measure`.
        name: of the implementation.
        of: 'seconds' or 'bytes'.
    Raises:
        ValueError: fewer than two lengths were measured.
    """
    x, y = _logarithms(rows, name, of)
    mean_x, mean_y = sum(x) / len(x), sum(y) / len(y)
    over = sum((a - mean_x) * (b - mean_y) for a, b in zip(x, y, strict=True))
    return over / sum((a - mean_x) ** 2 for a in x)


def power(rows: Sequence[Row], name: str, of: Literal["seconds", "bytes"] = "seconds") -> str:
    """'N^2.01'; or '' where no one power fits: a machine that is busy makes a line uneven.

    Args and errors as in `slope`.
    """
    x, y = _logarithms(rows, name, of)
    lengths = [*zip(x, y, strict=True)]
    steps = [(b[1] - a[1]) / (b[0] - a[0]) for a, b in pairwise(lengths)]
    return f"N^{slope(rows, name, of):.2f}" if max(steps) - min(steps) <= UNEVEN else ""


def _logarithms(
    rows: Iterable[Row], name: str, of: Literal["seconds", "bytes"]
) -> tuple[list[float], list[float]]:
    """Of the longer half of the lengths and of what was measured there; see `slope`."""
    points = sorted(
        (row.n, value) for row in rows if row.name == name and (value := getattr(row, of))
    )
    if len(points) < 2:
        raise ValueError(f"a slope takes two lengths, and {name!r} has {len(points)} measured")
    points = points[-max(3, (len(points) + 1) // 2) :]
    x, y = ([log(point[axis]) for point in points] for axis in (0, 1))
    return x, y
