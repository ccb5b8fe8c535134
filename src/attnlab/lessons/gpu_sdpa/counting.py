"""Lesson 13's exercises in counting: how fast a kernel is, and how fast it could be."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from attnlab.checks.exercise import Case, Claim, Exercise, Formula, Slot, promises
from attnlab.checks.inputs import Generator

# achieved_tflops ----------------------------------------------------------------------------------


def _counted(
    flops: Callable[..., float] = lambda b, h, n, d: 4 * b * h * n**2 * d,
    share: Callable[[int, bool], float] = lambda n, causal: 0.5 if causal else 1.0,
    speed: Callable[[float, float], float] = lambda flops, seconds: flops / seconds / 1e12,
) -> Formula:
    """The count, with exchangeable parts."""

    def achieved(seconds: float, b: int, h: int, n: int, d: int, causal: bool = False) -> float:
        return speed(flops(b, h, n, d) * share(n, causal), seconds)

    return achieved


def _in_units_of(unit: float) -> Formula:
    return _counted(speed=lambda flops, seconds: flops / seconds / unit)


def _seconds(rng: Generator, sizes: Mapping[str, Any]) -> float:
    """A time in which a CPU may work these sizes off, at less than a TFLOP/s."""
    return _counted()(1.0, *(sizes[name] for name in "bhnd")) / float(rng.uniform(0.05, 0.9))


def _layers(rng: Generator) -> Iterator[Case]:
    """Sizes as models have them, and times as a GPU needs."""
    for claim, causal in (("values", False), ("masked", True)):
        sizes = (int(rng.integers(*among)) for among in ((2, 9), (8, 33), (2000, 5000), (64, 129)))
        b, h, n, d = sizes
        seconds = _counted()(1.0, b, h, n, d) / float(rng.uniform(20, 700))
        yield Case(claim, (seconds, b, h, n, d, causal), note="sizes are those of a model")


TFLOPS = Exercise(
    name="achieved_tflops",
    signature="(seconds, b, h, n, d, causal=False) -> float",
    axes=("seconds", "=b", "=h", "=n", "=d", "?"),
    read="Cost",
    returns=(Slot("TFLOP/s", "float"),),
    claims=promises(
        "is 4·B·H·N²·d over the time, in units of 10¹² a second",
        0.5,
        Claim("masked", "counts exactly half where causal is True", 0.25),
        Claim("shapes", "counts sizes of 1, and many tokens", 0.25),
    ),
    drawn={"seconds": _seconds},
    cases=_layers,
    oracle=_counted(),
    mistakes={
        "no-half": (
            _counted(share=lambda n, causal: 1.0),
            _counted(share=lambda n, causal: 2.0 if causal else 1.0),
        ),
        "half-missing": (
            _counted(share=lambda n, causal: 0.5),
            _counted(share=lambda n, causal: 0.25 if causal else 0.5),
            _counted(share=lambda n, causal: 1.0 if causal else 0.5),
        ),
        "triangle-counted": (
            _counted(share=lambda n, causal: (n + 1) / (2 * n) if causal else 1.0),
            _counted(share=lambda n, causal: (n - 1) / (2 * n) if causal else 1.0),
        ),
        "sizes-miscounted": (
            _counted(lambda b, h, n, d: 4 * b * n**2 * d),
            _counted(lambda b, h, n, d: 4 * b * h**2 * n**2 * d),
            _counted(lambda b, h, n, d: 4 * h * n**2 * d),
            _counted(lambda b, h, n, d: 4 * b * h * n * d),
            _counted(lambda b, h, n, d: 4 * b * h * n * d**2),
        ),
        "not-tera": tuple(
            map(_in_units_of, (1.0, 1e3, 1e6, 1e9, 1e13, 1e15, 2.0**40)),
        ),
        "not-over-time": (
            _counted(speed=lambda flops, seconds: flops / 1e12),
            _counted(speed=lambda flops, seconds: flops * seconds / 1e12),
        ),
        "upside-down": _counted(speed=lambda flops, seconds: seconds / flops * 1e12),
    },
)


# roofline_seconds ---------------------------------------------------------------------------------


def _kernels(rng: Generator) -> Iterator[Case]:
    def kernel(compute: float, memory: float) -> tuple[float, ...]:
        peak, bandwidth = (float(10 ** rng.uniform(*among)) for among in ((11, 15), (9, 12.5)))
        return compute * peak, memory * bandwidth, peak, bandwidth

    for far in (0.5, 1.5, 2.5):  # powers of ten
        for way in rng.permutation([-1, 1]):
            longer = float(rng.uniform(0.05, 2))
            shorter = longer / 10 ** float(rng.uniform(far - 0.4, far))
            yield Case("values", kernel(*(longer, shorter)[::way]))
            short = kernel(*(longer * 1e-6, shorter * 1e-6)[::way])
            yield Case("values", short, note="it takes microseconds", tolerance=1e-12)
    both = float(rng.uniform(0.05, 2))
    seconds, *rates = (2.0 ** int(rng.integers(*among)) for among in ((-5, 2), (36, 50), (30, 42)))
    equal = (*(seconds * rate for rate in rates), *rates)  # powers of 2: to the last bit
    yield Case("edges", equal, note="both take equally long")
    yield Case("edges", kernel(0.0, both), note="there is nothing to compute")
    yield Case("edges", kernel(both, 0.0), note="there is nothing to move")
    for peak, bandwidth in ((7.0, 3.0), (10, 9)):
        flops, moved = (int(rng.integers(2, 10**3)) for _ in range(2))
        yield Case("whole", (flops, moved, peak, bandwidth), note="all are whole numbers")


def _of_two(combine: Callable[[float, float], float]) -> Formula:
    """Another way to make one time of two."""
    return lambda flops, moved, peak, bandwidth: combine(flops / peak, moved / bandwidth)


ROOFLINE = Exercise(
    name="roofline_seconds",
    signature="(flops, bytes_moved, peak_flops, bandwidth) -> float",
    axes=(),
    read="The roofline",
    returns=(Slot("seconds", "float"),),
    claims=promises(
        "is the longer of the two: computing, and moving",
        0.5,
        Claim("edges", "holds where they are equal, and where one is 0", 0.25),
        Claim("whole", "keeps fractions where all four are whole numbers", 0.25),
    ),
    cases=_kernels,
    oracle=_of_two(max),
    mistakes={
        "times-combined": (
            _of_two(lambda compute, memory: compute + memory),
            _of_two(lambda compute, memory: (compute + memory) / 2),
            _of_two(math.hypot),
        ),
        "shorter-taken": _of_two(min),
        "one-time-alone": (
            _of_two(lambda compute, memory: compute),
            _of_two(lambda compute, memory: memory),
        ),
        "speed-not-time": lambda flops, moved, peak, bandwidth: (
            min(peak, flops / moved * bandwidth) if moved else peak
        ),
        "swapped-peak-bandwidth": lambda flops, moved, peak, bandwidth: max(
            flops / bandwidth, moved / peak
        ),
        "bits-for-bytes": _of_two(lambda compute, memory: max(compute, 8 * memory)),
        "milliseconds": _of_two(lambda compute, memory: 1000 * max(compute, memory)),
        "upside-down": lambda flops, moved, peak, bandwidth: max(
            peak / flops if flops else 0.0, bandwidth / moved if moved else 0.0
        ),
    },
)
