"""Tests of the tests: wrong answers are rejected and named, right ones are accepted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator

import pytest

from attnlab import notebook
from attnlab.checks.exercise import Exercise
from attnlab.lessons import slugs
from attnlab.notebook import check
from tests.answers import Answer, all_answers
from tests.answers.tally import Mark, as_text, rows
from tests.answers.why import why
from tests.course import fail_for
from tests.exercises import EXERCISES, named

ANSWERS = all_answers()
CALL_SECONDS = 60.0
GENERAL = {
    "wrong-type",
    "wrong-shape",
    "wrong-dtype",
    "non-finite",
    "mutated-input",
    "nondeterministic",
    "raised",
    "not-raised",
}
Keep = Callable[[str, object], None]


def answers_to(exercise: Exercise) -> list[Answer]:
    home = (exercise.lesson, exercise.name)
    return [each for each in ANSWERS if (each.lesson, each.exercise) == home]


def wrong_with(answer: Answer, exercise: Exercise, keep: Keep) -> Iterator[str]:
    """What is not as it should be if an answer is judged as a notebook would."""
    verdict = check(answer.function, name=answer.exercise, lesson=answer.lesson).verdict
    named = verdict.diagnosis.slug if verdict.diagnosis else ""
    all_points = verdict.status == "PASS" and verdict.score == verdict.max_score
    rejected = verdict.status in ("FAIL", "ERROR") and 0 <= verdict.score < verdict.max_score
    held = rejected if answer.slug else all_points
    mark = Mark(answer.lesson, answer.exercise, bool(answer.slug), held, named == answer.slug)
    keep("mark", tuple(mark))  # for the table that is printed at the end
    if not held:
        yield f"{verdict.status}, {verdict.score:g} of {verdict.max_score:g} points"
    if named != answer.slug:
        yield f"it is named {named or 'nothing'}"
    if answer.slug:
        core = {claim.text for claim in exercise.claims[:1]}
        crossed = any(line.holds is False for line in verdict.lines if line.claim in core)
        if (verdict.score == 0) != crossed:
            yield f"{verdict.score:g} points, and the first claim is {'' if crossed else 'not '}✗"
        return
    if not all(line.holds for line in verdict.lines):
        yield "a line of its card is not ✓"


def failures(exercise: Exercise, answers: Iterable[Answer], keep: Keep) -> Iterator[str]:
    for answer in answers:
        if told := list(wrong_with(answer, exercise, keep)):
            yield f"{answer}: {'; '.join(told)}"
            yield why(answer)


@pytest.fixture
def keep(record_property: Keep, monkeypatch: pytest.MonkeyPatch) -> Keep:
    """Notes a mark. No answer that we hold is endless; a busy machine has all the time it needs."""
    monkeypatch.setattr(notebook, "SECONDS", CALL_SECONDS)
    return record_property


@pytest.mark.slow
@pytest.mark.parametrize("exercise", EXERCISES, ids=named)
def test_answers_are_judged_as_they_should_be(exercise: Exercise, keep: Keep) -> None:
    """Wrong ones are rejected under their own name, right ones earn all points."""
    fail_for(failures(exercise, answers_to(exercise), keep))


def test_every_general_mistake_is_made_by_a_learner() -> None:
    assert {answer.slug for answer in ANSWERS if not answer.written} >= GENERAL


@pytest.mark.lessons(*slugs())
def test_exercises_have_two_mistakes_and_four_alternates() -> None:
    few = []
    for exercise in EXERCISES:
        written = [each for each in answers_to(exercise) if each.written]
        wrong = sum(bool(each.slug) for each in written)
        if wrong < 2 or len(written) - wrong < 4:
            few.append(f"{named(exercise)}: {wrong} wrong answers, {len(written) - wrong} right")
    fail_for(few)


@pytest.mark.lessons(*slugs())
def test_answers_have_names_of_their_own() -> None:
    twice = [name for name, times in Counter(map(str, ANSWERS)).items() if times > 1]
    assert not twice


def test_table_counts_what_held() -> None:
    marks = [
        Mark("01-soft-lookup", "softmax", wrong=True, held=True, named=True),
        Mark("01-soft-lookup", "softmax", wrong=True, held=True, named=False),
        Mark("01-soft-lookup", "softmax", wrong=True, held=False, named=True),
        Mark("01-soft-lookup", "softmax", wrong=False, held=True, named=False),
        Mark("03-numpy", "routing_matrix", wrong=False, held=False, named=False),
    ]
    assert as_text(rows(marks)).splitlines()[1:] == [
        "01-soft-lookup softmax              2 of 3      1               1 of 1",
        "03-numpy routing_matrix             0 of 0      0               0 of 1",
        "1 mistakes rejected and named, 1 alternates accepted, in 2 exercises",
    ]
