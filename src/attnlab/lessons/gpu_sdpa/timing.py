"""Lesson 12's last exercise: the time of a call, judged by a made clock."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator
from typing import Any

from attnlab.calling.clock import HAND_OVER, TOO_LONG
from attnlab.checks.exercise import Case, Exercise, Group, Mistake, Slot, Way, unchanged
from attnlab.checks.inputs import Generator, sizes
from attnlab.lessons.gpu_sdpa import LESSON
from attnlab.lessons.pytorch.exercises import normal

ROUND = 5  # calls after which their times begin again
TIMED = (5, 7, 10, 15, 20, 25, 30, 40, 50)  # how many calls people time
WARM = (3, 4, 5, 10)  # and how many come before
FIRST, MANY = "do three calls come first", "how many are timed"


def _around(rng: Generator) -> list[float]:
    """Seconds of five calls: three are the same, one is faster, one is slower.

    So the median of five calls or more is that of the three, wherever they begin; and their mean,
    smallest, largest and sum are something else.
    """
    usual = float(rng.uniform(0.01, 0.03))
    faster, slower = usual * rng.uniform(0.3, 0.7), usual * rng.uniform(3, 5)
    around = rng.permutation([usual, usual, usual, faster, slower])
    return [round(float(part), 6) for part in around]  # that nanoseconds are whole


def _in_turn(rng: Generator) -> list[float]:
    """Seconds of four calls, over and over: every other is as usual, none of two together are.

    Again the median of five calls or more is the usual one.
    """
    usual = float(rng.uniform(0.01, 0.03))
    apart = rng.permutation([usual * rng.uniform(0.3, 0.7), usual * rng.uniform(3, 5)])
    return [round(float(part), 6) for part in (apart[0], usual, apart[1], usual)]


def _rising(rng: Generator) -> list[float]:
    """Seconds of calls, each slower than the one before, so that a median tells which it is of."""
    return [float(part) for part in 0.005 + rng.uniform(1e-4, 2e-4, TOO_LONG).cumsum()]


def _cases(rng: Generator) -> Iterator[Case]:
    seconds = (Slot("seconds", "float"),)
    given: tuple[str, ...]
    given = ("the calls' seconds", "with a GPU", "fn's argument", "fn's second argument")
    steady = Way("clock.measured", seconds, _median, given)
    n, d = sizes(rng, 2)
    around = _around(rng)
    for start in range(ROUND):  # whoever times one call meets each of them
        inputs = tuple(normal(rng, n, d) for _ in range((1, 2, 0)[start % 3]))
        turned = around[start:] + around[:start]
        note = "" if inputs else "fn takes no arguments"
        yield Case("median", (turned, False, *inputs), note=note, way=steady)
    turned, note = _in_turn(rng), "every other call takes as long"
    yield Case("median", (turned, False, normal(rng, n, d)), note=note, way=steady)
    given = ("question", "the calls' seconds", "fn's argument")
    enough = Way("clock.ask", (Slot("enough warm-up", "bool"),), lambda *args: True, given)
    number = (Slot("too few", "bool"), Slot("too many", "bool"))
    counted = Way("clock.ask", number, lambda *args: (False, False), given)
    note = "the first three calls are slow once, and fast once"
    for way, group, question in ((enough, "warm-up", FIRST), (counted, "number", MANY)):
        args = (question, _rising(rng), normal(rng, n, d))
        yield Case(group, args, note=note, way=way)
    for _ in range(2):
        note = "a GPU does the work"
        yield Case("gpu", (_around(rng), True, normal(rng, n, d)), note=note, way=steady)


def _median(seconds: list[float], gpu: bool, *args: Any) -> float:
    return statistics.median(seconds)


def _answers(
    of: Callable[[list[float]], float] = statistics.median,
    on_gpu: Callable[[list[float]], float] | None = None,
    warm: bool = True,
    few: bool = False,
    many: bool = False,
) -> Callable[..., Any]:
    """What a benchmark makes of all cases.

    Args:
        of: what it makes of the calls' times.
        on_gpu: the same where a GPU does the work, if it differs.
        warm: whether enough calls come before the timed ones.
        few, many: whether too few are timed, or too many.
    """

    def answer(first: Any, *rest: Any) -> Any:
        if isinstance(first, str):
            return warm if first == FIRST else (few, many)
        return (on_gpu if on_gpu and rest[0] else of)(first)

    return answer


def _in_window(
    of: Callable[[list[float]], float], start: int, number: int
) -> Callable[[list[float]], float]:
    """The same of so many calls from one on."""
    return lambda seconds: of([seconds[(start + at) % len(seconds)] for at in range(number)])


def _windows(of: Callable[[list[float]], float]) -> list[Callable[..., Any]]:
    """The same for each way in which people choose the calls that are timed."""
    return [_answers(_in_window(of, start, number)) for start in WARM for number in TIMED]


def _of_pairs(seconds: list[float]) -> float:
    """The median where two calls are timed together and halved."""
    pairs = zip(seconds[::2], seconds[1::2], strict=False)
    return statistics.median([sum(pair) / 2 for pair in pairs])


def _each(
    slug: str, answers: list[Callable[..., Any]], reason: str, remedy: str
) -> tuple[Mistake, ...]:
    return tuple(Mistake(slug, answer, reason, remedy) for answer in answers)


BENCHMARK = Exercise(
    name="benchmark",
    lesson=LESSON.slug,
    stage=LESSON.stage,
    signature="(fn, *args) -> seconds",
    axes=("?", "?"),
    read="Timing done right",
    returns=(Slot("seconds", "float"),),
    groups=(
        Group("median", "gives the median time of a call, in seconds", 0.75, core=True),
        Group("warm-up", "lets three calls or more go by before it times any", 0.375),
        Group("number", "times five to fifty calls", 0.25),
        Group(
            "gpu",
            "waits for a GPU's work to be done before it stops the clock",
            0.5,
            needs=("number",),
        ),
        unchanged(0.125),
    ),
    cases=_cases,
    oracle=_median,
    mistakes=(
        *_each(
            "mean-not-median",
            [_answers(statistics.mean), *_windows(statistics.mean)],
            "This is the mean. One call that something came in between of pulls it up.",
            "Keep each call's time, and take `statistics.median`.",
        ),
        *_each(
            "fastest-call",
            [_answers(min)],
            "This is the fastest call, and the others are slower.",
            "Take the median: `statistics.median`.",
        ),
        *_each(
            "slowest-call",
            [_answers(max)],
            "This is the slowest call.",
            "Take the median: `statistics.median`.",
        ),
        *_each(
            "one-call",
            [_answers(_in_window(sum, start, 1)) for start in range(4 * ROUND)],
            "This is the time of a single call, and no two calls take the same time.",
            "Time five calls or more, and take `statistics.median`, which sorts them first.",
        ),
        *_each(
            "calls-together",
            [_answers(_in_window(_of_pairs, at, 2 * number)) for at in WARM for number in TIMED],
            "Two calls were timed together, and their time was halved, which is a mean already.",
            "Read the clock before each call and after it.",
        ),
        *_each(
            "total-time",
            _windows(sum),
            "This is what all calls took together.",
            "Keep each call's time by itself, and take their median.",
        ),
        *_each(
            "milliseconds",
            [_answers(lambda seconds: 1000 * statistics.median(seconds))],
            "These are milliseconds.",
            "Seconds are asked for: leave out the 1000, or divide where the clock counts finer.",
        ),
        *_each(
            "nanoseconds",
            [_answers(lambda seconds: 1e9 * statistics.median(seconds))],
            "These are nanoseconds.",
            "Divide by 10⁹: seconds are asked for.",
        ),
        *_each(
            "not-synchronised",
            [_answers(statistics.median, lambda seconds: HAND_OVER)],
            "The clock was stopped while the GPU was still at work: a call only hands its work "
            "over, and returns.",
            "Call `torch.cuda.synchronize()` after fn and before you read the clock, each time.",
        ),
        Mistake(
            "no-warm-up",
            _answers(warm=False),
            "Among the timed calls is one of the first three, which are unlike all others: memory "
            "is asked for, kernels are chosen and loaded.",
            "Call fn three times or more before you time it.",
        ),
        Mistake(
            "too-few-timed",
            _answers(few=True),
            "Fewer than five calls were timed, and a median of those is little better than one.",
            "Time five to fifty calls.",
        ),
        Mistake(
            "too-many-timed",
            _answers(many=True),
            "More than fifty calls were timed. The median has settled long before, and somebody "
            "is waiting.",
            "Time five to fifty calls.",
        ),
    ),
)
