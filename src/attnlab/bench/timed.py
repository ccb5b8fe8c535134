"""How long a run takes: warmed up, on one core or until the GPU is done, and the median of some."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from statistics import median, quantiles
from time import perf_counter
from typing import Any, NamedTuple

import torch

RUNS = (3, 50)  # at least, at most
# On the CPU, the run in which memory was watched, or any other, has done that.
WARM_UPS = {"cpu": 0, "cuda": 3}
LEAST = 0.1  # seconds of runs, as long as they are fewer than the most


class Times(NamedTuple):
    """Of some runs, in seconds.

    Attributes:
        median: half the runs were shorter.
        spread: between the first quartile and the third.
    """

    median: float
    spread: float


@contextmanager
def one_thread() -> Iterator[None]:
    """PyTorch on one core; threads that wait for each other on a busy machine are hard to time."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)


def until_done(device: str) -> None:
    """Wait for the GPU: a call returns when the work is queued, not when it is done."""
    if device == "cuda":
        torch.cuda.synchronize()


def timed(run: Callable[[], Any], device: str = "cpu", runs: tuple[int, int] = RUNS) -> Times:
    """The times of some runs. The first of all is none of them: it loads, compiles and allocates.

    Args:
        run: what is timed; on the CPU, it ran once before.
        device: 'cpu' or 'cuda'.
        runs: at least so many, and at most; between them, until they took long enough.
    """
    fewest, most = runs
    times: list[float] = []
    for _ in range(WARM_UPS[device]):
        run()
    while len(times) < fewest or (len(times) < most and sum(times) < LEAST):
        until_done(device)
        start = perf_counter()
        run()
        until_done(device)
        times.append(perf_counter() - start)
    first, _, third = quantiles(times * 2, n=4, method="inclusive")  # of one run, too
    return Times(median(times), third - first)
