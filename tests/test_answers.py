"""Tests of the tests: wrong answers are rejected and named, right ones are accepted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import pytest

from attnlab.checks.exercise import Exercise
from attnlab.checks.verdict import Verdict
from attnlab.lessons import exercises_of, slugs
from attnlab.notebook import check, verdict_on
from tests.answers import Answer, all_answers
from tests.answers.tally import Mark, as_text, rows
from tests.answers.why import why

pytestmark = pytest.mark.slow

ANSWERS = all_answers()
WRONG = [answer for answer in ANSWERS if answer.slug]
RIGHT = [answer for answer in ANSWERS if not answer.slug]
EXERCISES = [exercise for slug in slugs() for exercise in exercises_of(slug).values()]
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


def named(exercise: Exercise) -> str:
    return f"{exercise.lesson}-{exercise.name}"


Judge = Callable[[Answer], Verdict]


@pytest.fixture
def judged(record_property: Callable[[str, object], None]) -> Judge:
    """Judges an answer as a notebook would, for the table that is printed at the end."""

    def judge_it(answer: Answer) -> Verdict:
        verdict = check(answer.function, name=answer.exercise, lesson=answer.lesson).verdict
        all_points = verdict.status == "PASS" and verdict.score == verdict.max_score
        rejected = verdict.status in ("FAIL", "ERROR") and verdict.score < verdict.max_score
        named = verdict.diagnosis is not None and verdict.diagnosis.slug == answer.slug
        wrong = bool(answer.slug)
        held = rejected if wrong else all_points
        mark = Mark(answer.lesson, answer.exercise, wrong, held, named)
        record_property("mark", tuple(mark))
        return verdict

    return judge_it


def score_by_fresh_seeds(answer: Answer) -> float:
    exercise = exercises_of(answer.lesson)[answer.exercise]
    return verdict_on(exercise, answer.function, (2001, 2002), CALL_SECONDS).score


@pytest.mark.parametrize("answer", WRONG, ids=str)
def test_wrong_answer_is_rejected_and_named(answer: Answer, judged: Judge) -> None:
    verdict = judged(answer)
    assert verdict.status in ("FAIL", "ERROR"), why(answer)
    assert 0 <= verdict.score < verdict.max_score
    assert verdict.diagnosis is not None, why(answer)
    assert verdict.diagnosis.slug == answer.slug, why(answer)
    core = {claim.text for claim in exercises_of(answer.lesson)[answer.exercise].claims[:1]}
    fails_at_the_core = any(line.holds is False for line in verdict.lines if line.claim in core)
    assert (verdict.score == 0) == fails_at_the_core, verdict


@pytest.mark.parametrize("answer", RIGHT, ids=str)
def test_right_answer_earns_all_points(answer: Answer, judged: Judge) -> None:
    verdict = judged(answer)
    assert (verdict.status, verdict.score) == ("PASS", verdict.max_score), why(answer)
    assert verdict.diagnosis is None
    assert all(line.holds for line in verdict.lines)
    assert score_by_fresh_seeds(answer) == verdict.max_score


def test_every_general_mistake_is_made_by_a_learner() -> None:
    assert {answer.slug for answer in WRONG} >= GENERAL


@pytest.mark.parametrize("exercise", EXERCISES, ids=named)
def test_exercise_has_two_mistakes_and_four_alternates(exercise: Exercise) -> None:
    home = (exercise.lesson, exercise.name)
    written = [each for each in ANSWERS if (each.lesson, each.exercise) == home and each.written]
    assert sum(bool(each.slug) for each in written) >= 2
    assert sum(not each.slug for each in written) >= 4


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
