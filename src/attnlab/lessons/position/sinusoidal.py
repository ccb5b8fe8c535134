"""Positions as sines and cosines: the exercise `sinusoidal_encoding`."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import torch

from attnlab.checks.exercise import (
    FLOAT32_TOLERANCE,
    Case,
    Exercise,
    Group,
    Mistake,
    Property,
    Slot,
    Way,
)
from attnlab.checks.inputs import EQUAL, sizes
from attnlab.checks.recipe import Tensor
from attnlab.lessons.position import LESSON
from attnlab.lessons.position.sizes import BASE, FREQUENCY

LOG = math.log(BASE)


ENCODING = (Slot("encoding", "tensor", "n d"),)


def _encoding_cases(rng: np.random.Generator) -> Iterator[Case]:
    for _ in range(3):
        n, half = sizes(rng, 2, 3, 24)
        n += n == 2 * half
        yield Case("values", (n, 2 * half), tolerance=FLOAT32_TOLERANCE)
    yield Case("values", (2 * half, 2 * half), note=EQUAL, tolerance=FLOAT32_TOLERANCE)
    half, n = sizes(rng, 2, 3, 16)
    for args, note in (
        ((1, 2 * half), "there is one position"),
        ((n, 2), "there is one pair of columns"),
        ((1, 2), "there is one position, and one pair"),
        ((int(rng.integers(150, 200)), 2 * half), "there are many positions"),
    ):
        yield Case("edges", args, note=note, tolerance=FLOAT32_TOLERANCE)
    note = "float64 is PyTorch's default dtype"
    args = (int(rng.integers(20, 40)), 2 * half)
    yield Case("dtype", args, note=note, tolerance=FLOAT32_TOLERANCE, way=IN_FLOAT64)
    for d in (3, 2 * half + 1, 1):
        yield Case("refuses", (n, d), raises="ValueError", note="d is odd")
    yield Case(
        "refuses", (1, 2 * half - 1), raises="ValueError", note="d is odd, with one position"
    )


def _encoding(n: int, d: int) -> Tensor:
    """Powers of unit complex numbers: position p is p turns by each pair's own angle."""
    turns = torch.exp(1j * torch.logspace(0, -1, d // 2 + 1, BASE, dtype=torch.float64)[:-1])
    powers = turns ** torch.arange(n, dtype=torch.float64)[:, None]
    return torch.view_as_real(powers).flip(-1).flatten(-2).float()


IN_FLOAT64 = Way("torch_calls.in_float64", ENCODING, lambda n, d: _encoding(n, d).double())


def _angles(n: int, d: int, exponent: float = -2.0, first: int = 0, base: float = BASE) -> Tensor:
    """(n, d/2) angles, position · base^(exponent · i / d), wrong where a mistake wants it so."""
    i = torch.arange(d // 2, dtype=torch.float64)
    return torch.arange(first, n + first)[:, None] * base ** (exponent * i / d)


def _of_angles(angles: Tensor, even: Any = torch.sin, odd: Any = torch.cos) -> Tensor:
    return torch.stack([even(angles), odd(angles)], -1).flatten(-2).float()


def _in_float32(n: int, speeds: Tensor) -> Tensor:
    """Where angles are so large that rounding shows, it has to be the same rounding."""
    return _of_angles(torch.arange(n)[:, None] * speeds)


def _halves(n: int, d: int) -> Tensor:
    return torch.cat([torch.sin(_angles(n, d)), torch.cos(_angles(n, d))], -1).float()


def _own_frequencies(n: int, d: int) -> Tensor:
    """Each column has a frequency by its own number."""
    columns = torch.arange(d, dtype=torch.float64)
    angles = torch.arange(n)[:, None] * BASE ** (-columns / d)
    return torch.where(columns % 2 == 0, angles.sin(), angles.cos()).float()


def _to_the_end(n: int, d: int) -> Tensor:
    """The last pair has the frequency 1/base: exponents i / (d/2 − 1)."""
    i = torch.arange(d // 2, dtype=torch.float64)
    return _of_angles(torch.arange(n)[:, None] * BASE ** (-i / max(d // 2 - 1, 1)))


def _roles_exchanged(n: int, d: int) -> Tensor:
    p, i = torch.arange(n, dtype=torch.float64), torch.arange(d // 2, dtype=torch.float64)
    return _of_angles(i * BASE ** (-2 * p / n)[:, None])


def _even(answer: Callable[..., Any]) -> Callable[..., Any]:
    """A mistake that is made after an odd d was refused."""

    def refusing(n: int, d: int) -> Any:
        if d % 2:
            raise ValueError(f"d is {d}, and has to be even")
        return answer(n, d)

    return refusing


def _depends_on_distance(args: tuple[Any, ...], encoding: np.ndarray) -> bool:
    """Dot products of rows are the same along each diagonal."""
    dots = encoding @ encoding.T
    return all(np.ptp(np.diagonal(dots, k)) < 1e-3 for k in range(len(dots)))


SINUSOIDAL_ENCODING = Exercise(
    name="sinusoidal_encoding",
    lesson=LESSON.slug,
    stage=LESSON.stage,
    signature="(n, d) -> (n, d)",
    axes=("=n", "=d"),
    read="Sinusoidal: a clock with many hands",
    returns=ENCODING,
    groups=(
        Group("values", "has sin in even and cos in odd columns, base 10000", 1.5, core=True),
        Group("edges", "works for one position, for one pair, and for many positions", 0.125),
        Group("dtype", "has PyTorch's default dtype, whichever it is", 0.125),
        Group("refuses", "raises ValueError for odd d", 0.25),
    ),
    cases=_encoding_cases,
    oracle=_encoding,
    mistakes=tuple(
        Mistake(slug, _even(answer), reason, remedy)
        for slug, answer, reason, remedy in (
            (
                "halves-not-interleaved",
                _halves,
                "All sines come first and all cosines after them. In this encoding they take "
                "turns, column by column.",
                "Assign to `[:, 0::2]` and `[:, 1::2]`, or stack pairs along a new last axis and "
                "flatten it.",
            ),
            (
                "sin-cos-swapped",
                lambda n, d: _of_angles(_angles(n, d), torch.cos, torch.sin),
                "Cosines stand in the even columns and sines in the odd ones.",
                "Position 0 is 0, 1, 0, 1, …: sin of 0 first.",
            ),
            (
                "sin-only",
                lambda n, d: _of_angles(_angles(n, d), torch.sin, torch.sin),
                "Both columns of a pair hold the sine: one column too few to tell where a hand "
                "points.",
                "Columns 1, 3, 5, … hold cosines.",
            ),
            (
                "cos-only",
                lambda n, d: _of_angles(_angles(n, d), torch.cos, torch.cos),
                "Both columns of a pair hold the cosine: one column too few to tell where a hand "
                "points.",
                "Columns 0, 2, 4, … hold sines.",
            ),
            (
                "factor-two-missing",
                lambda n, d: _of_angles(_angles(n, d, exponent=-1.0)),
                "The exponent is i/d, half of what it should be, or the base 100, which comes to "
                "the same: hands do not get slow enough.",
                FREQUENCY,
            ),
            (
                "factor-two-twice",
                lambda n, d: _of_angles(_angles(n, d, exponent=-4.0)),
                "The exponent is 4i/d: `arange(0, d, 2)` counts in twos already, and is doubled "
                "once more.",
                FREQUENCY,
            ),
            *(
                (
                    "exponent-inverted",
                    answer,
                    "The angle is multiplied by base^(2i/d) where it is divided by it, as where "
                    "the exponent lacks its minus: hands get faster, not slower.",
                    FREQUENCY,
                )
                for answer in (
                    lambda n, d: _of_angles(_angles(n, d, exponent=2.0)),
                    lambda n, d: _in_float32(n, BASE ** (torch.arange(0, d, 2) / d)),
                    lambda n, d: _in_float32(n, torch.exp(torch.arange(0, d, 2) * (LOG / d))),
                )
            ),
            (
                "one-frequency",
                lambda n, d: _of_angles(_angles(n, d, exponent=0.0)),
                "All hands turn equally fast. The exponent is 0, from `//` perhaps, or it is not "
                "used.",
                FREQUENCY,
            ),
            (
                "width-missing",
                lambda n, d: _of_angles(_angles(n, d, exponent=-2.0 * d)),
                "The exponent is −2i, not divided by d: from the second on, hands stand still.",
                FREQUENCY,
            ),
            *(
                (
                    "power-missing",
                    lambda n, d, speed=speed: _of_angles(_angles(n, d, exponent=0.0) * speed),
                    "The base is not raised to any power: all hands turn equally fast.",
                    FREQUENCY,
                )
                for speed in (BASE, 1 / BASE)
            ),
            *(
                (
                    "another-base",
                    lambda n, d, base=base: _of_angles(_angles(n, d, base=base)),
                    "The frequencies are powers of another base, of e or of 1000.",
                    "The base is 10000; with `torch.exp` it comes in as `math.log(10000)`.",
                )
                for base in (np.e, 1000.0)
            ),
            (
                "each-column-its-own",
                _own_frequencies,
                "The exponent counts columns. The two columns of a pair share one frequency, else "
                "they are no hand of a clock.",
                "Count pairs: i is 0, 0, 1, 1, 2, 2, … along the columns.",
            ),
            (
                "steps-to-the-end",
                _to_the_end,
                "The exponent is divided by d/2 − 1, so that the last hand reaches 1/base. Some "
                "libraries do it so; the paper divides by d.",
                FREQUENCY,
            ),
            (
                "positions-from-one",
                lambda n, d: _of_angles(_angles(n, d, first=1)),
                "Positions begin at 1.",
                "The first row is position 0: 0, 1, 0, 1, …",
            ),
            (
                "degrees",
                lambda n, d: _of_angles(torch.deg2rad(_angles(n, d))),
                "The angle is taken for degrees and turned into radians.",
                "The angle is in radians as it is.",
            ),
            (
                "whole-turns",
                lambda n, d: _of_angles(2 * torch.pi * _angles(n, d)),
                "The angle is multiplied by 2π: whole turns, at which the first hand always points "
                "the same way.",
                "The angle is in radians as it is.",
            ),
            (
                "roles-exchanged",
                _roles_exchanged,
                "Positions and pairs have changed places in the formula.",
                "The position multiplies, the pair is in the exponent.",
            ),
        )
    ),
    properties=(
        Property(
            "position 0 is 0, 1, 0, 1, …",
            lambda args, encoding: bool(
                np.allclose(encoding[0, 0::2], 0, 0, 1e-4)
                and np.allclose(encoding[0, 1::2], 1, 0, 1e-4)
            ),
        ),
        Property(
            "the dot product of two rows depends on their distance alone", _depends_on_distance
        ),
    ),
)
