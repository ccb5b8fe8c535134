"""Whether a function notices the order of its rows: the exercise `is_equivariant`."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F

from attnlab.calling.observe import made
from attnlab.checks.exercise import (
    Case,
    Exercise,
    Group,
    Mistake,
    Slot,
    unchanged,
)
from attnlab.checks.inputs import sizes
from attnlab.checks.recipe import Tensor
from attnlab.lessons.position import LESSON
from attnlab.lessons.pytorch.exercises import normal

SHARE = 1e-5  # of a number's size, which `torch.allclose` allows if not told otherwise


def _shuffle(rng: np.random.Generator, n: int) -> Tensor:
    """An order of n rows, n at least 5, that moves each, and is neither a shift nor undone alike.

    It is one cycle through all rows: done twice, it is not undone.
    """
    while True:
        round_trip = rng.permutation(n)
        order = np.empty(n, dtype=np.int64)
        order[round_trip] = np.roll(round_trip, -1)
        is_shift = len(set((order - np.arange(n)) % n)) == 1
        is_mirrored = bool((order[::-1] == n - 1 - order).all())
        if not is_shift and not is_mirrored:
            return torch.from_numpy(order)


def _between_odd_and_even(rng: np.random.Generator, n: int) -> Tensor:
    """An order of n rows, n even, that puts odd rows into even places and even ones into odd."""
    order = np.empty(n, dtype=np.int64)
    order[0::2] = rng.permutation(np.arange(1, n, 2))
    order[1::2] = rng.permutation(np.arange(0, n, 2))
    return torch.from_numpy(order)


def _exchange(rng: np.random.Generator, n: int) -> Tensor:
    """Two rows change places."""
    order = torch.arange(n)
    one, other = rng.choice(n, 2, replace=False).tolist()
    order[[one, other]] = order[[other, one]]
    return order


def _first_is(most: Callable[..., Tensor], x: Tensor) -> Tensor:
    """The rows, their first one with each column's smallest or largest number, and far off."""
    away = 1.0 if most is torch.amax else -1.0
    return torch.cat([most(x, -2, keepdim=True) + away, x[..., 1:, :]], -2)


def _exchanges(rng: np.random.Generator, *shape: int) -> Iterator[tuple[int, tuple[Any, ...]]]:
    """For each row, column and sentence of x, what breaks equivariance in there and nowhere else.

    Once the rows are shuffled, two numbers of one row change places, or of one column where it is a
    column that breaks: its mean and its norm stay the same.

    Yields:
        The axis, and what is asked.
    """
    places = np.arange(math.prod(shape)).reshape(shape)
    for axis in range(-len(shape), 0):
        for part in np.moveaxis(places, axis, 0):
            lines = part.reshape(-1, part.shape[-1])
            two = rng.choice(rng.choice(lines), 2, replace=False)
            numbers = rng.permutation(np.linspace(0.5, 2.5, places.size)).reshape(shape)
            numbers[..., 1:, 0] *= -1  # so that only the first row begins above 0
            fn = made("sequences.exchanged", *two.tolist())
            yield axis, (fn, torch.from_numpy(numbers), _shuffle(rng, shape[-2]))


def _asked(rng: np.random.Generator, name: str, *args: Any, more: bool) -> tuple[Any, ...]:
    """A function, rows and their order; there are more rows than columns, or fewer."""
    few, many = int(rng.integers(5, 7)), int(rng.integers(7, 10))
    n, d = (many, few) if more else (few, many)
    return made(f"sequences.{name}", *args), normal(rng, n, d), _shuffle(rng, n)


