"""Tests of the tests: wrong answers are rejected and named, right ones are accepted."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from attnlab.calling.call import Call, Outcome, perform
from attnlab.calling.deadline import Deadline
from attnlab.exercise import SEEDS, Case, Exercise, Mistake
from attnlab.judging.cases import answer_of, generate
from attnlab.judging.judge import judge
from attnlab.lessons import exercises_of, slugs
from tests.answers import Answer, all_answers
from tests.answers.tally import Mark, mark, rows, totals
from tests.readme import README, replaced

ROOT = Path(__file__).parents[1]
ANSWERS = all_answers()
WRONG = [answer for answer in ANSWERS if answer.slug]
RIGHT = [answer for answer in ANSWERS if not answer.slug]
EXERCISES = [exercise for slug in slugs() for exercise in exercises_of(slug).values()]
BANK = [(exercise, mistake) for exercise in EXERCISES for mistake in exercise.mistakes]
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


@cache
def marked(answer: Answer) -> Mark:
    return mark(answer)


def close(mistaken: np.ndarray, right: np.ndarray, case: Case) -> bool:
    """Whether a check would let these numbers pass."""
    if mistaken.shape != right.shape:
        return False
    if case.exact_zeros and (mistaken[right == 0] != 0).any():
        return False
    return bool(np.allclose(mistaken.astype(float), right.astype(float), 0, case.tolerance))


def named(exercise: Exercise) -> str:
    return f"{exercise.lesson}-{exercise.name}"


@pytest.mark.parametrize("answer", WRONG, ids=str)
def test_wrong_answer_loses_points(answer: Answer) -> None:
    verdict = marked(answer).verdict
    assert verdict.status in ("FAIL", "ERROR"), verdict
    assert 0 <= verdict.score < verdict.max_score


@pytest.mark.parametrize("answer", WRONG, ids=str)
def test_wrong_answer_is_named(answer: Answer) -> None:
    verdict = marked(answer).verdict
    assert verdict.diagnosis is not None, verdict.message
    assert verdict.diagnosis.slug == answer.slug, verdict.message


@pytest.mark.parametrize("answer", WRONG, ids=str)
def test_answer_wrong_at_the_core_earns_nothing(answer: Answer) -> None:
    verdict = marked(answer).verdict
    core = {group.claim for group in exercises_of(answer.lesson)[answer.exercise].groups[:1]}
    fails_at_the_core = any(line.holds is False for line in verdict.lines if line.claim in core)
    assert (verdict.score == 0) == fails_at_the_core, verdict


@pytest.mark.parametrize("answer", RIGHT, ids=str)
def test_right_answer_earns_all_points(answer: Answer) -> None:
    verdict = marked(answer).verdict
    assert (verdict.status, verdict.score) == ("PASS", verdict.max_score), verdict.message
    assert verdict.diagnosis is None
    assert all(line.holds for line in verdict.lines)


@pytest.mark.parametrize("answer", ANSWERS, ids=str)
def test_fresh_seeds_judge_alike(answer: Answer) -> None:
    exercise, deadline = exercises_of(answer.lesson)[answer.exercise], Deadline(8.0)

    def call_here(call: Call) -> Outcome:
        return perform(answer.function, call, deadline)

    verdict = judge(exercise, call_here, seeds=(2001, 2002))
    assert (verdict.status == "PASS") == (not answer.slug), verdict.message
    assert verdict.score == marked(answer).verdict.score


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
            right, mistaken = answer_of(exercise.oracle, case), answer_of(mistake.answer, case)
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


def test_readme_states_the_totals() -> None:
    text = README.read_text(encoding="utf-8")
    assert replaced(text, "totals", totals(rows(map(marked, ANSWERS)))) == text, "make readme"


def printed_table(*lessons: str, more: str = "") -> subprocess.CompletedProcess[str]:
    """What `python -m tests.answers` does when these are all of the lessons."""
    program = (
        "import runpy, tests.answers as answers\n"
        f"answers.slugs = lambda: {lessons!r}\n{more}\n"
        "runpy.run_module('tests.answers.__main__')\n"
    )
    return subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True)


def test_table_is_printed() -> None:
    table = printed_table("01-soft-lookup")
    assert table.returncode == 0, table.stderr
    answers = [answer for answer in ANSWERS if answer.lesson == "01-soft-lookup"]
    assert totals(rows(map(marked, answers))) in table.stdout
    assert all(name in table.stdout for name in exercises_of("01-soft-lookup"))


def test_a_miss_is_an_error() -> None:
    table = printed_table(
        more="answers.Lesson('01-soft-lookup').right('softmax')(lambda scores: scores)"
    )
    assert table.returncode == 1
    assert "<lambda>" in table.stderr
