"""Positions by turning: the exercise `rotary`."""

from __future__ import annotations

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
    Relation,
    Slot,
    unchanged,
)
from attnlab.checks.inputs import EQUAL, ones_in_turn
from attnlab.checks.recipe import Tensor
from attnlab.lessons.position import LESSON
from attnlab.lessons.position.sizes import BASE, FREQUENCY, even_sizes
from attnlab.lessons.pytorch.exercises import REFUSED


def _tokens(rng: np.random.Generator, *shape: int) -> Tensor:
    """Numbers between −1 and 1: small enough for angles in float32 to pass at small positions."""
    return torch.from_numpy(rng.uniform(-1.0, 1.0, shape))


def _rotary_cases(rng: np.random.Generator) -> Iterator[Case]:
    for _ in range(2):
        b, n, d = even_sizes(rng, 3)
        yield Case("values", (_tokens(rng, b, n, d), torch.arange(n)))
    d = int(rng.choice([8, 10]))  # so that half of the pairs is more than one
    yield Case("values", (_tokens(rng, d, d, d), torch.arange(d)), note=EQUAL)
    n, d = even_sizes(rng, 2)
    for leading, note in (
        ((), "there is no batch axis"),
        ((2, 3), "there are batch and head axes"),
    ):
        yield Case("leading", (_tokens(rng, *leading, n, d), torch.arange(n)), note=note)
    note = "there are as many heads as tokens"
    yield Case("leading", (_tokens(rng, 2, n, n, d), torch.arange(n)), note=note)
    x = _tokens(rng, n + 1, n, d)
    yield Case("views", (x, torch.arange(n)), laid="views", note="x is not contiguous")

    b, n, d = even_sizes(rng, 3)
    n += 4
    start = int(rng.integers(2, 5))
    out_of_order = torch.from_numpy(rng.permutation(n))
    repeated = torch.from_numpy(np.repeat(rng.choice(8, (n + 1) // 2, replace=n > 15), 2)[:n])
    between = torch.from_numpy(rng.uniform(0.2, 8.0, n))
    for positions, note in (
        (torch.arange(start, start + n), "positions do not begin at 0"),
        (torch.arange(n) - n // 2, "some positions are below 0"),
        (out_of_order, "positions are not in order"),
        (repeated, "some positions are the same"),
        (between, "positions are float, between whole numbers"),
        (torch.arange(n, dtype=torch.float32), "positions are float32, x is float64"),
    ):
        yield Case("positions", (_tokens(rng, b, n, d), positions), note=note)

    for base in (float(rng.uniform(200.0, 1000.0)), float(rng.uniform(2e4, 1e6))):
        b, n, d = even_sizes(rng, 3)
        args = (_tokens(rng, b, n, d), torch.arange(n))
        yield Case("base", args, {"base": base}, note=f"base is {base:.6g}")

    for b, n, pairs in ones_in_turn(rng, 3):
        x = _tokens(rng, b, n, 2 * min(pairs, 4))
        yield Case("single", (x, torch.arange(1, n + 1)), note="a size is 1, or there is one pair")

    b, n, d = even_sizes(rng, 3)
    yield Case("gradient", (_tokens(rng, b, n, d), torch.arange(n)), gradient=True)

    far = torch.from_numpy(rng.integers(3000, 9000, 12))
    yield Case("digits", (_tokens(rng, b, 12, 8), far), note="positions are in the thousands")
    note = "positions are in the thousands, and between whole numbers"
    far = torch.from_numpy(rng.uniform(3000, 9000, 12))
    yield Case("digits", (_tokens(rng, b, 12, 8), far), note=note)

    for kind in (torch.int64, torch.float64):
        x = _tokens(rng, b, n, d).float()
        note = f"x is float32, positions are {str(kind).removeprefix('torch.')}"
        case = (x, torch.arange(n, dtype=kind))
        yield Case("float32", case, note=note, tolerance=FLOAT32_TOLERANCE)

    for odd in (d + 1, 3, 1):
        args = (_tokens(rng, b, n, odd), torch.arange(n))
        yield Case("odd", args, raises="ValueError", note="d is odd")
    n = int(rng.integers(4, 8))
    for number in (n - 1, n + 1):
        args = (_tokens(rng, b, n, d), torch.arange(number))
        note = f"there are {n} tokens and {number} positions"
        yield Case("fits", args, raises=REFUSED, note=note)


def _rotary(x: Tensor, positions: Tensor, base: float = BASE) -> Tensor:
    """Pairs as complex numbers, each multiplied by one of length 1."""
    d = x.shape[-1]
    if d % 2:
        raise ValueError(f"d is {d}, and has to be even")
    speeds = base ** -torch.linspace(0, 1, d // 2 + 1, dtype=torch.float64)[:-1]
    angles = positions.double()[:, None] * speeds
    turns = torch.polar(torch.ones_like(angles), angles)
    pairs = torch.view_as_complex(x.double().unflatten(-1, (-1, 2)).contiguous())
    return torch.view_as_real(pairs * turns).flatten(-2).to(x.dtype)


Turn = Callable[[Tensor, Tensor, Tensor, Tensor], tuple[Tensor, Tensor]]
Speed = Callable[[float, Tensor, int], Any]


def _turned(a: Tensor, b: Tensor, cos: Tensor, sin: Tensor) -> tuple[Tensor, Tensor]:
    return a * cos - b * sin, a * sin + b * cos


def _interleaved(x: Tensor) -> tuple[Tensor, Tensor]:
    return x[..., 0::2], x[..., 1::2]


def _split(x: Tensor) -> tuple[Tensor, Tensor]:
    half = x.shape[-1] // 2
    return x[..., :half], x[..., half:]


def _put_in_turns(a: Tensor, b: Tensor) -> Tensor:
    return torch.stack([a, b], -1).flatten(-2)


def _put_in_halves(a: Tensor, b: Tensor) -> Tensor:
    return torch.cat([a, b], -1)


def _rotating(
    turn: Turn = _turned,
    speed: Speed = lambda base, i, d: base ** (-2 * i / d),
    place: Callable[[Tensor], Tensor] = lambda positions: positions,
    unit: float = 1.0,
    take: Callable[[Tensor], tuple[Tensor, Tensor]] = _interleaved,
    put: Callable[[Tensor, Tensor], Tensor] = _put_in_turns,
    own_base: float = 0.0,
    dtype: torch.dtype = torch.float64,
) -> Callable[..., Any]:
    """The exercise's function, with a part exchanged.

    Args:
        turn: a and b to what becomes of them.
        speed: base, the pairs' numbers and d to the angle of a step.
        place: the positions that are used.
        unit: what an angle is multiplied by.
        take: x to the pairs' first and second numbers.
        put: both back into one tensor.
        own_base: used instead of the one that is given, if not 0.
        dtype: of the angles.
    """

    def rotary(x: Tensor, positions: Tensor, base: float = BASE) -> Tensor:
        d = x.shape[-1]
        if d % 2:
            raise ValueError(f"d is {d}, and has to be even")
        i = torch.arange(d // 2, dtype=dtype)
        steps = speed(own_base or base, i, d) * torch.ones_like(i)
        angles = unit * place(positions).to(dtype)[:, None] * steps
        return put(*turn(*take(x), angles.cos(), angles.sin())).to(x.dtype)

    return rotary


def _mixed(x: Tensor, positions: Tensor, base: float = BASE, in_turns: bool = True) -> Tensor:
    """Pairs in turns and angles in halves, or the other way round."""
    d = x.shape[-1]
    if d % 2:
        raise ValueError(f"d is {d}, and has to be even")
    speeds = base ** (-2 * torch.arange(d // 2, dtype=torch.float64) / d)
    angles = positions[:, None] * speeds
    if in_turns:
        a, b = _interleaved(x)
        other, angles = _put_in_turns(-b, a), torch.cat([angles, angles], -1)
    else:
        a, b = _split(x)
        other, angles = torch.cat([-b, a], -1), angles.repeat_interleave(2, -1)
    return (x * angles.cos() + other * angles.sin()).to(x.dtype)


def _by_its_size(x: Tensor, positions: Tensor, base: float = BASE) -> Tensor:
    """Of four axes the second is that of tokens, if it is as long."""
    if x.ndim == 4 and x.shape[1] == len(positions):
        x = x.transpose(1, 2)
        return _rotary(x, positions, base).transpose(1, 2)
    return _rotary(x, positions, base)


def _overwritten(a: Tensor, b: Tensor, cos: Tensor, sin: Tensor) -> tuple[Tensor, Tensor]:
    a = a * cos - b * sin
    return a, a * sin + b * cos


def _added(x: Tensor, positions: Tensor, base: float = BASE) -> Tensor:
    if x.shape[-1] % 2:
        raise ValueError("d has to be even")
    one = torch.zeros_like(x)
    one[..., 1::2] = 1.0  # (0, 1), turned by −angle, is (sin, cos)
    return x + _rotating(lambda a, b, cos, sin: _turned(a, b, cos, -sin))(one, positions, base)


def _keeps_lengths(args: tuple[Any, ...], out: np.ndarray) -> bool:
    before = np.linalg.norm(np.asarray(args[0], dtype=float), axis=-1)
    return bool(np.allclose(np.linalg.norm(out, axis=-1), before, 0, 1e-4))


def _moved_together(rng: np.random.Generator) -> tuple[Case, Case]:
    n, d = even_sizes(rng, 2)
    x, positions = _tokens(rng, n, d), torch.from_numpy(rng.permutation(n))
    return (
        Case("positions", (x, positions)),
        Case("positions", (x, positions + int(rng.integers(1, 4)))),
    )


def _same_scores(one: tuple[np.ndarray, ...], other: tuple[np.ndarray, ...]) -> bool:
    (a,), (b,) = one, other
    return bool(np.allclose(a @ a.T, b @ b.T, 0, 1e-5))


ROTARY = Exercise(
    name="rotary",
    lesson=LESSON.slug,
    stage=LESSON.stage,
    signature="(x, positions, base=10000.0) -> x's shape",
    axes=("… n d", "n", "?"),
    read="Rotary: turn the question, turn the key",
    returns=(Slot("turned", "tensor", "… N d"),),
    groups=(
        Group("values", "turns pair i of token n by n · base^(−2i/d)", 1.25, core=True),
        Group("positions", "turns by the positions that it is given, whatever they are", 0.5),
        Group("leading", "takes any leading axes", 0.125),
        Group("views", "takes x that is not contiguous, as a transposed one", 0.125),
        Group("base", "takes another base", 0.25),
        Group(
            "single", "works for one sentence, one token, and one pair", 0.125, needs=("positions",)
        ),
        Group("gradient", "passes the right gradients to x", 0.125),
        Group(
            "digits",
            "keeps float64's digits at positions in the thousands",
            0.125,
            needs=("positions",),
        ),
        Group("float32", "keeps float32 (compared at 1e-4), whatever the positions are", 0.125),
        Group("odd", "raises ValueError for odd d", 0.125),
        Group("fits", "raises an error where there is not one position for each token", 0.0625),
        unchanged(0.0625),
    ),
    cases=_rotary_cases,
    oracle=_rotary,
    mistakes=(
        Mistake(
            "halves-not-pairs",
            _rotating(take=_split, put=_put_in_halves),
            "Number i is paired with number i + d/2, as in the public code of LLaMA in "
            "Transformers. Here neighbours are a pair: 0 with 1, 2 with 3. Both are rotations, and "
            "weights trained with one do not fit the other.",
            "Take `x[..., 0::2]` and `x[..., 1::2]`, and put them back in turns.",
        ),
        Mistake(
            "put-back-in-halves",
            _rotating(put=_put_in_halves),
            "The pairs are turned rightly and put back in another order: all first numbers, then "
            "all second ones.",
            "Stack both along a new last axis and flatten it, or assign to `out[..., 0::2]`.",
        ),
        *(
            Mistake(
                "pairs-and-halves-mixed",
                way,
                "The numbers are paired in one way and the angles in the other: one side has "
                "neighbours, the other one i and i + d/2.",
                "Let both columns of a pair have the same angle: `repeat_interleave(2, -1)` for "
                "neighbours.",
            )
            for way in (_mixed, lambda x, positions, base=BASE: _mixed(x, positions, base, False))
        ),
        Mistake(
            "turned-backwards",
            _rotating(lambda a, b, cos, sin: _turned(a, b, cos, -sin)),
            "The pairs turn the other way round. Scores are the same if both queries and keys do, "
            "and the numbers are not.",
            "(a, b) becomes (a cos − b sin, a sin + b cos).",
        ),
        Mistake(
            "minus-missing",
            _rotating(lambda a, b, cos, sin: (a * cos + b * sin, a * sin + b * cos)),
            "Both lines have a plus. That is no rotation: lengths change.",
            "(a, b) becomes (a cos − b sin, a sin + b cos).",
        ),
        Mistake(
            "mirrored",
            _rotating(lambda a, b, cos, sin: (a * cos + b * sin, a * sin - b * cos)),
            "The minus is in the wrong line, which mirrors the pair.",
            "(a, b) becomes (a cos − b sin, a sin + b cos).",
        ),
        Mistake(
            "sin-cos-swapped",
            _rotating(lambda a, b, cos, sin: _turned(a, b, sin, cos)),
            "Sine and cosine have changed places: at position 0 a pair has to stay as it is.",
            "(a, b) becomes (a cos − b sin, a sin + b cos).",
        ),
        Mistake(
            "first-overwritten",
            _rotating(_overwritten),
            "The second line uses the new a, which the first line has just computed. It needs the "
            "old one.",
            "Compute both lines from the old a and b before you store either.",
        ),
        Mistake(
            "factor-two-missing",
            _rotating(speed=lambda base, i, d: base ** (-i / d)),
            "The exponent is −i/d, half of what it should be.",
            FREQUENCY,
        ),
        Mistake(
            "factor-two-twice",
            _rotating(speed=lambda base, i, d: base ** (-4 * i / d)),
            "The exponent is −4i/d: `arange(0, d, 2)` counts in twos already, and is doubled once "
            "more.",
            FREQUENCY,
        ),
        Mistake(
            "exponent-inverted",
            _rotating(speed=lambda base, i, d: base ** (2 * i / d)),
            "The angle is multiplied by base^(2i/d) where it is divided by it: later pairs turn "
            "faster, not slower.",
            FREQUENCY,
        ),
        Mistake(
            "one-frequency",
            _rotating(speed=lambda base, i, d: 1.0),
            "All pairs turn by the same angle. The exponent is 0, from `//` perhaps, or it is not "
            "used.",
            FREQUENCY,
        ),
        Mistake(
            "width-missing",
            _rotating(speed=lambda base, i, d: base ** (-2.0 * i)),
            "From the second on, pairs hardly turn, as where the exponent is −2i and not divided "
            "by d.",
            FREQUENCY,
        ),
        *(
            Mistake(
                "power-missing",
                _rotating(speed=speed),
                "The base is not raised to any power: all pairs turn by the same angle.",
                FREQUENCY,
            )
            for speed in (lambda base, i, d: base, lambda base, i, d: 1 / base)
        ),
        *(
            Mistake(
                "half-of-the-turn",
                _rotating(turn),
                "One of the four products is missing: each new number is made of both old ones.",
                "(a, b) becomes (a cos − b sin, a sin + b cos).",
            )
            for turn in (
                lambda a, b, cos, sin: (a * cos, a * sin + b * cos),
                lambda a, b, cos, sin: (a * cos - b * sin, a * sin),
                lambda a, b, cos, sin: (a * cos - b * sin, b * cos),
                lambda a, b, cos, sin: (a * cos, b * cos),
            )
        ),
        Mistake(
            "pairs-left-out",
            _rotating(speed=lambda base, i, d: base ** (-2 * i / d) * (i < max(1, d // 4))),
            "Only the first half of the pairs turn; the others stay as they are.",
            "Turn all d/2 pairs.",
        ),
        Mistake(
            "axis-by-its-size",
            _by_its_size,
            "Of four axes the second is taken for that of tokens where it is as long as positions. "
            "There may be as many heads as tokens.",
            "Tokens are axis −2, whatever stands before: angles (N, d/2) broadcast by themselves.",
        ),
        Mistake(
            "base-ignored",
            _rotating(own_base=BASE),
            "The base is 10000 whatever is given.",
            "Use `base`.",
        ),
        Mistake(
            "positions-from-one",
            _rotating(place=lambda positions: positions + 1),
            "One is added to each position. Scores are the same, as they depend on distance alone, "
            "and the numbers are not.",
            "Use the positions as they are: at 0 nothing turns.",
        ),
        Mistake(
            "positions-ignored",
            _rotating(place=lambda positions: torch.arange(len(positions))),
            "It turns by 0, 1, 2, … whatever positions it is given.",
            "Use `positions`: a cache, for one, does not begin at 0.",
        ),
        Mistake(
            "positions-from-the-first",
            _rotating(place=lambda positions: positions - positions[:1]),
            "The first position is subtracted from all of them.",
            "Use the positions as they are.",
        ),
        Mistake(
            "positions-rounded",
            _rotating(place=lambda positions: positions.long()),
            "Positions between whole numbers are cut off to whole ones.",
            "Turn positions into x's dtype, not into whole numbers.",
        ),
        Mistake(
            "positions-looked-up",
            _rotating(place=lambda places: torch.arange(int(places.max()) + 1)[places.long()]),
            "Angles are looked up in a table, where positions between whole numbers are cut off "
            "and those below 0 are counted from its end.",
            "Multiply the positions that are given by the speeds.",
        ),
        Mistake(
            "positions-without-sign",
            _rotating(place=lambda positions: positions.abs()),
            "A position below 0 counts as the one above 0. The pairs turn the other way there.",
            "Use the positions as they are.",
        ),
        Mistake(
            "positions-in-float32",
            _rotating(place=lambda positions: positions.float()),
            "Positions are turned into float32 on their way to x's dtype, where 6000.123 is only "
            "known to 2e-4.",
            "Turn them into x's dtype at once: `positions.to(x.dtype)`.",
        ),
        Mistake(
            "degrees",
            _rotating(unit=np.pi / 180),
            "The angle is taken for degrees and turned into radians.",
            "The angle is in radians as it is.",
        ),
        Mistake(
            "whole-turns",
            _rotating(unit=2 * np.pi),
            "The angle is multiplied by 2π.",
            "The angle is in radians as it is.",
        ),
        Mistake(
            "added-not-turned",
            _added,
            "A sinusoidal encoding is added. Rotary adds nothing: it turns what is there.",
            "(a, b) becomes (a cos − b sin, a sin + b cos).",
        ),
        Mistake(
            "angles-in-float32",
            _rotating(dtype=torch.float32),
            "The angles are computed in float32, where 400 is only known to 3e-5: "
            "`torch.arange(d) / d` is float32 unless told otherwise.",
            "Make the frequencies with `dtype=x.dtype`, and turn positions into it too.",
        ),
    ),
    properties=(Property("each token keeps its length", _keeps_lengths),),
    relations=(
        Relation(
            "the scores of two tokens depend on their distance alone",
            _moved_together,
            _same_scores,
            slug="scores-depend-on-place",
            reason="All positions were moved by the same number, and dot products of turned tokens "
            "changed.",
            remedy="Turn each pair by an angle that is proportional to the position.",
        ),
    ),
)
