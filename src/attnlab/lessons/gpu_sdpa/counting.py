"""Lesson 12's exercises in counting: how fast a kernel is, and how fast it could be."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

from attnlab.checks.exercise import Case, Exercise, Group, Mistake, Slot
from attnlab.checks.inputs import Generator, sizes
from attnlab.lessons.gpu_sdpa import LESSON

FLOAT = (Slot("TFLOP/s", "float"),)
SECONDS = (Slot("seconds", "float"),)


# achieved_tflops -----------------------------------------------------------------------------


Shape = tuple[int, int, int, int]


def _shape(rng: Generator) -> Shape:
    """b, h, n and d, of which none is another's multiple by chance alone."""
    b, h = sizes(rng, 2, 3, 17)
    return b, h, int(rng.integers(50, 5000)), int(rng.integers(17, 130))


def _near(rng: Generator, shape: Shape) -> float:
    """Seconds in which a CPU may work the shape off, at less than a TFLOP/s."""
    return _tflops(1.0, *shape) / float(rng.uniform(0.05, 0.9))


def _tflops_cases(rng: Generator) -> Iterator[Case]:
    for _ in range(3):
        shape = _shape(rng)
        yield Case("speed", (_near(rng, shape), *shape))
    shape = _shape(rng)
    yield Case("speed", (_near(rng, shape), *shape, False), note="causal is False")
    for _ in range(2):
        shape = _shape(rng)
        yield Case("causal", (_near(rng, shape), *shape, True), note="causal is True")
    shape = _shape(rng)
    note = "causal is given by name"
    yield Case("causal", (_near(rng, shape), *shape), {"causal": True}, note=note)
    b, h, n, d = _shape(rng)
    for shape in ((1, h, n, d), (b, 1, n, d), (b, h, n, 1), (b, h, 2, d)):
        note = "one of the sizes is small"
        yield Case("sizes", (_near(rng, shape), *shape), note=note)
    shape = (b, h, n * 1000, d)
    fast = _near(rng, shape) / 1000
    yield Case("sizes", (fast, *shape), note="a GPU does it, and N is in the hundred thousands")
    shape = (b, h, 3, d)
    note = "N is 3, and it is causal"
    yield Case("sizes", (_near(rng, shape), *shape, True), note=note)


def _tflops(seconds: float, b: int, h: int, n: int, d: int, causal: bool = False) -> float:
    return 4 * b * h * n**2 * d / (2 if causal else 1) / seconds / 1e12


def _counted(
    flops: Callable[..., float] = lambda b, h, n, d: 4 * b * h * n**2 * d,
    share: Callable[[int, bool], float] = lambda n, causal: 0.5 if causal else 1.0,
    speed: Callable[[float, float], float] = lambda flops, seconds: flops / seconds / 1e12,
) -> Callable[..., float]:
    """The count, with exchangeable parts."""

    def achieved(seconds: float, b: int, h: int, n: int, d: int, causal: bool = False) -> float:
        return speed(flops(b, h, n, d) * share(n, causal), seconds)

    return achieved


def _mistakes(
    *rows: tuple[str, Callable[..., Any], str, str],
) -> tuple[Mistake, ...]:
    return tuple(Mistake(*row) for row in rows)


