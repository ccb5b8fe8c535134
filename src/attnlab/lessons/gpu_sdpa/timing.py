"""Lesson 13's `benchmark`: what it makes of a clock that it is handed, and when it reads it.

Which calls it times is its own choice, so there is no one right answer. `attnlab.calling.timing`
writes down what it does; from that it is worked out here which calls were timed, and so what their
median is.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import cycle, islice
from statistics import mean, median
from typing import Any

import numpy as np

from attnlab.calling.timing import MOST
from attnlab.checks.exercise import Case, Claim, Exercise, Formula, Procedure, Slot, promises
from attnlab.checks.inputs import Generator

WARM, FEWEST, LONGEST, CALLS = 3, 5, 50, 61
CLOCK, BOTH = "clock", "clock and wait"
RETURNS = (
    Slot("time", "float", any=True),
    Slot("what was done", "tensor", str(MOST), any=True),
    Slot("whether it is an int", "int", any=True),
)
Times = Sequence[float]


@dataclass(frozen=True, slots=True)
class Run:
    """A case, and what came of it: see `attnlab.calling.timing.watch`.

    Attributes:
        order: a letter for each call, reading of the clock and wait: c, r, w.
        others: calls with other arguments.
        whole: whether the result is an int.
    """

    spans: Times
    start: float
    handed: str
    back: float
    result: float
    order: str
    others: int
    whole: bool

    @property
    def warm(self) -> int:
        """Calls before the first reading of the clock."""
        return self.order.partition("r")[0].count("c")

    @property
    def timed(self) -> int:
        """Calls from the first reading to the last."""
        return self.order.partition("r")[2].rpartition("r")[0].count("c")

    @property
    def alone(self) -> int:
        """Calls with a reading just before, and just after but for waits."""
        return len(re.findall("rcw*(?=r)", self.order))

    @property
    def hasty(self) -> int:
        """Readings right after a call, no wait between."""
        return self.order.count("cr")

    @property
    def ran(self) -> Times:
        """What each call took, up to the last reading."""
        return list(islice(cycle(self.spans), self.warm + self.timed))

    @property
    def times(self) -> Times:
        return self.ran[self.warm :]

    def same(self, *times: float) -> bool:
        """Whether the result is one of these, but for what a sum is rounded by."""
        return any(math.isclose(self.result, time, rel_tol=1e-9) for time in times)

    @property
    def right(self) -> bool:
        """Whether the result is what it should be, by what the calls were timed with."""
        tidy = not self.others and not self.whole
        if not self.handed:
            return tidy and 0 <= self.result < 60  # by the machine's own clock
        tidy &= self.alone == self.timed > 0
        return tidy and bool(self.times) and self.same(median(self.times))

    @property
    def sound(self) -> bool:
        """Whether nothing is wrong with the result, as far as that is asked."""
        return self.right or self.handed == BOTH


def _run(*given: Any) -> Run:
    """A Run of a case's arguments, and an array for each of RETURNS."""
    (spans, start, handed, back), (result, events, whole) = given[:4], given[-len(RETURNS) :]
    order = events.astype(np.uint8).tobytes().rstrip(b"\0").decode("latin-1")
    others, order = order.count("o"), order.replace("o", "c")
    return Run(spans, start, handed, back, float(result), order, others, bool(whole))


# Cases --------------------------------------------------------------------------------------------


def _spans(rng: Generator, whole: bool) -> Times:
    """What calls take, all distinct, a few far longer than most; the longest come first.

    So a median tells which calls it is of. Floats are multiples of 2⁻²⁰: differences are exact.
    """
    times: set[int] = set()
    while len(times) < CALLS:
        times.add(1 + round(20_000 * math.exp(1.2 * rng.normal())))
    ordered = np.array(sorted(times))
    ticks = [*rng.permutation(ordered[-WARM:]), *rng.permutation(ordered[:-WARM])]
    return tuple(int(tick) if whole else float(tick) / 2**20 for tick in ticks)


def _cases(rng: Generator) -> Iterator[Case]:
    still, none = "the clock stands still", "no clock is handed in"
    kinds = cycle(rng.permutation([False, True]).tolist())
    for claim, handed, note in (
        *[("values", CLOCK, "")] * 4,
        *(("values", CLOCK, still), ("values", "", none)),
        *(("warm-up", CLOCK, ""), ("warm-up", BOTH, "")),
        *(("number", CLOCK, ""), ("number", BOTH, ""), ("number", "", none)),
        *(("waits", BOTH, ""), ("waits", BOTH, ""), ("waits", BOTH, still)),
    ):
        whole = next(kinds)
        spans = tuple((note != still) * span for span in _spans(rng, whole))
        start = 10**15 + int(rng.integers(10**6)) if whole else float(2**20 + rng.integers(1024))
        back_and_args = rng.uniform(1, 9, int(rng.integers(1, 4))).tolist()
        way = replace(WAYS[claim], unsteady=not handed)  # the machine's own clock
        yield Case(claim, (spans, start, handed, *back_and_args), note=note, procedure=way)


