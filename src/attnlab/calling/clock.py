"""A made clock, by which lesson 12's `benchmark` is judged: no real time passes, on any machine.

While a benchmark runs, every clock of Python's shows a made time, which goes on when the function
that is timed is called, and by nothing else. Where a GPU is made as well, that function only hands
its work over, and waiting for the GPU is what makes the time go on.
"""

from __future__ import annotations

import contextlib
import itertools
import statistics
import threading
import time
import timeit
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import torch

HAND_OVER = 2e-7  # seconds that a call takes where a GPU does the work
WARM_UP, FEWEST, MOST = 3, 5, 50
TOO_LONG = 400  # calls after which nobody looks which of them were timed
CLOSE = 1e-8


class NoClock(Exception):
    """The seconds that came back were read from no clock that counts the time that passes."""


class OtherArguments(Exception):
    """The function that is timed was called with other arguments than were given for it."""


class _Clock:
    """Made time, and a made GPU's.

    Attributes:
        now: what the clock shows.
        busy: when the GPU will have done all that it was handed.
        reads: how often the clock was looked at.
        calls: how often the timed function was called.
    """

    def __init__(self, seconds: Iterable[float], args: tuple[Any, ...], gpu: bool) -> None:
        self.now, self.busy, self.reads, self.calls = 1000.0, 0.0, 0, 0
        self._seconds, self._args, self._gpu = iter(seconds), args, gpu

    def fn(self, *args: Any) -> None:
        """What is timed: each call takes the next of the given seconds."""
        same = len(args) == len(self._args)
        if not same or any(a is not b for a, b in zip(args, self._args, strict=True)):
            raise OtherArguments(f"fn got {len(args)} arguments, and {len(self._args)} were given")
        self.calls += 1
        took = next(self._seconds)
        if self._gpu:
            self.now += HAND_OVER
            self.busy = max(self.busy, self.now) + took - HAND_OVER
        else:
            self.now += took

    def read(self, *_: Any) -> float:
        self.reads += 1
        return self.now

    def read_ns(self, *_: Any) -> int:
        return round(self.read() * 1e9)

    def sleep(self, seconds: float) -> None:
        self.now += seconds

    def wait(self, *_: Any, **__: Any) -> None:
        """What stands in for `torch.cuda.synchronize`."""
        if not self._gpu:
            raise AssertionError("Torch not compiled with CUDA enabled")
        self.now = max(self.now, self.busy)

    def event(self, *_: Any, **__: Any) -> _Event:
        return _Event(self)


class _Event:
    """What stands in for `torch.cuda.Event`, and for a stream: a place in the GPU's queue."""

    def __init__(self, clock: _Clock) -> None:
        self._clock, self.at = clock, 0.0

    def record(self, *_: Any) -> None:
        self.at = max(self._clock.now, self._clock.busy)

    def synchronize(self) -> None:
        self._clock.wait()

    def elapsed_time(self, end: _Event) -> float:
        if end.at > self._clock.now:
            raise RuntimeError("Both events must be completed before calculating elapsed time.")
        self._clock.read()
        return (end.at - self.at) * 1000


def _stand_ins(clock: _Clock, gpu: bool) -> list[tuple[Any, str, Any]]:
    """Whose attribute is replaced by what."""
    clocks = [(time, name, clock.read) for name in ("perf_counter", "monotonic", "time")]
    counted = [(time, f"{name}_ns", clock.read_ns) for _, name, _ in clocks]
    own: list[tuple[Any, str, Any]] = [
        *clocks,
        *counted,
        (time, "sleep", clock.sleep),
        (timeit, "default_timer", clock.read),
        (torch.cuda, "is_available", lambda: gpu),
        (torch.cuda, "device_count", lambda: int(gpu)),
        (torch.cuda, "synchronize", clock.wait),
        (torch.cuda, "Event", clock.event),
        (torch.cuda, "current_stream", clock.event),
    ]
    accelerator = getattr(torch, "accelerator", None)  # since PyTorch 2.6
    if accelerator is not None:
        own.append((accelerator, "is_available", lambda: gpu))
        own.append((accelerator, "synchronize", clock.wait))
    return own


@contextlib.contextmanager
def _made_time(clock: _Clock, gpu: bool, function: Callable[..., Any]) -> Iterator[None]:
    """Put the made clock in the place of all others, for this thread."""
    mine, stand_ins = threading.get_ident(), {}
    replaced: list[tuple[dict[str, Any], str, Any]] = []

    def only_here(original: Any, made: Any) -> Any:
        def either(*args: Any, **kwargs: Any) -> Any:
            chosen = made if threading.get_ident() == mine else original
            return chosen(*args, **kwargs)

        return either

    for owner, name, made in _stand_ins(clock, gpu):
        original = getattr(owner, name)
        stand_ins[id(original)] = only_here(original, made)
        replaced.append((vars(owner), name, original))
    for names in _namespaces(function):  # who wrote `from time import perf_counter` has it there
        replaced += [(names, name, it) for name, it in names.items() if id(it) in stand_ins]
    try:
        for names, name, original in replaced:
            names[name] = stand_ins[id(original)]
        yield
    finally:
        for names, name, original in replaced:
            names[name] = original


