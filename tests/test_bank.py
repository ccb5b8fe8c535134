"""The bank tests itself: each declared mistake, handed in, comes out under its own name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

from attnlab.checks.bank import bank
from attnlab.checks.exercise import SEEDS, Exercise, Mistake, State
from attnlab.checks.pose import Expected, Posed, answer_of, pose
from attnlab.lessons import exercises_of, slugs
from tests.played import by_formula, played

# What comes out under another name, and why that one is as true.
UNDER_ANOTHER_NAME: dict[tuple[str, str], tuple[str, str]] = {}

# Claims that one mistake breaks, each by itself. Any others show no more than one ✗ besides the
# first claim's: what else a case relies on is said by its `about`.
BREAK_TOGETHER = {
    ("both", "far"): "without the maximum e overflows, and −∞ less −∞ is no number",
    ("causal", "masked"): "hiding is wrong, wherever the mask comes from",
    ("empty", "large"): "a small number for −∞ is less than some scores, and no −∞",
    ("empty", "masked"): "in one way of it blocked rows are NaN as well",
    ("gradient", "held"): "what is played from a formula is not seen to hold anything",
    ("kernel", "none"): "any backend may answer, also where the one asked for refuses",
    ("large", "masked"): "the maximum of a tile that is blocked whole is −∞",
    ("masked", "unchanged"): "what is played from a formula makes no call",
    ("low", "precision"): "what is added to a sum shows in a small one, and in the last digits",
}

EXERCISES = [
    exercise
    for slug in slugs()
    for exercise in exercises_of(slug).values()
    if not any(each.case.procedure and each.case.procedure.missed for each in pose(exercise, SEEDS))
]
BANK = [(exercise, mistake) for exercise in EXERCISES for mistake in bank(exercise)]


@pytest.mark.parametrize("exercise", EXERCISES, ids=lambda each: f"{each.lesson}-{each.name}")
def test_what_is_right_earns_all_points(exercise: Exercise) -> None:
    verdict = played(exercise, lambda each: each.right, SEEDS)
    assert (verdict.status, verdict.score) == ("PASS", exercise.points), verdict.message


@pytest.mark.parametrize(
    ("exercise", "mistake"),
    BANK,
    ids=[f"{e.lesson}-{e.name}-{m.slug}-{at}" for at, (e, m) in enumerate(BANK)],
)
def test_declared_mistake_comes_out_under_its_own_name(
    exercise: Exercise, mistake: Mistake, recwarn: pytest.WarningsRecorder
) -> None:
    verdict = played(exercise, by_formula(mistake.answer), SEEDS)
    other = UNDER_ANOTHER_NAME.get((exercise.name, mistake.slug), (mistake.slug, ""))[0]
    assert verdict.status in ("FAIL", "ERROR"), "it is right"
    assert verdict.diagnosis is not None, verdict.message
    assert verdict.diagnosis.slug == other, verdict.message
    lines = zip(exercise.claims[1:], verdict.lines[1:], strict=True)
    crossed = sorted(claim.name for claim, line in lines if line.holds is False)
    assert len(crossed) < 2 or tuple(crossed) in BREAK_TOGETHER, verdict.lines
    assert not recwarn.list  # on stderr, for which nbgrader takes all points


def _single(part: Any) -> Any:
    """Arguments, or a module's parameters, in float32."""
    if isinstance(part, State):
        return State({name: tensor.float() for name, tensor in part.items()}, part.sizes)
    if isinstance(part, torch.Tensor):
        return part.float() if part.is_floating_point() else part
    return part.astype(np.float32) if getattr(part, "dtype", None) == np.float64 else part


def _in_float32(formula: Callable[..., Any], each: Posed) -> Expected:
    """What comes of a case in float32, in the dtypes that are asked for."""

    def single(*args: Any, **kwargs: Any) -> Any:
        return formula(*map(_single, args), **{name: _single(arg) for name, arg in kwargs.items()})

    pairs = zip(answer_of(single, each.case).values, each.right.values, strict=True)
    return Expected(tuple(part.astype(right.dtype) for part, right in pairs))


@pytest.mark.parametrize(
    "exercise",
    [each for each in EXERCISES if "precision" in each.promised],
    ids=lambda each: f"{each.lesson}-{each.name}",
)
def test_what_is_computed_in_float32_is_named(exercise: Exercise) -> None:
    def play(each: Posed) -> Expected:
        return each.right if each.right.raises else _in_float32(exercise.oracle_of(each.case), each)

    verdict = played(exercise, play, SEEDS)
    assert verdict.status == "FAIL"
    assert verdict.diagnosis is not None, verdict.message
    assert verdict.diagnosis.slug == "computed-in-float32", verdict.message


def test_every_exception_is_of_a_declared_mistake() -> None:
    declared = {(exercise.name, mistake.slug) for exercise, mistake in BANK}
    assert set(UNDER_ANOTHER_NAME) <= declared
    assert all(reason for _, reason in UNDER_ANOTHER_NAME.values())
