"""Whether a function notices the order of its rows: the exercise `is_equivariant`."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F

from attnlab.calling.observe import ByName, by_name
from attnlab.checks.exercise import Case, Claim, Exercise, Slot, promises
from attnlab.checks.inputs import Generator

Tensor = torch.Tensor
BELOW, ABOVE = 0.9e-6, 1.5e-6  # a difference that is none, and one
WIDE = 99  # columns: all that there are


# Functions, orders and rows: none of them says by itself what is right ----------------------------


def _mixing(weights: np.ndarray, sharpness: float = 0.0, width: int = WIDE) -> ByName:
    placed = torch.from_numpy(weights)
    return by_name("sequences.attention_and_places", round(float(sharpness), 2), placed, width)


def _some(rng: Generator, sizes: Mapping[str, Any]) -> ByName:
    """Weights that differ, or do not."""
    n, width = sizes["n"], int(rng.integers(1, sizes["d"] + 2))
    weights = rng.normal(size=n) if rng.random() < 0.5 else np.full(n, rng.normal())
    return _mixing(weights, rng.uniform(0.1, 1.0), width)


def _cycle(rng: Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
    """An order in which each row comes round to every place, and the places in that turn."""
    places = rng.permutation(n)
    order = np.empty(n, dtype=np.int64)
    order[places] = np.roll(places, -1)
    return order, places


def _orders(rng: Generator, n: int) -> Iterator[tuple[np.ndarray, str]]:
    rows = np.arange(n)
    yield _cycle(rng, n)[0], ""
    yield rows[::-1].copy(), "perm turns the order round"
    yield np.roll(rows, rng.integers(1, n)), "perm shifts all rows alike"
    yield rows, "perm leaves all where it is"
    two = rng.choice(n, 2, replace=False)
    rows = rows.copy()
    rows[two] = rows[two[::-1]]
    yield rows, "perm exchanges two rows"


def _followed(weights: np.ndarray, order: np.ndarray) -> np.ndarray:
    """Weights that the order leaves as they are."""
    for _ in order:
        weights = np.minimum(weights, weights[order])
    return weights


def _equivariance_cases(rng: Generator) -> Iterator[Case]:
    def case(
        fn: ByName, x: np.ndarray, order: np.ndarray, note: str, group: str = "values"
    ) -> Case:
        return Case(group, (fn, torch.from_numpy(x), torch.from_numpy(order)), note=note)

    for follows in (True, False):
        n = int(rng.choice([6, 8]))
        d = n + int(rng.integers(0, 3))  # so that perm would fit the columns, too
        for order, note in _orders(rng, n):
            weights = rng.normal(size=n)
            fn = _mixing(_followed(weights, order) if follows else weights, d**-0.5)
            yield case(fn, rng.normal(size=(n, d)), order, note)
            if not note:
                yield case(fn, rng.normal(size=(n + 1, n, d)), order, "there are many sentences")
        order, places = _cycle(rng, n)
        x = rng.normal(size=(n, d))
        if follows:
            yield case(_mixing(np.zeros(n)), x, order, "all rows of the output are the same")
        else:
            yield case(_mixing(rng.normal(size=n)), x[:1].repeat(n, 0), order, "all rows are alike")
        turned = np.ones(n)
        turned[places[::2]] = 1.0 if follows else -1.0
        x = x - x.mean(0)
        fn, note = _mixing(turned), "the mean of each row and each column is 0"
        yield case(fn, x - x.mean(-1, keepdims=True), order, note)
        for at, sign in itertools.product((0, -1), (1, -1)):  # only the first number, or the last
            weights, x = rng.normal(size=n), np.zeros((3, n, d))
            x[at, order[at], at] = 1.0
            weights[at] = weights[order[at]] + (0 if follows else sign)
            yield case(_mixing(weights), x, order, "a single number is not 0")
        fn = _mixing(np.ones(n) if follows else rng.normal(size=n))
        yield case(fn, 1e5 * rng.normal(size=(n, d)), order, "numbers are in the hundred thousands")
    for size in (1e-3, 1.0, 100.0):
        for by in (BELOW, ABOVE):
            for which in ("all numbers differ", "a single number differs"):
                order, places = _cycle(rng, n)
                weights = np.full(n, 3.0)
                weights[places[::2]] += by / size
                x = size * rng.choice([-1.0, 1.0], (n, d))
                if which.startswith("a single"):
                    weights[places[2:]] = 3.0
                    x[np.arange(n) != places[1]] = x[:, rng.permutation(d)[1:]] = 0.0
                note = f"{which} by {by:.1e}, and they are as large as {size:g}"
                yield case(_mixing(weights), x, order, note, "tolerance")


# What is right, and what is not -------------------------------------------------------------------


def _difference(fn: Any, x: Tensor, perm: Tensor) -> Tensor:
    """fn(P x) − P fn(x), with the permutation as a matrix P."""
    P = F.one_hot(perm, len(perm)).to(x.dtype)
    return fn(P @ x) - P @ fn(x)


def _within(most: float, of: Callable[[Tensor], Tensor] = torch.abs) -> Callable[..., bool]:
    return lambda fn, x, perm: bool((of(_difference(fn, x, perm)) <= most).all())


def _near(share: float, least: float, to: Callable[[Tensor], Tensor] = torch.all) -> Any:
    """Both sides may differ by `least` and a share of their size."""
    return lambda fn, x, perm: bool(
        to(torch.isclose(fn(x[..., perm, :]), fn(x)[..., perm, :], share, least))
    )


def _of(part: Callable[[Tensor], Tensor]) -> Callable[..., bool]:
    """A part of both sides is compared, or what they come to."""
    return lambda fn, x, perm: _equal(part(fn(x[..., perm, :])), part(fn(x)[..., perm, :]))


def _equal(one: Tensor, other: Tensor) -> bool:
    return one.shape == other.shape and bool(((one - other).abs() <= 1e-6).all())


IS_EQUIVARIANT = Exercise(
    name="is_equivariant",
    signature="(fn, x, perm) -> bool",
    axes=("fn", "… n d", "perm"),
    read="Does it notice the order?",
    returns=(Slot("the answer", "bool"),),
    claims=promises(
        "tells functions that follow a shuffle of axis −2 from those that do not",
        0.5,
        Claim("tolerance", "takes more than 1e-6 for a difference, and less for none", 0.25),
        unchanged=0.25,
    ),
    drawn={"fn": _some, "perm": lambda rng, sizes: torch.from_numpy(rng.permutation(sizes["n"]))},
    cases=_equivariance_cases,
    oracle=_within(1e-6),
    mistakes={
        "output-not-shuffled": lambda fn, x, perm: _equal(fn(x[..., perm, :]), fn(x)),
        "input-not-shuffled": lambda fn, x, perm: _equal(fn(x), fn(x)[..., perm, :]),
        "inverse-permutation": lambda fn, x, perm: _equal(
            fn(x[..., perm, :]), fn(x)[..., perm.argsort(), :]
        ),
        "another-axis-shuffled": (
            lambda fn, x, perm: _equal(fn(x[..., perm]), fn(x)[..., perm]),
            lambda fn, x, perm: _equal(fn(x[:, perm]), fn(x)[:, perm]),
            lambda fn, x, perm: _equal(fn(x[perm]), fn(x)[perm]),
        ),
        "another-order": (
            lambda fn, x, perm: _within(1e-6)(fn, x, perm.sort().values.flip(0)),
            lambda fn, x, perm: _within(1e-6)(fn, x, perm.sort().values.roll(1)),
        ),
        "tolerance-too-small": (_within(0.0), _within(1e-8)),
        "tolerance-too-large": (_within(1e-5), _within(1e-3)),
        "relative-tolerance": (_near(1e-5, 1e-6), _near(1e-5, 1e-8)),
        "digits-lost": lambda fn, x, perm: _of(lambda out: out)(fn, x.float(), perm),
        "not-number-by-number": (
            _within(1e-6, lambda each: each.abs().mean()),
            _within(1e-6, lambda each: each.abs().sum()),
            _within(1e-6, lambda each: each.norm()),
            _within(1e-6, lambda each: each.sum().abs()),
            _of(lambda out: out.mean(-1)),
            _of(lambda out: out.norm(dim=-1)),
        ),
        "part-compared": (
            _of(lambda out: out[..., 0, :]),
            _of(lambda out: out[..., -1, :]),
            _of(lambda out: out[..., 0]),
            _of(lambda out: out[..., -1]),
            _of(lambda out: out[(0,) * (out.ndim - 2)]),
            _of(lambda out: out[(-1,) * (out.ndim - 2)]),
            _near(0.0, 1e-6, torch.any),
        ),
        "sign-ignored": (_within(1e-6, lambda each: each), _within(1e-6, torch.neg)),
        "always-the-same": (lambda fn, x, perm: True, lambda fn, x, perm: False),
        "negated": lambda fn, x, perm: not _within(1e-6)(fn, x, perm),
    },
)
