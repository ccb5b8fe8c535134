"""The bank tests itself: each declared mistake, handed in, comes out under its own name.

`make test` hands in one formula for each slug, `make prove` all of them. Where many answers are
right a mistake is no formula but a question, so the answer that makes it is one of those we hold.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
import torch

from attnlab.checks.bank import bank
from attnlab.checks.edits import edited
from attnlab.checks.exercise import SEEDS, Exercise, Mistake, State
from attnlab.checks.pose import Expected, Posed, answer_of, pose
from tests.answers import all_answers
from tests.course import fail_for
from tests.exercises import EXERCISES, named
from tests.played import by_formula, can_be_played, played

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


RIGHT = "it is right"


def wrong_with(exercise: Exercise, mistake: Mistake) -> Iterator[str]:
    """What is not as it should be if a mistake's formula is handed in."""
    with warnings.catch_warnings(record=True) as said:  # on stderr: nbgrader takes all points
        warnings.simplefilter("always")
        verdict = played(exercise, by_formula(mistake.answer), SEEDS)
    if said:
        yield f"it warns: {said[0].message}"
    if verdict.status not in ("FAIL", "ERROR"):
        yield RIGHT
        return
    slug = verdict.diagnosis.slug if verdict.diagnosis else "nothing"
    if slug != mistake.slug:
        yield f"it is named {slug}: {verdict.message}"
    lines = zip(exercise.claims[1:], verdict.lines[1:], strict=True)
    crossed = tuple(sorted(claim.name for claim, line in lines if line.holds is False))
    if len(crossed) > 1 and crossed not in BREAK_TOGETHER:
        yield f"it crosses out {' and '.join(crossed)}"


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


@pytest.mark.slow
@pytest.mark.parametrize(
    "exercise",
    [each for each in EXERCISES if "precision" in each.promised],
    ids=named,
)
def test_what_is_computed_in_float32_is_named(exercise: Exercise) -> None:
    def play(each: Posed) -> Expected:
        return each.right if each.right.raises else _in_float32(exercise.oracle_of(each.case), each)

    verdict = played(exercise, play, SEEDS)
    assert verdict.status == "FAIL"
    assert verdict.diagnosis is not None, verdict.message
    assert verdict.diagnosis.slug == "computed-in-float32", verdict.message


def failures(exercise: Exercise, all_ways: bool) -> Iterator[str]:
    """What is wrong with what is right, and with each mistake, a line each.

    Args:
        all_ways: whether every formula of a mistake is handed in, or the first.
    """
    plays = can_be_played(exercise)
    verdict = played(exercise, lambda each: each.right, SEEDS)
    if plays and (verdict.status, verdict.score) != ("PASS", exercise.points):
        yield f"what is right: {verdict.message}"
    ways = [each.case.procedure for each in pose(exercise, SEEDS)]
    asks = any(way and way.missed for way in ways)
    held = {each.slug for each in all_answers(exercise.lesson) if each.exercise == exercise.name}
    done: set[str] = set()
    for mistake in bank(exercise):
        if mistake.slug in done and not all_ways:
            continue
        done.add(mistake.slug)
        told = list(wrong_with(exercise, mistake)) if plays else [RIGHT]
        if asks and told == [RIGHT]:
            told = [] if mistake.slug in held else ["no answer that we hold makes it"]
        yield from (f"{mistake.slug}: {each}" for each in told)


def doubled(x: int) -> int:
    return x * 2


@pytest.mark.parametrize("stale", ["* 3 -> * 4", "x -> y", " * 2 -> ; x * -> x +"])
def test_an_edit_that_does_not_stand_once_in_its_text_is_an_error(stale: str) -> None:
    assert edited(doubled, "return x -> return -x; * 2 -> * 3")(1) == -3
    with pytest.raises(ValueError, match="times, not once"):
        edited(doubled, stale)


@pytest.mark.slow
@pytest.mark.parametrize("exercise", EXERCISES, ids=named)
def test_each_declared_mistake_comes_out_under_its_own_name(exercise: Exercise) -> None:
    fail_for(failures(exercise, all_ways=False))


@pytest.mark.prove
@pytest.mark.parametrize("exercise", EXERCISES, ids=named)
def test_each_way_to_make_a_mistake_comes_out_under_its_name(exercise: Exercise) -> None:
    fail_for(failures(exercise, all_ways=True))
