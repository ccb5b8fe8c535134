"""Judging without NumPy and PyTorch: arrays in Python alone, and cases that were posed before."""

from __future__ import annotations

import itertools
import json
import math
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from attnlab.calling.observe import observe
from attnlab.checks import plain, recorded, reference
from attnlab.checks.bank import bank
from attnlab.checks.diagnose import _close, limits_of, mistaken
from attnlab.checks.exercise import SEEDS, Exercise
from attnlab.checks.pose import Posed, Some, pose
from attnlab.lessons import exercises_of, lesson, slugs
from attnlab.lessons.pure_python.adjective import KINDS, shares_of
from docs import browser

pytestmark = pytest.mark.slow
NAN, INF = math.nan, math.inf
EXERCISES = [
    each
    for slug in slugs()
    if lesson(slug).stage == browser.STAGE
    for each in exercises_of(slug).values()
]
ARRAYS: list[Any] = [
    0.5,
    True,
    [],
    [[], []],
    [1.5, -0.0, NAN],
    [1e300, -INF, 2.0],
    [3, -1, 0],
    [True, False, True],
    [[1.0, 2.0, 2.0], [0.0, INF, NAN]],
    [[1.0], [0.0]],
    [[0, 0, 0], [0, 0, 7]],
]
ONE: dict[str, Callable[[Any, Any], Any]] = {
    "shape": lambda np, x: (x.shape, x.size, x.ndim, x.dtype.kind, str(x.dtype)),
    "kinds": lambda np, x: (x.dtype == float, x.dtype == bool, x.dtype == np.float64),
    "list": lambda np, x: x.tolist(),
    "floats": lambda np, x: x.astype(float).tolist(),
    "single": lambda np, x: x.astype(np.float32).astype(float).tolist(),
    "abs": lambda np, x: float(np.abs(x.astype(float)).max(initial=0)),
    "finite": lambda np, x: (~np.isfinite(x)).tolist(),
    "all": lambda np, x: (bool((x == 0).all()), bool((x == 0).any()), int((x == 0).sum())),
    "rows": lambda np, x: ((x == 0).all(-1, keepdims=True) & (x == 0)).tolist() if x.ndim else 0,
    "first": lambda np, x: (
        tuple(map(int, np.unravel_index((x != 0).argmax(), x.shape))) if x.size else ()
    ),
    "kept": lambda np, x: x[x != 0].tolist(),
    "largest": lambda np, x: float(np.max(x.astype(float))) if x.size else 0,
    "whole": lambda np, x: (x.astype(float) % 1 != 0).tolist(),
    "no nan": lambda np, x: (np.nan_to_num(x.astype(float), nan=0.0) != 0)[x != INF].tolist(),
    "flat": lambda np, x: x.reshape(-1).tolist(),
    "some": lambda np, x: x.reshape(-1)[[0, -1]].tolist() if x.size else 0,
    "stacked": lambda np, x: np.array([x, x]).shape,
    "zeros": lambda np, x: np.zeros(x.shape, dtype=bool).tolist(),
    "alike": lambda np, x: np.allclose(x.astype(float), x.astype(float), 0, 1e-6, equal_nan=True),
}
TWO: dict[str, Callable[[Any, Any, Any], Any]] = {
    "less": lambda np, x, y: ((x < y).tolist(), (x <= y).tolist()),
    "same": lambda np, x, y: ((x == y).tolist(), (x != y).tolist()),
    "either": lambda np, x, y: (((x == 0) | (y == 0)).tolist(), ((x == 0) & (y == 0)).tolist()),
    "apart": lambda np, x, y: np.abs(x.astype(float) - y.astype(float)).tolist(),
    "near": lambda np, x, y: (1e-6 + 1e-9 * np.abs(y.astype(float))).tolist(),
    "where": lambda np, x, y: np.where(x == y, 0.0, np.abs(x - y * 1.0)).tolist(),
}


@pytest.mark.parametrize("operation", ONE)
def test_plain_arrays_do_as_numpys(operation: str) -> None:
    asked = ONE[operation]
    for array in ARRAYS:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            theirs = asked(np, np.asarray(array))
        assert repr(asked(plain, plain.asarray(array))) == repr(theirs), array