# What is wrong ------------------------------------------------------------------------------------


def _wrong_value(run: Run) -> str:
    if run.right:
        return ""
    if run.others:
        return "fn was called with other arguments than its own"
    if run.whole:
        return f"it gave {run.result:.0f}, an int, and a float is asked for"
    if not run.timed:
        return f"it gave {run.result:.6g}, and timed no call by the clock that it has"
    return f"it gave {run.result:.6g}, which is not the median of the {run.timed} calls it timed"


def _wrong_warm_up(run: Run) -> str:
    return f"the clock was read after {run.warm} calls" if run.warm < WARM else ""


def _wrong_number(run: Run) -> str:
    if not run.handed:
        return f"fn was called {run.warm} times in all" if run.warm < WARM + FEWEST else ""
    return "" if FEWEST <= run.timed <= LONGEST else f"{run.timed} calls were timed"


def _wrong_waits(run: Run) -> str:
    if run.hasty:
        return f"{run.hasty} readings came while a call's work was still in the queue"
    return "" if run.alone == run.timed else "more than its call lies between two readings"


NAMES = ("the calls' times", "the clock begins at", "handed in", "fn returns", "args", "and")
WAYS = {
    claim: Procedure(
        "timing.watch", RETURNS, lambda *given: (0.0, np.zeros(MOST, "uint8"), 0), NAMES, missed
    )
    for claim, missed in (
        ("values", lambda *given: _wrong_value(_run(*given))),
        ("warm-up", lambda *given: _wrong_warm_up(_run(*given))),
        ("number", lambda *given: _wrong_number(_run(*given))),
        ("waits", lambda *given: _wrong_waits(_run(*given))),
    )
}


def _if(test: Callable[[Run], bool]) -> Formula:
    return lambda *given: test(_run(*given))


def _value(test: Callable[[Run], bool]) -> Formula:
    """Whether it explains a wrong time; where it is the machine's own clock's, it always may."""
    return _if(lambda run: run.handed != BOTH and not run.right and (not run.handed or test(run)))


def _means(times: Times) -> Iterator[float]:
    """Their mean, and those of what is left without the largest, the smallest or both."""
    ordered, number = sorted(times), len(times)
    yield mean(ordered)
    for cut in {1, 2, 3, *(number // part for part in (20, 10, 5, 4))} - {0}:
        for low, high in ((cut, cut), (0, cut), (cut, 0)):
            if low + high < number - 2:
                yield mean(ordered[low : number - high])


def _middle(times: Times) -> list[float]:
    """What stands in the middle: sorted, one of two; unsorted, one, or the mean of two."""
    low, high = (len(times) - 1) // 2, len(times) // 2
    return [sorted(times)[low], sorted(times)[high], times[high], (times[low] + times[high]) / 2]


def _of(results: Callable[[Times], Iterable[float]]) -> Formula:
    return _value(lambda run: bool(run.times) and run.same(*results(run.times)))


def _is_no_difference(run: Run) -> bool:
    reading = run.start <= run.result <= run.start + sum(run.ran)
    return reading or (bool(run.times) and run.same(-median(run.times)))


def _drops_first(run: Run) -> bool:
    """Whether calls that were timed were left out later, as if they had been warm-up."""
    return run.same(*(median(run.ran[kept:]) for kept in range(WARM, min(11, len(run.ran)))))


BENCHMARK = Exercise(
    name="benchmark",
    signature="(fn, *args, clock=time.perf_counter, wait=lambda: None) -> float",
    axes=(),
    read="Timing done right",
    returns=RETURNS[:1],
    claims=promises(
        "gives the median of the calls that it times, in the clock's unit",
        1.25,
        Claim("warm-up", "lets three calls or more go by before it reads the clock", 0.25),
        Claim("number", "times five to fifty calls", 0.25),
        Claim("waits", "waits until work is done before it reads the clock", 0.25),
    ),
    cases=_cases,
    mistakes={
        "default-clock": _if(lambda run: not run.handed and not run.right and not run.others),
        "arguments-not-passed": _if(lambda run: run.others > 0),
        "wrong-type": _if(lambda run: run.whole),
        "result-of-fn": _value(lambda run: run.same(run.back)),
        "clock-not-used": _value(lambda run: not run.timed),
        "several-in-one-span": _value(lambda run: run.alone < run.timed),
        "no-warm-up": _if(lambda run: run.warm < WARM and (run.sound or _drops_first(run))),
        "mean-not-median": _of(_means),
        "total-time": _of(lambda times: [sum(times)]),
        "middle-not-median": _of(_middle),
        "one-call": _of(lambda times: times),
        "another-unit": _of(
            lambda times: [10.0**power * median(times) for power in (-9, -6, -3, 3, 6, 9)]
        ),
        "not-a-difference": _value(_is_no_difference),
        "too-few-or-too-many": _if(lambda run: run.sound and bool(_wrong_number(run))),
        "not-synchronised": _if(lambda run: run.handed == BOTH and run.hasty > 0),
        "wait-after-start": _if(lambda run: run.handed == BOTH and run.alone < run.timed),
    },
)
