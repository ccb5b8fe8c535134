"""A made clock, by which lesson 12's `benchmark` is judged: no real time passes, on any machine.

While a benchmark runs, every clock of Python's shows a made time, which goes on when the function
that is timed is called, and by nothing else. Where a GPU is made as well, that function only hands
its work over, and waiting for the GPU is what makes the time go on.
"""

from __future__ import annotations

import bisect
import contextlib
import functools
import itertools
import math
import statistics
import threading
import time
import timeit
import types
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import torch

HAND_OVER = 2e-7  # seconds that a call takes where a GPU does the work
WARM_UP, FEWEST, MOST = 3, 5, 50
SLOW, FAST = 100.0, 0.01  # times as slow as they are
TOO_LONG = 400  # calls after which nobody looks which of them were timed
CLOSE = 2e-6  # seconds; whoever rounds to microseconds is as near


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
    defaults: list[tuple[Any, tuple[Any, ...]]] = []

    def only_here(original: Any, made: Any) -> Any:
        def either(*args: Any, **kwargs: Any) -> Any:
            chosen = made if threading.get_ident() == mine else original
            return chosen(*args, **kwargs)

        return either

    for owner, name, made in _stand_ins(clock, gpu):
        original = getattr(owner, name)
        stand_ins[id(original)] = only_here(original, made)
        replaced.append((vars(owner), name, original))
    functions = _functions(function, timeit.Timer.__init__)
    for names in _namespaces(functions):  # who wrote `from time import perf_counter` has it there
        replaced += [(names, name, it) for name, it in names.items() if id(it) in stand_ins]
    for one in functions:  # and who made it a default argument, as timeit does, there
        given = getattr(one, "__defaults__", None)
        if isinstance(given, tuple) and any(id(it) in stand_ins for it in given):
            defaults.append((one, given))
    try:
        for names, name, original in replaced:
            names[name] = stand_ins[id(original)]
        for one, given in defaults:
            one.__defaults__ = tuple(stand_ins.get(id(it), it) for it in given)
        yield
    finally:
        for names, name, original in replaced:
            names[name] = original
        for one, given in defaults:
            one.__defaults__ = given


def _functions(*first: Any) -> list[Any]:
    """These, those that they are wrapped around, and those that are written beside them."""
    found: dict[int, Any] = {}
    left, searched = list(first), {id(globals())}
    while left:
        one = left.pop()
        if id(one) in found:
            continue
        found[id(one)] = one
        cells = getattr(one, "__closure__", None) or ()
        inner = [cell.cell_contents for cell in cells if _is_filled(cell)]
        inner += [getattr(one, name, None) for name in ("func", "__func__", "__wrapped__")]
        names = getattr(one, "__globals__", None)
        if isinstance(names, dict) and id(names) not in searched:
            searched.add(id(names))
            beside = (it for it in names.values() if isinstance(it, types.FunctionType))
            inner += [it for it in beside if it.__globals__ is names]
        left += [thing for thing in inner if callable(thing)]
    return list(found.values())


def _namespaces(functions: list[Any]) -> list[dict[str, Any]]:
    """The names that are global to these functions, and those of their keyword arguments."""
    found: dict[int, dict[str, Any]] = {}
    for one in functions:
        for names in (getattr(one, "__globals__", None), getattr(one, "__kwdefaults__", None)):
            if isinstance(names, dict) and names is not globals():
                found[id(names)] = names
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

    Before them are those for whose result it is all one whether they are slow or fast. Who times a
    call or two to see how many fit makes more or fewer calls then; there it is asked which calls
    have that median. Each takes longer than the one before, so that it tells, or nearly: of an even
    number there are three medians in use.
    """

    @functools.cache
    def run(first: int, factor: float) -> tuple[float, list[float]]:
        """The result, and what each call took, where so many calls are slow or fast."""
        turned = [factor * part for part in seconds[:first]]
        every = itertools.chain(turned, itertools.cycle(seconds[first:]))
        result, calls = _timed(benchmark, every, False, args)
        known = isinstance(result, float | torch.Tensor)
        whole = itertools.chain(turned, itertools.cycle(seconds[first:]))
        return float(result) if known else math.nan, list(itertools.islice(whole, calls))

    def matters(first: int) -> bool:
        (slow, taken), (fast, others) = run(first, SLOW), run(first, FAST)
        return len(taken) != len(others) or not abs(slow - fast) < CLOSE

    result, taken = run(0, SLOW)
    if math.isnan(result):
        return set()
    if len(taken) > TOO_LONG:
        return {(WARM_UP, len(taken))}
    start = bisect.bisect(range(1, len(taken)), False, key=matters)
    if len(run(start + 1, SLOW)[1]) == len(run(start + 1, FAST)[1]):
        return {(start, len(taken) - start)}
    result, taken = run(start, SLOW)
    return {(at, len(taken) - at) for at in _fits(result, taken) if at >= start}


def _fits(result: float, taken: list[float]) -> set[int]:
    """Where calls begin whose median this is, by any kind of median."""
    kinds = (statistics.median, statistics.median_low, statistics.median_high)
    return {
        start
        for start in range(len(taken))
        for kind in kinds
        if abs(kind(taken[start:]) - result) < CLOSE
    }
