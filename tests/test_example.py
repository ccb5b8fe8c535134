"""The small call on a card, and what a right answer's card looks back on."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from attnlab.calling.call import perform
from attnlab.calling.deadline import Deadline
from attnlab.calling.observe import observe
from attnlab.checks.compare import examine
from attnlab.checks.example import written
from attnlab.checks.small import small
from attnlab.lessons import exercises_of, slugs
from attnlab.notebook import Check
from attnlab.work import progress
from tests.answers import all_answers
from tests.course import fail_for, tells

LESSON = "01-soft-lookup"


def softmax(scores: list[float]) -> list[float]:
    if not scores or max(scores) == -math.inf:
        raise ValueError
    powers = [math.exp(score - max(scores)) for score in scores]
    return [power / sum(powers) for power in powers]


def shares(scores: list[float]) -> list[float]:
    return [score / sum(scores) for score in scores]


def overflowing(scores: list[float]) -> list[float]:
    powers = [math.exp(score) for score in scores]
    return [power / sum(powers) for power in powers]


def wrong_when_long(scores: list[float]) -> list[float]:
    return [weight + 1e-3 * (len(scores) > 12) for weight in softmax(scores)]


def wrong_by_a_hair(scores: list[float]) -> list[float]:
    return [weight * (1 + 1e-5) for weight in softmax(scores)]


@pytest.fixture
def check(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Check]:
    """A check in a kernel of its own, below no course."""
    monkeypatch.chdir(tmp_path)
    progress.forget()
    yield Check()
    progress.forget()


def asked(check: Check, function: Any) -> Any:
    """A check of the function under its exercise's own name."""
    calls: list[tuple[str, str]] = []

    def softmax(scores: list[float]) -> list[float]:
        given = f"scores = {written(observe(scores))}"
        try:
            found = function(scores)
        except Exception as error:
            calls.append((given, f"an error, {type(error).__name__}"))
            raise
        calls.append((given, written(observe(found))))
        return list(found)

    return check(softmax, lesson=LESSON), calls


@pytest.mark.parametrize("function", [shares, overflowing])
def test_an_example_was_asked_of_the_function_and_differs(check: Check, function: Any) -> None:
    card, calls = asked(check, function)
    example = card.verdict.example
    assert (example.given, example.gave) in calls
    assert example.gave != example.right
    assert sum(map(str.isdigit, example.given)) <= 5
    assert "." not in example.given


@pytest.mark.parametrize("function", [wrong_when_long, wrong_by_a_hair])
def test_where_no_small_call_shows_it_there_is_none(check: Check, function: Any) -> None:
    card, _ = asked(check, function)
    assert card.verdict.example is None
    open_, _, _ = card._repr_mimebundle_()["text/html"].partition("<details")
    assert tells(open_, "should be")
    assert "it gives" not in open_


def test_a_right_answer_looks_back_on_what_was_mended(check: Check) -> None:
    for function in (shares, overflowing):
        asked(check, function)
    card, _ = asked(check, softmax)
    assert tells(str(card), "Mended", "scores divided by their sum", "too large for a float")
    assert card.verdict.passed == {"hard_lookup": False, "softmax": True, "soft_lookup": False}
    assert tells(card._repr_mimebundle_()["text/html"], "<svg", "1 of the 3 arcs")


def test_one_that_was_right_at_once_has_nothing_to_look_back_on(check: Check) -> None:
    card, _ = asked(check, softmax)
    assert "Mended" not in str(card)


def test_every_small_call_is_one_that_a_right_answer_passes() -> None:
    """One that it would not pass could be shown as a mistake that is none."""
    slips, asked_of = [], 0
    for slug in slugs():
        for exercise in exercises_of(slug).values():
            posed = small(exercise)
            right = [
                each
                for each in all_answers(slug)
                if each.exercise == exercise.name
                if not each.slug
            ]
            for each in posed:
                outcome = perform(right[0].function, each.call, Deadline(5))
                if difference := examine(each, outcome).difference:
                    slips.append(f"{slug} {exercise.name}: {each.inputs} {difference.text}")
            asked_of += bool(posed)
    assert asked_of > 30
    fail_for(slips)