def _namespaces(function: Any) -> list[dict[str, Any]]:
    """The global names of a function and of those that it is wrapped around."""
    found: dict[int, dict[str, Any]] = {}
    left, seen = [function], set()
    while left:
        one = left.pop()
        if id(one) in seen:
            continue
        seen.add(id(one))
        for names in (getattr(one, "__globals__", None), getattr(one, "__kwdefaults__", None)):
            if isinstance(names, dict) and names is not globals():
                found[id(names)] = names
        cells = getattr(one, "__closure__", None) or ()
        inner = [cell.cell_contents for cell in cells if _is_filled(cell)]
        inner += [getattr(one, name, None) for name in ("func", "__func__", "__wrapped__")]
        left += [thing for thing in inner if callable(thing)]
    return list(found.values())


def _is_filled(cell: Any) -> bool:
    try:
        return cell.cell_contents is not None
    except ValueError:
        return False


def _timed(
    benchmark: Callable[..., Any], seconds: Iterable[float], gpu: bool, args: tuple[Any, ...]
) -> tuple[Any, int]:
    """What a benchmark makes of calls that take these seconds, and how many calls it made."""
    clock = _Clock(seconds, args, gpu)
    with _made_time(clock, gpu, benchmark):
        result = benchmark(clock.fn, *args)
    if isinstance(result, float) and not clock.reads:
        raise NoClock("no clock was read that counts the time that passes, such as perf_counter")
    return result, clock.calls


def measured(benchmark: Callable[..., Any], seconds: list[float], gpu: bool, *args: Any) -> Any:
    """What a benchmark makes of calls that take these seconds, over and over.

    Args:
        gpu: whether a made GPU does the work, so that a call is over before its work is.
        args: what the timed function is called with.
    """
    return _timed(benchmark, itertools.cycle(seconds), gpu, args)[0]


def ask(benchmark: Callable[..., Any], question: str, seconds: list[float], *args: Any) -> Any:
    """Which calls a benchmark times: the answer to a key of QUESTIONS.

    Args:
        seconds: of the calls, each slower than the one before.
        args: what the timed function is called with.
    """
    return QUESTIONS[question](_windows(benchmark, seconds, args))


def _warms_up(windows: set[tuple[int, int]]) -> bool:
    """Whether three calls or more came before those whose median came back."""
    return any(start >= WARM_UP for start, _ in windows)


def _counts(windows: set[tuple[int, int]]) -> tuple[bool, bool]:
    """Whether fewer than five calls were timed, and whether more than fifty."""
    numbers = [number for _, number in windows]
    if any(FEWEST <= number <= MOST for number in numbers) or not numbers:
        return False, False
    return max(numbers) < FEWEST, max(numbers) > MOST


QUESTIONS: dict[str, Callable[..., Any]] = {
    "do three calls come first": _warms_up,
    "how many are timed": _counts,
}


def _windows(
    benchmark: Callable[..., Any], seconds: list[float], args: tuple[Any, ...]
) -> set[tuple[int, int]]:
    """Which calls may have been timed: how many came before them, and how many they are.

    Each call takes longer than the one before, so that a median tells which calls it is of, or
    nearly: of an even number there are three medians in use. The first three calls are slower than
    all others once, and faster than all others once; only a median without them fits both.
    """
    fitting = []
    for factor in (100.0, 0.01):
        first = [factor * part for part in seconds[:WARM_UP]]
        every = itertools.chain(first, itertools.cycle(seconds[WARM_UP:]))
        result, calls = _timed(benchmark, every, False, args)
        if not isinstance(result, float | torch.Tensor):
            return set()
        if calls > TOO_LONG:
            return {(WARM_UP, calls)}
        taken = first + list(itertools.islice(itertools.cycle(seconds[WARM_UP:]), calls))
        fitting.append((calls, _fits(float(result), taken[:calls])))
    (calls, slow), (again, fast) = fitting
    both = slow & fast if calls == again else slow if fast else set()
    return {(start, calls - start) for start, _ in both}


def _fits(result: float, taken: list[float]) -> set[tuple[int, str]]:
    """Where calls begin whose median this is, and by which kind of median."""
    kinds = (statistics.median, statistics.median_low, statistics.median_high)
    return {
        (start, kind.__name__)
        for start in range(len(taken))
        for kind in kinds
        if abs(kind(taken[start:]) - result) < CLOSE
    }
