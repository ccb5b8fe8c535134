"""Positions as angles, and as their sines and cosines: the exercise `sinusoidal_encoding`."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import torch

from attnlab.checks.exercise import (
    FLOAT32_TOLERANCE,
    Case,
    Claim,
    Exercise,
    Procedure,
    Slot,
    promises,
)
from attnlab.checks.inputs import EQUAL, Generator

Tensor = torch.Tensor
Angles = Callable[[Tensor, float, int], Tensor]  # positions, base and d in, (N, d/2) out
BASE = 10000.0


# Angles, for rotary as well -----------------------------------------------------------------------


def turns(positions: Tensor, base: float, d: int) -> Tensor:
    """(N, d/2) complex numbers of length 1, turned by the right angles."""
    speeds = base ** -torch.linspace(0, 1, d // 2 + 1, dtype=torch.float64)[:-1]
    return polar(positions.double()[:, None] * speeds)


def polar(angles: Tensor) -> Tensor:
    """Complex numbers of length 1."""
    return torch.polar(torch.ones_like(angles), angles)


def angles_of(
    positions: Tensor, base: float, d: int, by: float = -2.0, last: float = 0.0
) -> Tensor:
    """Positions times base^(by · i / d), or with another divisor in the place of d."""
    i = torch.arange(d // 2, dtype=torch.float64)
    return positions[:, None] * base ** (by * i / (last or d))


def twos(d: int) -> Tensor:
    """0, 2, 4, … as `torch.arange` has them; divided, they are float32."""
    return torch.arange(0, d, 2)


WRONG_ANGLES: dict[str, tuple[Angles, ...]] = {
    "exponent-off": (
        lambda p, base, d: angles_of(p, base, d, -1.0),
        lambda p, base, d: angles_of(p, base, d, -4.0),
        lambda p, base, d: angles_of(p, base, d, -2.0, 1.0),
    ),
    "exponent-inverted": (
        lambda p, base, d: angles_of(p, base, d, 2.0),
        lambda p, base, d: p[:, None] * base ** (twos(d) / d),
        lambda p, base, d: p[:, None] * torch.exp(twos(d) * (math.log(base) / d)),
    ),
    "one-frequency": (
        lambda p, base, d: angles_of(p, base, d, 0.0),
        lambda p, base, d: angles_of(p, base, d, 0.0) * base,
        lambda p, base, d: angles_of(p, base, d, 0.0) / base,
    ),
    "steps-to-the-end": (lambda p, base, d: angles_of(p, base, d, -1.0, max(d // 2 - 1, 1)),),
    "positions-from-one": (lambda p, base, d: angles_of(p + 1, base, d),),
    "not-in-radians": (
        lambda p, base, d: torch.deg2rad(angles_of(p, base, d)),
        lambda p, base, d: 2 * torch.pi * angles_of(p, base, d),
    ),
}


def refuse_odd(d: int) -> None:
    """As all do who get something else wrong."""
    if d % 2:
        raise ValueError(f"d is {d}, and has to be even")


# The exercise -------------------------------------------------------------------------------------


def _encoding(n: int, d: int) -> Tensor:
    return torch.view_as_real(turns(torch.arange(n), BASE, d)).flip(-1).flatten(-2).float()


ENCODING = (Slot("encoding", "tensor", "n d"),)
IN_FLOAT64 = Procedure("torch_calls.in_float64", ENCODING, lambda n, d: _encoding(n, d).double())


def _encoding_cases(rng: Generator) -> Iterator[Case]:
    n, half = (int(size) for size in rng.choice(np.arange(3, 12), 2, replace=False))
    many, d = int(rng.integers(150, 200)), 2 * half
    how: dict[str, Any] = {"tolerance": FLOAT32_TOLERANCE}
    yield Case("values", (d, d), note=EQUAL, **how)
    yield Case("shapes", (1, 2), note="there is one position, and one pair", **how)
    yield Case("shapes", (many, d), note="there are many positions", **how)
    yield Case(
        "dtype", (n, d), note="float64 is PyTorch's default dtype", procedure=IN_FLOAT64, **how
    )
    for args in ((n, 3), (n, d + 1), (n, 1), (1, d - 1)):
        yield Case("odd", args, raises="ValueError", note="d is odd")


def _encoded(angles: Angles, even: Any = torch.sin, odd: Any = torch.cos) -> Any:
    def encoding(n: int, d: int) -> Tensor:
        refuse_odd(d)
        found = angles(torch.arange(n), BASE, d)
        return torch.stack([even(found), odd(found)], -1).flatten(-2).float()

    return encoding


def _in_halves(n: int, d: int) -> Tensor:
    refuse_odd(d)
    return torch.cat([_encoding(n, d)[:, 0::2], _encoding(n, d)[:, 1::2]], -1)


def _by_columns(step: float) -> Callable[[int, int], Tensor]:
    """Each column has a frequency by its own number, times a step."""

    def encoding(n: int, d: int) -> Tensor:
        refuse_odd(d)
        angles = angles_of(torch.arange(n), BASE, 2 * d, -2 * step)
        return torch.stack([angles[:, 0::2].sin(), angles[:, 1::2].cos()], -1).flatten(-2).float()

    return encoding


SINUSOIDAL_ENCODING = Exercise(
    name="sinusoidal_encoding",
    signature="(n, d) -> (n, d)",
    axes=("=n", "=d"),
    products={"d": "2 p"},
    read="Sinusoidal: a clock with many hands",
    returns=ENCODING,
    claims=promises(
        "has sin in even and cos in odd columns, base 10000",
        1.25,
        Claim("shapes", "works for one position, for one pair, and for many positions", 0.25),
        Claim("dtype", "has PyTorch's default dtype, whichever it is", 0.25),
        Claim("odd", "raises ValueError for odd d", 0.25),
    ),
    tolerance=FLOAT32_TOLERANCE,
    cases=_encoding_cases,
    oracle=_encoding,
    mistakes={
        "halves-not-interleaved": _in_halves,
        "sin-cos-swapped": _encoded(angles_of, torch.cos, torch.sin),
        "one-function-alone": (
            _encoded(angles_of, torch.sin, torch.sin),
            _encoded(angles_of, torch.cos, torch.cos),
        ),
        "another-base": (
            _encoded(lambda p, base, d: angles_of(p, math.e, d)),
            _encoded(lambda p, base, d: angles_of(p, 1000.0, d)),
        ),
        "each-column-its-own": (_by_columns(1.0), _by_columns(2.0)),
        "roles-exchanged": _encoded(
            lambda p, base, d: torch.arange(d // 2) * base ** (-2 * p / len(p))[:, None]
        ),
        **{slug: tuple(map(_encoded, ways)) for slug, ways in WRONG_ANGLES.items()},
    },
)