TFLOPS = Exercise(
    name="achieved_tflops",
    lesson=LESSON.slug,
    stage=LESSON.stage,
    signature="(seconds, b, h, n, d, causal=False) -> float",
    axes=("?", "=b", "=h", "=n", "=d", "?"),
    read="Cost",
    returns=FLOAT,
    groups=(
        Group("speed", "is 4·B·H·N²·d over the time, in units of 10¹² a second", 0.5, core=True),
        Group("causal", "counts exactly half where causal is True", 0.25),
        Group("sizes", "holds for sizes of 1, small N and long N", 0.25, needs=("causal",)),
    ),
    cases=_tflops_cases,
    oracle=_tflops,
    mistakes=_mistakes(
        (
            "no-half",
            _counted(share=lambda n, causal: 1.0),
            "Causal attention counts in full. Half of its scores are never needed, and a kernel "
            "that leaves them out would look twice as fast as it is.",
            "Divide by 2 where causal is True.",
        ),
        *(
            (
                "half-missing",
                _counted(share=share),
                "Half of the work is missing where causal is False. Either a 2 stands for the 4: "
                "there are two matrix products, with a product *and* a sum in each step. Or it is "
                "halved where it should not be.",
                "4·B·H·N²·d, and half of it only where causal is True.",
            )
            for share in (
                lambda n, causal: 0.5,
                lambda n, causal: 0.25 if causal else 0.5,
                lambda n, causal: 1.0 if causal else 0.5,
            )
        ),
        (
            "causal-doubled",
            _counted(share=lambda n, causal: 2.0 if causal else 1.0),
            "Causal counts twice. It is less work, not more.",
            "Divide by 2 where causal is True.",
        ),
        (
            "triangle-counted",
            _counted(share=lambda n, causal: (n + 1) / (2 * n) if causal else 1.0),
            "This is the triangle with its diagonal, N(N + 1)/2. It is more exact, and not "
            "the convention.",
            "Take exactly half: the convention of the papers that you compare with.",
        ),
        (
            "triangle-counted",
            _counted(share=lambda n, causal: (n - 1) / (2 * n) if causal else 1.0),
            "This is the triangle without its diagonal, N(N - 1)/2, which is not the convention.",
            "Take exactly half: the convention of the papers that you compare with.",
        ),
        (
            "d-of-all-heads",
            _counted(flops=lambda b, h, n, d: 4 * b * h * n**2 * (d / h)),
            "H is missing: d was taken for the width of all heads together. It is that of one.",
            "Multiply by H as well.",
        ),
        (
            "d-times-heads-twice",
            _counted(flops=lambda b, h, n, d: 4 * b * h * n**2 * d * h),
            "H is in it twice.",
            "d is the width of one head: 4·B·H·N²·d.",
        ),
        (
            "batch-missing",
            _counted(flops=lambda b, h, n, d: 4 * h * n**2 * d),
            "B is missing.",
            "Each sentence of the batch is work: 4·B·H·N²·d.",
        ),
        (
            "n-not-squared",
            _counted(flops=lambda b, h, n, d: 4 * b * h * n * d),
            "N is not squared. That is how the *memory traffic* of a fused kernel grows.",
            "Each query meets each key: N².",
        ),
        (
            "d-squared",
            _counted(flops=lambda b, h, n, d: 4 * b * h * n * d**2),
            "d is squared in the place of N. That is the work of a projection.",
            "Each query meets each key: N²·d.",
        ),
        (
            "giga-for-tera",
            _counted(speed=lambda flops, seconds: flops / seconds / 1e9),
            "This is a thousand times too much: units of 10⁹, giga, or a time that was divided by "
            "1000.",
            "Tera is 10¹², and the time is in seconds already.",
        ),
        (
            "ten-times",
            _counted(speed=lambda flops, seconds: flops / seconds / 10e12),
            "This is a tenth of it: `10e12` is 10 · 10¹², which is 10¹³.",
            "10¹² is written `1e12` or `10**12`.",
        ),
        (
            "mega-for-tera",
            _counted(speed=lambda flops, seconds: flops / seconds / 1e6),
            "These are units of 10⁶, mega.",
            "Tera is 10¹².",
        ),
        (
            "no-unit",
            _counted(speed=lambda flops, seconds: flops / seconds),
            "This is in single operations a second.",
            "Divide by 10¹².",
        ),
        (
            "tebi-for-tera",
            _counted(speed=lambda flops, seconds: flops / seconds / 2**40),
            "2⁴⁰ was taken for a tera. Powers of two are for memory; speeds are in powers of ten.",
            "Divide by 10¹².",
        ),
        (
            "milliseconds",
            _counted(speed=lambda flops, seconds: flops / seconds / 1e9 * 1e-6),
            "This is a thousandth of it, as if the time were multiplied by 1000.",
            "The time is in seconds already: leave out the 1000.",
        ),
        (
            "time-ignored",
            _counted(speed=lambda flops, seconds: flops / 1e12),
            "This is the work, without the time that it took.",
            "Divide by the seconds.",
        ),
        (
            "time-multiplied",
            _counted(speed=lambda flops, seconds: flops * seconds / 1e12),
            "The work was multiplied by the seconds.",
            "Divide by the seconds.",
        ),
        (
            "upside-down",
            _counted(speed=lambda flops, seconds: seconds / flops * 1e12),
            "This is the time for a tera of operations.",
            "Speed is work over time.",
        ),
    ),
)


# roofline_seconds ----------------------------------------------------------------------------


def _kernel(rng: Generator, compute: float, memory: float) -> tuple[float, ...]:
    """flops, bytes, peak and bandwidth: so many seconds of computing and of moving."""
    peak, bandwidth = (float(10 ** rng.uniform(*among)) for among in ((11, 15), (9, 12.5)))
    return compute * peak, memory * bandwidth, peak, bandwidth