@pytest.mark.parametrize("operation", TWO)
def test_plain_arrays_do_together_as_numpys(operation: str) -> None:
    asked = TWO[operation]
    for one, other in itertools.product(ARRAYS, repeat=2):
        theirs: Any
        with np.errstate(all="ignore"):
            try:
                theirs = asked(np, np.asarray(one), np.asarray(other))
            except ValueError:
                theirs = ValueError
        try:
            mine = asked(plain, plain.asarray(one), plain.asarray(other))
        except ValueError:
            mine = ValueError
        assert repr(mine) == repr(theirs), (one, other)


def test_a_noun_s_shares_are_pytorchs() -> None:
    rng = np.random.default_rng(1)
    for scale in (1, 30, 1e4, 1e200):
        for _ in range(50):
            W_q, W_k = scale * rng.normal(size=(2, 4, 2))
            sentence = ["noun", "adjective", *rng.choice(KINDS, 6).tolist()]
            kinds = [KINDS.index(kind) for kind in sentence]
            row = reference.weights(W_q[kinds], W_k[kinds])[0]
            with np.errstate(all="ignore"):
                shares = shares_of((W_k * W_q[1]).sum(-1).tolist(), sentence)
            np.testing.assert_allclose([shares[kind] for kind in sentence], row, atol=1e-12)


@pytest.fixture(scope="module", params=EXERCISES, ids=lambda each: f"{each.lesson}-{each.name}")
def pair(request: pytest.FixtureRequest) -> tuple[Exercise, Exercise]:
    """An exercise, and the same as a browser reads it."""
    exercise: Exercise = request.param
    declared = json.loads(browser.as_json(browser._declared(exercise)))
    told = json.loads(browser.as_json(browser.recorded(exercise)))
    return exercise, recorded.with_cases(recorded.declared(declared), told)


def test_cases_come_back_as_they_were_posed(pair: tuple[Exercise, Exercise]) -> None:
    exercise, read = pair
    assert read.claims == exercise.claims
    for one, other in zip(pose(exercise, SEEDS), pose(read, SEEDS), strict=True):
        assert (one.seed, one.turn, one.numbers) == (other.seed, other.turn, other.numbers)
        assert (one.call, one.inputs, one.slots) == (other.call, other.inputs, other.slots)
        assert one.kind == other.kind
        assert same_objects(one) == same_objects(other)
        assert all(
            getattr(one.case, name) == getattr(other.case, name)
            for name in (*recorded.CASE, "about", "earlier", "procedure")
        )
        assert [*map(observe, one.right.values)] == [*map(observe, other.right.values)]


def same_objects(posed: Posed) -> list[int]:
    """For each thing in a case's inputs that is no list, the first that is the same object."""
    leaves = [*recorded.leaves_of([posed.case.args, list(posed.case.kwargs.values())])]
    texts = [each for each in leaves if not isinstance(each, float)]
    return [[other is each for other in texts].index(True) for each in texts]


def test_mistakes_are_told_apart_as_by_all_of_their_numbers(
    pair: tuple[Exercise, Exercise],
) -> None:
    exercise, read = pair
    assert read.recorded
    assert [each.slug for each in read.recorded.mistakes] == [each.slug for each in bank(exercise)]
    for one, other in zip(pose(exercise, SEEDS), pose(read, SEEDS), strict=True):
        if one.case.procedure:
            continue
        whole = [mistaken(each.answer, one) for each in bank(exercise)]
        some = [mistaken(each.answer, other) for each in read.recorded.mistakes]
        assert [is_right for _, is_right in whole] == [is_right for _, is_right in some]
        assert [each.raises for each, _ in whole] == [each.raises for each, _ in some]
        numbers = [[part.tobytes() for part in each.values] for each, _ in whole]
        other_than = {repr(each): at for at, each in enumerate(numbers)}
        given = [one.right.values, *(whole[at][0].values for at in other_than.values())]
        for full, few in ((whole[at][0], some[at][0]) for at in other_than.values()):
            parts = [*zip(full.values, few.values, limits_of(one), strict=False)]
            for at, (all_of_it, part, limits) in enumerate(parts):
                for got in (mine[at] for mine in given if len(mine) > at):
                    # What is close in all numbers is so in some.
                    if isinstance(part, Some) and got.shape == part.shape:
                        if _close(got, part, *limits):
                            assert _close(got, all_of_it, *limits)
