"""Positions by turning: the exercise `rotary`."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import torch

from attnlab.checks.exercise import FLOAT32_TOLERANCE, Case, Claim, Exercise, Slot, promises
from attnlab.checks.inputs import EQUAL, Generator
from attnlab.lessons.position.sinusoidal import (
    BASE,
    WRONG_ANGLES,
    Angles,
    angles_of,
    polar,
    refuse_odd,
    turns,
    twos,
)

Tensor = torch.Tensor


def _complex(turns: Callable[[Tensor, float, int], Tensor]) -> Callable[..., Tensor]:
    """Pairs as complex numbers, each multiplied by one of length 1."""

    def rotary(x: Tensor, positions: Tensor, base: float = BASE) -> Tensor:
        refuse_odd(x.shape[-1])
        pairs = torch.view_as_complex(x.double().unflatten(-1, (-1, 2)).contiguous())
        turned = pairs * turns(positions, base, x.shape[-1])
        return torch.view_as_real(turned).flatten(-2).to(x.dtype)

    return rotary


_rotary = _complex(turns)


def _rotary_cases(rng: Generator) -> Iterator[Case]:
    def tokens(*shape: int) -> Tensor:
        """Small numbers, which angles in float32 turn well enough at small positions."""
        return torch.from_numpy(rng.uniform(-1.0, 1.0, shape))

    n, d = int(rng.integers(5, 9)), int(rng.choice([8, 10]))
    start, rows = int(rng.integers(2, 5)), torch.arange(n)
    between = torch.from_numpy(rng.uniform(0.2, 8.0, n))
    far = rng.uniform(3000, 9000, n)
    for positions, note in (
        (rows + start, "positions do not begin at 0"),
        (rows[:1] + start, "there is one token, and not at 0"),
        (rows - n // 2, "some positions are below 0"),
        (torch.from_numpy(rng.permutation(n)), "positions are not in order"),
        (torch.from_numpy(rng.integers(1, n - 2, n)), "some positions are the same"),
        (between, "positions are float, between whole numbers"),
        (rows.float(), "positions are float32, x is float64"),
    ):
        yield Case("given", (tokens(2, len(positions), d), positions), note=note)
    for base in (float(rng.uniform(200.0, 1000.0)), float(rng.uniform(2e4, 1e6))):
        yield Case("given", (tokens(2, n, d), rows), {"base": base}, note=f"base is {base:.6g}")
    for positions, note in (
        (torch.from_numpy(far.astype(int)), "positions are in the thousands"),
        (torch.from_numpy(far), "positions are in the thousands, and between whole numbers"),
    ):
        yield Case("precision", (tokens(2, n, 8), positions), note=note, about=("given",))
    how: dict[str, Any] = {"tolerance": FLOAT32_TOLERANCE, "about": ("given",)}
    note = "x is float32, positions are float64"
    yield Case("precision", (tokens(2, n, d).float(), between), note=note, **how)
    for shape, note in (((2, n, n, d), "there are as many heads as tokens"), ((d, d, d), EQUAL)):
        yield Case("shapes", (tokens(*shape), torch.arange(shape[-2])), note=note)
    for odd in (d + 1, 3, 1):
        yield Case("odd", (tokens(2, n, odd), rows), raises="ValueError", note="d is odd")
    for number in (n - 1, n + 1):
        note = f"there are {n} tokens and {number} positions"
        wrong = (tokens(2, n, d), torch.arange(number))
        yield Case("odd", wrong, raises="ValueError or RuntimeError", note=note)


Lines = Callable[[Tensor, Tensor, Tensor, Tensor], tuple[Tensor, Tensor]]


def _rotating(
    angles: Angles = angles_of,
    lines: Lines = lambda a, b, cos, sin: (a * cos - b * sin, a * sin + b * cos),
    pairs: str = "next to next",
) -> Callable[..., Tensor]:
    """The exercise's function, with a part exchanged.

    Args:
        angles: what is turned by.
        lines: a and b to what becomes of them.
        pairs: which numbers make a pair where it is taken, and where it is put back: those that
            are 'next' to each other, or in two 'halves'.
    """
    taken, _, put = pairs.partition(" to ")

    def rotary(x: Tensor, positions: Tensor, base: float = BASE) -> Tensor:
        refuse_odd(x.shape[-1])
        found = angles(positions, base, x.shape[-1])
        a, b = x.chunk(2, -1) if taken == "halves" else (x[..., 0::2], x[..., 1::2])
        turned = lines(a, b, found.cos(), found.sin())
        out = torch.cat(turned, -1) if put == "halves" else torch.stack(turned, -1).flatten(-2)
        return out.to(x.dtype)

    return rotary


def _by_columns_and_pairs(in_halves: bool) -> Callable[..., Tensor]:
    """Neighbours are turned by the angles of halves, or the other way round."""

    def rotary(x: Tensor, positions: Tensor, base: float = BASE) -> Tensor:
        refuse_odd(x.shape[-1])
        angles = angles_of(positions, base, x.shape[-1])
        a, b = x.chunk(2, -1) if in_halves else (x[..., 0::2], x[..., 1::2])
        other = torch.cat([-b, a], -1) if in_halves else torch.stack([-b, a], -1).flatten(-2)
        each = angles.repeat_interleave(2, -1) if in_halves else torch.cat([angles, angles], -1)
        return (x * each.cos() + other * each.sin()).to(x.dtype)

    return rotary


def _overwritten(a: Tensor, b: Tensor, cos: Tensor, sin: Tensor) -> tuple[Tensor, Tensor]:
    a = a * cos - b * sin
    return a, a * sin + b * cos


def _added(x: Tensor, positions: Tensor, base: float = BASE) -> Tensor:
    refuse_odd(x.shape[-1])
    hands = torch.view_as_real(turns(positions, base, x.shape[-1]))
    return x + hands.flip(-1).flatten(-2).to(x.dtype)


def _by_its_size(x: Tensor, positions: Tensor, base: float = BASE) -> Tensor:
    """Of four axes the second is that of tokens, if it is as long."""
    if x.ndim == 4 and x.shape[1] == len(positions):
        return _rotary(x.transpose(1, 2), positions, base).transpose(1, 2)
    return _rotary(x, positions, base)


def _moved(place: Callable[[Tensor], Tensor]) -> Angles:
    return lambda p, base, d: angles_of(place(p), base, d)


def _polar(angles: Angles) -> Angles:
    return lambda p, base, d: polar(angles(p, base, d))


def _in_float32(speeds: Callable[[float, int], Tensor], place: Callable[..., Tensor]) -> Angles:
    return lambda p, base, d: place(p)[:, None] * speeds(base, d)


SINGLE: tuple[Angles, ...] = (
    lambda p, base, d: angles_of(p.float(), base, d),
    *(
        _in_float32(speeds, place)
        for place in (torch.clone, Tensor.float, Tensor.double)
        for speeds in (
            lambda base, d: base ** (-twos(d) / d),
            lambda base, d: 1 / base ** (twos(d) / d),
            lambda base, d: torch.exp(twos(d) * (-math.log(base) / d)),
            lambda base, d: torch.exp(-twos(d) / d * math.log(base)),
        )
    ),
)
ROTARY = Exercise(
    name="rotary",
    signature="(x, positions, base=10000.0) -> x's shape",
    axes=("… n d", "n", "?"),
    products={"d": "2 p"},
    drawn={"positions": lambda rng, sizes: torch.arange(sizes["n"])},
    read="Rotary: turn the question, turn the key",
    returns=(Slot("turned", "tensor", "… N d"),),
    claims=promises(
        "turns pair i of token n by n · base^(−2i/d)",
        1.25,
        Claim("given", "turns by the positions and the base that it is given", 0.5),
        Claim("odd", "raises ValueError for odd d, and an error for a position too many", 0.25),
        shapes=0.25,
        precision_and_gradient=0.5,
        unchanged=0.25,
    ),
    cases=_rotary_cases,
    oracle=_rotary,
    mistakes={
        "halves-not-pairs": _rotating(pairs="halves to halves"),
        "pairs-and-halves-mixed": (
            _rotating(pairs="next to halves"),
            _by_columns_and_pairs(in_halves=True),
            _by_columns_and_pairs(in_halves=False),
        ),
        "turned-otherwise": tuple(
            _rotating(lines=lines)
            for lines in (
                lambda a, b, cos, sin: (a * cos + b * sin, b * cos - a * sin),
                lambda a, b, cos, sin: (a * cos + b * sin, a * sin + b * cos),
                lambda a, b, cos, sin: (a * cos + b * sin, a * sin - b * cos),
                lambda a, b, cos, sin: (a * sin - b * cos, a * cos + b * sin),
                lambda a, b, cos, sin: (a * cos, a * sin + b * cos),
                lambda a, b, cos, sin: (a * cos - b * sin, a * sin),
                lambda a, b, cos, sin: (a * cos - b * sin, b * cos),
                lambda a, b, cos, sin: (a * cos, b * cos),
            )
        ),
        "first-overwritten": _rotating(lines=_overwritten),
        "added-not-turned": _added,
        "pairs-left-out": _rotating(
            lambda p, base, d: angles_of(p, base, d) * (torch.arange(d // 2) < max(1, d // 4))
        ),
        "axis-by-its-size": _by_its_size,
        "base-ignored": _rotating(lambda p, base, d: angles_of(p, BASE, d)),
        "other-positions": tuple(
            _rotating(_moved(place))
            for place in (
                lambda p: torch.arange(len(p)),
                lambda p: p - p[:1],
                lambda p: p.long(),
                lambda p: torch.arange(int(p.max()) + 1)[p.long()],
                lambda p: p.abs(),
            )
        ),
        "angles-in-float32": (
            *map(_rotating, SINGLE),
            *map(_complex, map(_polar, SINGLE)),
        ),
        **{slug: tuple(map(_rotating, ways)) for slug, ways in WRONG_ANGLES.items()},
    },
)
