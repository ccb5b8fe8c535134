"""Tests of the tests: wrong answers are rejected and named, right ones are accepted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import numpy as np
import pytest

from attnlab.checks.exercise import SEEDS, Case, Exercise, Mistake
from attnlab.checks.pose import answer_of, generate
from attnlab.checks.verdict import Verdict
from attnlab.lessons import exercises_of, slugs
from attnlab.notebook import check, verdict_on
from tests.answers import Answer, all_answers
from tests.answers.tally import Mark, as_text, promised, rows
from tests.readme import README, replaced

pytestmark = pytest.mark.slow

ANSWERS = all_answers()
WRONG = [answer for answer in ANSWERS if answer.slug]
RIGHT = [answer for answer in ANSWERS if not answer.slug]
EXERCISES = [exercise for slug in slugs() for exercise in exercises_of(slug).values()]
BANK = [(exercise, mistake) for exercise in EXERCISES for mistake in exercise.mistakes]
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


def close(mistaken: np.ndarray, right: np.ndarray, case: Case) -> bool:
    """Whether a check would let these numbers pass."""
    if mistaken.shape != right.shape:
        return False
    if case.exact_zeros and (mistaken[right == 0] != 0).any():
        return False
    return bool(np.allclose(mistaken.astype(float), right.astype(float), 0, case.tolerance))


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
    assert verdict.status in ("FAIL", "ERROR"), verdict
    assert 0 <= verdict.score < verdict.max_score
    assert verdict.diagnosis is not None, verdict.message
    assert verdict.diagnosis.slug == answer.slug, verdict.message
    core = {group.claim for group in exercises_of(answer.lesson)[answer.exercise].groups[:1]}
    core |= {"two calls agree"}  # what differs from itself earns nothing
    fails_at_the_core = any(line.holds is False for line in verdict.lines if line.claim in core)
    assert (verdict.score == 0) == fails_at_the_core, verdict
    assert score_by_fresh_seeds(answer) == verdict.score


@pytest.mark.parametrize("answer", RIGHT, ids=str)
def test_right_answer_earns_all_points(answer: Answer, judged: Judge) -> None:
    verdict = judged(answer)
    assert (verdict.status, verdict.score) == ("PASS", verdict.max_score), verdict.message
    assert verdict.diagnosis is None
    assert all(line.holds for line in verdict.lines)
    assert score_by_fresh_seeds(answer) == verdict.max_score


@pytest.mark.parametrize("exercise", EXERCISES, ids=named)
def test_first_group_is_the_core_and_the_only_one(exercise: Exercise) -> None:
    assert [group.core for group in exercise.groups] == [True] + [False] * (
        len(exercise.groups) - 1
    )


@pytest.mark.parametrize(
    ("exercise", "mistake"), BANK, ids=[f"{named(e)}-{m.slug}-{i}" for i, (e, m) in enumerate(BANK)]
)
def test_mistake_in_the_bank_differs_from_the_right_answer(
    exercise: Exercise, mistake: Mistake
) -> None:
    for seed in SEEDS:
        differing = 0
        for _, case in generate(exercise, (seed,)):
            right, mistaken = (
                answer_of(exercise.oracle_of(case), case),
                answer_of(mistake.answer, case),
            )
            if right.raises or mistaken.raises:
                differing += right.raises != mistaken.raises
                continue
            pairs = zip(mistaken.values, right.values, strict=True)
            differing += not all(close(a, b, case) for a, b in pairs)
        assert differing > 0, f"seed {seed}"


@pytest.mark.parametrize("exercise", EXERCISES, ids=named)
def test_every_named_mistake_is_made_by_a_learner(exercise: Exercise) -> None:
    made = {
        answer.slug
        for answer in WRONG
        if (answer.lesson, answer.exercise) == (exercise.lesson, exercise.name)
    }
    assert {mistake.slug for mistake in exercise.mistakes} <= made


def test_every_general_mistake_is_made_by_a_learner() -> None:
    assert {answer.slug for answer in WRONG} >= GENERAL


@pytest.mark.parametrize("exercise", EXERCISES, ids=named)
def test_exercise_has_eight_mistakes_and_four_alternates(exercise: Exercise) -> None:
    home = (exercise.lesson, exercise.name)
    assert sum((answer.lesson, answer.exercise) == home for answer in WRONG) >= 8
    assert sum((answer.lesson, answer.exercise) == home for answer in RIGHT) >= 4


def test_answers_have_names_of_their_own() -> None:
    twice = [name for name, times in Counter(map(str, ANSWERS)).items() if times > 1]
    assert not twice


@pytest.mark.lessons(*slugs())
def test_readme_states_the_totals() -> None:
    text = README.read_text(encoding="utf-8")
    assert replaced(text, "totals", promised(ANSWERS)) == text, "make readme"


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