def _equivariance_cases(rng: np.random.Generator) -> Iterator[Case]:
    for name in ("plain_attention", "causal_attention", "row_by_row", "adds_its_place"):
        for more in (True, False):
            yield Case("values", _asked(rng, name, more=more))
    for name in ("mean_row", "running_sum", "sorted_columns", "reversed_rows"):
        yield Case("values", _asked(rng, name, more=bool(rng.integers(2))))
    yield Case("values", _asked(rng, "first_columns", int(rng.integers(2, 5)), more=True))
    yield Case("values", _asked(rng, "first_entry_raised", 0.5, more=True))
    fn, x, _ = _asked(rng, "plain_attention", more=True)
    yield Case("values", (fn, x, _exchange(rng, len(x))), note="perm exchanges two rows")
    for most in (torch.amin, torch.amax):
        fn, x, perm = _asked(rng, "minus_the_first_row", more=True)
        yield Case("values", (fn, _first_is(most, x), perm))
    for axis, args in _exchanges(rng, *sizes(rng, 1, 5, 6), int(rng.integers(2, 5))):
        note = f"a single {'row' if axis == -2 else 'column'} differs"
        yield Case("values", args, note=note)

    n, d = 2 * int(rng.integers(4, 7)), int(rng.choice([7, 9, 11]))
    perm = _between_odd_and_even(rng, n)
    factor = rng.uniform(0.9, 1.1)  # which keeps all away from round numbers
    for name, by, size, how in (
        ("first_entry_raised", 1.5e-5 * factor, 0.05, "two numbers differ by about 1.5e-5"),
        ("odd_rows_raised", 1.5e-5 * factor, 0.05, "all numbers differ by about 1.5e-5"),
        ("odd_rows_raised", 1.5e-6 * factor, 1e-3, "all numbers differ by about 1.5e-6"),
        ("first_entry_raised", 6e-7 * factor, 1e-3, "two numbers differ by about 6e-7"),
        ("first_entry_raised", 3e-7 * factor, 1e-3, "two numbers differ by about 3e-7"),
        ("odd_rows_raised", 3e-7 * factor, 1e-3, "all numbers differ by about 3e-7"),
        ("odd_rows_raised", 1.5e-8 * factor, 1.0, "all numbers differ by about 1.5e-8"),
    ):
        x = normal(rng, n, d, std=size)
        yield Case("tolerance", (made(f"sequences.{name}", by), x, perm), note=how)
    x = 1e5 + 1e-3 * torch.from_numpy(rng.permutation(np.linspace(-1, 1, n * d)).reshape(n, d))
    fn, note = made("sequences.minus_the_first_row"), "x is 100,000, but for the 9th digit"
    yield Case("tolerance", (fn, x, perm), note=note)

    n, h, fewer, d = *sizes(rng, 2, 6, 8), *sizes(rng, 2, 3, 5)
    for b in (9, fewer):  # more sentences than tokens, and fewer
        for name, args in (
            ("plain_attention", ()),
            ("adds_its_place", ()),
            ("adds_its_place", (0,)),
        ):
            fn = made(f"sequences.{name}", *args)
            note = "there is a batch axis"
            yield Case("leading", (fn, normal(rng, b, n, d), _shuffle(rng, n)), note=note)
    for axis, args in _exchanges(rng, 3, *sizes(rng, 1, 5, 6), 2):
        if axis == -3:
            yield Case("leading", args, note="a single sentence differs")
    for name in ("plain_attention", "running_sum"):
        fn, x = made(f"sequences.{name}"), normal(rng, fewer, h, n, d)
        yield Case("leading", (fn, x, _shuffle(rng, n)), note="there are batch and head axes")
    args = _asked(rng, "plain_attention", more=False)
    yield Case("leading", args, laid="views", note="x is not contiguous")

    fn, x, perm = _asked(rng, "next_row", more=True)
    n = len(x)
    shift = int(rng.integers(1, n))
    yield Case("given", (fn, x, torch.arange(n).roll(shift)), note="perm shifts all rows alike")
    yield Case("given", (fn, x, perm))
    backwards = made("sequences.reversed_rows")
    yield Case("given", (backwards, x, torch.arange(n).flip(0)), note="perm turns the order round")
    places = made("sequences.adds_its_place")
    yield Case("given", (places, x, torch.arange(n)), note="perm leaves all where it is")
    yield Case("given", (places, x[:1], torch.tensor([0])), note="there is one row")


def _difference(fn: Any, x: Tensor, perm: Tensor) -> Tensor:
    """fn(P x) − P fn(x), with the permutation as a matrix P."""
    P = F.one_hot(perm, len(perm)).to(x.dtype)
    return fn(P @ x) - P @ fn(x)


def _within(tolerance: float) -> Callable[..., bool]:
    return lambda fn, x, perm: bool((_difference(fn, x, perm).abs() <= tolerance).all())


