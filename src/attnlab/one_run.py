"""What one run of PyTorch needs: its memory, by watching what it makes, and its time, on one core.

On the CPU each operation is seen as PyTorch dispatches it, so the bytes are the same on every
machine and in every run. What a fused kernel allocates inside itself and frees again is not seen;
PyTorch's own for the CPU needs a few tiles for each thread there, however long the sequence is.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from statistics import median, quantiles
from time import perf_counter
from typing import Any, NamedTuple

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

RUNS = (3, 50)  # at least, at most
# On the CPU, the run in which memory was watched, or any other, has done that.
WARM_UPS = {"cpu": 0, "cuda": 3}
LEAST = 0.1  # seconds of runs, as long as they are fewer than the most


class Held(TorchDispatchMode):
    """Watches what PyTorch makes: the most bytes of tensors that were alive at once."""

    def __init__(self) -> None:
        super().__init__()
        self.now = self.most = 0
        self._known: set[int] = set()

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        given = {storage.data_ptr() for storage in _storages((args, kwargs))}
        for storage in _storages(result):
            if storage.data_ptr() not in given:  # a view holds nothing of its own
                self._watch(storage)
        return result

    def _watch(self, storage: torch.UntypedStorage) -> None:
        place, size = storage.data_ptr(), storage.nbytes()
        if place in self._known:
            return

        def gone() -> None:
            self._known.discard(place)
            self.now -= size

        self._known.add(place)
        self.now += size
        self.most = max(self.most, self.now)
        weakref.finalize(storage, gone)


def _storages(tree: Any) -> list[torch.UntypedStorage]:
    """What the tensors in lists, tuples and dicts are stored in."""
    return [leaf.untyped_storage() for leaf in tree_leaves(tree) if torch.is_tensor(leaf)]


def held_by(run: Callable[[], Any]) -> int:
    """The most bytes of tensors that a run made and held at once, its inputs not counted."""
    with Held() as held:
        run()
    return held.most


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