def _roofline_cases(rng: Generator) -> Iterator[Case]:
    for low, high, note in (
        (0.1, 0.9, "moving takes longer"),
        (1.1, 9.0, "computing takes longer"),
        (0.001, 0.01, "moving takes far longer"),
        (100.0, 1000.0, "computing takes far longer"),
    ):
        memory = float(rng.uniform(0.05, 2))
        args = _kernel(rng, memory * float(rng.uniform(low, high)), memory)
        yield Case("bound", args, note=note)
    both = float(rng.uniform(0.05, 2))
    yield Case("edges", _kernel(rng, both, both), note="both take equally long")
    yield Case("edges", _kernel(rng, 0.0, both), note="there is nothing to compute")
    yield Case("edges", _kernel(rng, both, 0.0), note="there is nothing to move")
    whole = (int(rng.integers(10**9, 10**10)), int(rng.integers(10**6, 10**8)), 10**10, 10**9)
    yield Case("edges", whole, note="all are whole numbers")
    flops, moved = (int(rng.integers(2, 10**3)) for _ in range(2))
    yield Case("edges", (flops, moved, 7.0, 3.0), note="the machine is slow")


def _roofline(flops: float, bytes_moved: float, peak_flops: float, bandwidth: float) -> float:
    return max(flops / peak_flops, bytes_moved / bandwidth)


def _of_two(combine: Callable[[float, float], float]) -> Callable[..., float]:
    """Another way to make one time of two."""

    def roofline(flops: float, moved: float, peak: float, bandwidth: float) -> float:
        return combine(flops / peak, moved / bandwidth)

    return roofline


def _speed(flops: float, moved: float, peak: float, bandwidth: float) -> float:
    return min(peak, flops / moved * bandwidth) if moved else peak


ROOFLINE = Exercise(
    name="roofline_seconds",
    lesson=LESSON.slug,
    stage=LESSON.stage,
    signature="(flops, bytes_moved, peak_flops, bandwidth) -> float",
    axes=("?", "?", "?", "?"),
    read="The roofline",
    returns=SECONDS,
    groups=(
        Group("bound", "is the longer of the two: computing, and moving", 0.75, core=True),
        Group("edges", "holds where they are equal, where one is 0, for whole numbers", 0.25),
    ),
    cases=_roofline_cases,
    oracle=_roofline,
    mistakes=_mistakes(
        (
            "times-summed",
            _of_two(lambda compute, memory: compute + memory),
            "The two times were added up. A GPU computes while the next numbers are on their way.",
            "Take the longer one: `max`.",
        ),
        (
            "shorter-taken",
            _of_two(min),
            "The shorter time was taken. Nothing is done before the slower part is.",
            "Take the longer one: `max`.",
        ),
        (
            "compute-alone",
            _of_two(lambda compute, memory: compute),
            "Only computing counts here, and the numbers have to come from memory.",
            "Work out the time for the bytes too, and take the longer one.",
        ),
        (
            "memory-alone",
            _of_two(lambda compute, memory: memory),
            "Only moving counts here, and the numbers have to be computed with.",
            "Work out the time for the operations too, and take the longer one.",
        ),
        (
            "times-averaged",
            _of_two(lambda compute, memory: (compute + memory) / 2),
            "The two times were averaged.",
            "Take the longer one: `max`.",
        ),
        (
            "root-of-squares",
            _of_two(lambda compute, memory: math.sqrt(compute**2 + memory**2)),
            "The two times were put together like the sides of a right angle.",
            "Take the longer one: `max`.",
        ),
        (
            "speed-not-time",
            _speed,
            "This is the roofline itself, operations a second. The time is asked for.",
            "Divide operations by peak and bytes by bandwidth, and take the longer time.",
        ),
        (
            "swapped-peak-bandwidth",
            lambda flops, moved, peak, bandwidth: max(flops / bandwidth, moved / peak),
            "Operations were divided by the bandwidth, and bytes by the peak.",
            "Operations go with operations a second, bytes with bytes a second.",
        ),
        (
            "bits-for-bytes",
            _of_two(lambda compute, memory: max(compute, 8 * memory)),
            "Bytes were turned into bits, and bandwidths are in bytes a second here.",
            "Leave out the 8.",
        ),
        (
            "milliseconds",
            _of_two(lambda compute, memory: 1000 * max(compute, memory)),
            "These are milliseconds.",
            "Seconds are asked for: leave out the 1000.",
        ),
        (
            "upside-down",
            lambda flops, moved, peak, bandwidth: max(
                peak / flops if flops else 0.0, bandwidth / moved if moved else 0.0
            ),
            "The fractions are upside down: a faster machine would take longer.",
            "Work divided by speed is time.",
        ),
    ),
)