def _near(fn: Any, x: Tensor, perm: Tensor, share: float, most: float) -> Tensor:
    """Which numbers of both sides differ by at most `most` and a share of their size."""
    return torch.isclose(fn(x[..., perm, :]), fn(x)[..., perm, :], rtol=share, atol=most)


def _all_close(fn: Any, x: Tensor, perm: Tensor) -> bool:
    """`torch.allclose` as it comes."""
    return bool(_near(fn, x, perm, SHARE, 1e-8).all())


def _added_up(power: int) -> Callable[..., bool]:
    return lambda fn, x, perm: bool(_difference(fn, x, perm).flatten().norm(power) <= 1e-6)


def _reduced(to: Callable[[Tensor], Tensor]) -> Callable[..., bool]:
    """Both sides are made less before they are compared."""

    def compared(fn: Any, x: Tensor, perm: Tensor) -> bool:
        return _equal(to(fn(x[..., perm, :])), to(fn(x)[..., perm, :]))

    return compared


def _equal(one: Tensor, other: Tensor) -> bool:
    return one.shape == other.shape and bool(((one - other).abs() <= 1e-6).all())


def _first_axis(fn: Any, x: Tensor, perm: Tensor) -> bool:
    return _equal(fn(x[perm]), fn(x)[perm])


def _columns(fn: Any, x: Tensor, perm: Tensor) -> bool:
    return _equal(fn(x[..., perm]), fn(x)[..., perm])


def _second_axis(fn: Any, x: Tensor, perm: Tensor) -> bool:
    return _equal(fn(x[:, perm]), fn(x)[:, perm])


def _by_another(order: Callable[[int], Tensor]) -> Callable[..., bool]:
    return lambda fn, x, perm: _within(1e-6)(fn, x, order(len(perm)))


WITHIN = "Compare the largest |difference| with 1e-6: `torch.allclose(a, b, rtol=0, atol=1e-6)`."
BOTH_SIDES = "Compare `fn` of the shuffled rows with the shuffled rows of `fn(x)`."

IS_EQUIVARIANT = Exercise(
    name="is_equivariant",
    lesson=LESSON.slug,
    stage=LESSON.stage,
    signature="(fn, x, perm) -> bool",
    axes=("?", "… n d", "n"),
    read="Does it notice the order?",
    returns=(Slot("the answer", "bool"),),
    groups=(
        Group("values", "tells functions that follow a shuffle from those that do not", 0.5, True),
        Group("tolerance", "takes more than 1e-6 for a difference, and less for none", 0.125),
        Group("leading", "shuffles axis −2 in every sentence, whatever axes there are", 0.125),
        Group("given", "answers for the order that it is given, and for one row", 0.125),
        unchanged(0.125),
    ),
    cases=_equivariance_cases,
    oracle=_within(1e-6),
    mistakes=(
        Mistake(
            "output-not-shuffled",
            lambda fn, x, perm: _equal(fn(x[..., perm, :]), fn(x)),
            "This asks whether the output stays the same. That is *invariance*; equivariance means "
            "that it is shuffled as the input was.",
            BOTH_SIDES,
        ),
        Mistake(
            "input-not-shuffled",
            lambda fn, x, perm: _equal(fn(x), fn(x)[..., perm, :]),
            "`fn` never saw the shuffled rows: its output is compared with itself, shuffled.",
            BOTH_SIDES,
        ),
        Mistake(
            "inverse-permutation",
            lambda fn, x, perm: _equal(fn(x[..., perm, :]), fn(x)[..., perm.argsort(), :]),
            "One side is shuffled by perm and the other by its inverse, which undoes it.",
            "Index both sides with the same `perm`.",
        ),
        *(
            Mistake(
                "another-axis-shuffled",
                way,
                "Another axis than that of the rows is shuffled: `x[:, perm]` and `x[..., perm]` "
                "take columns of a matrix.",
                "The rows are axis −2, whatever stands before: `x[..., perm, :]`.",
            )
            for way in (_columns, _second_axis)
        ),
        Mistake(
            "first-axis-shuffled",
            _first_axis,
            "`x[perm]` shuffles the first axis, which is the rows of a matrix and the sentences of "
            "a batch.",
            "The rows are axis −2, whatever stands before: `x[..., perm, :]`.",
        ),
        *(
            Mistake(
                "another-order",
                _by_another(order),
                "It shuffles by an order of its own, not by the perm that it is given. Some "
                "functions follow some orders and not others.",
                "Use `perm`.",
            )
            for order in (lambda n: torch.arange(n).flip(0), lambda n: torch.arange(n).roll(1))
        ),
        Mistake(
            "exact-comparison",
            _within(0.0),
            "Numbers are compared exactly. A sum in another order is rounded otherwise, by 1e-16 "
            "or so, which is no difference.",
            WITHIN,
        ),
        *(
            Mistake(
                "tolerance-too-small",
                way,
                "Differences well below 1e-6 count as differences here; without `atol`, "
                "`torch.allclose` allows 1e-8 and a share of the numbers' size.",
                WITHIN,
            )
            for way in (*map(_within, (5e-7, 1e-7, 2e-8, 1e-8, 1e-9)), _all_close)
        ),
        *(
            Mistake(
                "tolerance-too-large",
                _within(tolerance),
                "Differences well above 1e-6 count as none here.",
                WITHIN,
            )
            for tolerance in (2e-6, 5e-6, 1e-5, 1e-4, 1e-3)
        ),
        Mistake(
            "digits-lost",
            lambda fn, x, perm: _within(1e-6)(fn, x.float(), perm),
            "The rows are turned into float32 before `fn` sees them, which leaves them 7 digits of "
            "16: what differs in the others cannot be seen.",
            "Give `fn` x as it is.",
        ),
        Mistake(
            "mean-difference",
            lambda fn, x, perm: bool(_difference(fn, x, perm).abs().mean() <= 1e-6),
            "The *mean* of the differences is compared. Many small ones hide a large one.",
            WITHIN,
        ),
        *(
            Mistake(
                "norm-of-differences",
                _added_up(power),
                "All differences are added up, by a sum or a norm, before they are compared: the "
                "more numbers there are, the less each may differ.",
                WITHIN,
            )
            for power in (1, 2)
        ),
        Mistake(
            "sums-compared",
            lambda fn, x, perm: abs(float(_difference(fn, x, perm).sum())) <= 1e-6,
            "Sums or means of all numbers are compared. A shuffle does not change a sum.",
            "Compare number by number.",
        ),
        *(
            Mistake(
                "rows-as-one-number",
                way,
                "Each row's mean or norm is compared. Rows of the same mean and norm need not be "
                "the same.",
                "Compare number by number.",
            )
            for way in (
                _reduced(lambda out: out.mean(-1)),
                _reduced(lambda out: out.norm(dim=-1)),
            )
        ),
        *(
            Mistake(
                "part-compared",
                _reduced(part),
                "Only a part of the output is compared: one row, one column or one sentence. "
                "Elsewhere the order may show.",
                "Compare all of it.",
            )
            for part in (
                lambda out: out[..., 0, :],
                lambda out: out[..., -1, :],
                lambda out: out[..., 0],
                lambda out: out[..., -1],
                lambda out: out[(0,) * (out.ndim - 2)],
                lambda out: out[(-1,) * (out.ndim - 2)],
            )
        ),
        *(
            Mistake(
                "sign-ignored",
                lambda fn, x, perm, sign=sign: bool(
                    (sign * _difference(fn, x, perm)).max() <= 1e-6
                ),
                "The largest difference is compared without its absolute value: what is far below "
                "0 passes.",
                WITHIN,
            )
            for sign in (1, -1)
        ),
        *(
            Mistake(
                "any-not-all",
                lambda fn, x, perm, share=share: bool(_near(fn, x, perm, share, 1e-6).any()),
                "One number that agrees is enough here. All of them have to.",
                "Use `all`, not `any`.",
            )
            for share in (0.0, SHARE)
        ),
        Mistake(
            "always-true",
            lambda fn, x, perm: True,
            "The answer is True for every function.",
            BOTH_SIDES,
        ),
        Mistake(
            "always-false",
            lambda fn, x, perm: False,
            "The answer is False for every function.",
            BOTH_SIDES,
        ),
        Mistake(
            "negated",
            lambda fn, x, perm: not _within(1e-6)(fn, x, perm),
            "Every answer is the opposite of the right one.",
            "True means that both sides agree.",
        ),
    ),
)
