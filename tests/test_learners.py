"""The synthetic class: honest, varied, and the same for the same seed."""

from __future__ import annotations

from functools import cache

import nbformat
import pytest

from attnlab.lessons import exercises_of
from attnlab.notebook import check
from tests.answers import all_answers
from tests.course import ROOT
from tests.learners.answers import Written, bank, unfinished
from tests.learners.front_ends import FRONT_ENDS
from tests.learners.habits import HABITS
from tests.learners.submissions import LESSONS, Submission, names, the_class

pytestmark = pytest.mark.slow

# By (lesson, exercise, mistake, label), as far as an answer is a definition with marks above it.
BANK = {
    (lesson, each.exercise, each.made, each.label): each
    for lesson in LESSONS
    for each in bank(lesson)
}
SOME = list(BANK)[::23]


@cache
def some_class(students: int = 24, seed: int = 3) -> tuple[Submission, ...]:
    return tuple(the_class(students, LESSONS, seed))


def text_of(written: Written) -> str:
    return "\n\n".join([*written.imports, *written.helpers, written.source])


def test_another_seed_another_class() -> None:
    assert some_class(3, 2) != some_class(3, 1)


def test_same_seed_same_class_however_large() -> None:
    first = set(names(3))
    assert list(some_class(3)) == [each for each in some_class() if each.student in first]


def test_every_habit_and_front_end_is_in_a_class() -> None:
    assert {name for each in some_class() for name in each.habits} == {each.name for each in HABITS}
    assert {each.front_end for each in some_class()} == set(FRONT_ENDS)


def test_answers_are_right_wrong_and_unfinished() -> None:
    kinds = {answer.partition(":")[0] for each in some_class() for answer in each.answers.values()}
    assert kinds >= {"right", "unfinished", "no-scale"}
    assert any(not each.answers for each in some_class())  # not begun


@pytest.mark.parametrize("front_end", FRONT_ENDS)
def test_what_a_front_end_saves_can_be_opened(front_end: str) -> None:
    saved = [each for each in some_class() if each.front_end == front_end]
    assert saved
    for each in saved:
        notebook = nbformat.reads(each.text, as_version=4)
        named = {cell.metadata.get("nbgrader", {}).get("grade_id") for cell in notebook.cells}
        assert named >= set(exercises_of(each.lesson)) | {"setup"}


def test_almost_every_answer_of_the_bank_can_be_cut_out() -> None:
    filed = {
        (each.lesson, each.exercise, each.slug, each.label)
        for each in all_answers()
        if each.written
    }
    assert set(BANK) <= filed
    whole = {key for key in filed if key[1] not in ("tiled_attention", "KVCache")}
    assert len(whole & set(BANK)) > 0.85 * len(whole)  # the others exchange a part of one


@pytest.mark.parametrize("key", SOME, ids="-".join)
def test_an_answer_that_is_cut_out_is_the_same_answer(key: tuple[str, str, str, str]) -> None:
    """That is, it is judged as `test_answers` judges that one."""
    lesson, exercise, made, _ = key
    space: dict[str, object] = {"__name__": "__main__"}
    exec(text_of(BANK[key]), space)
    verdict = check(space[exercise], name=exercise, lesson=lesson).verdict
    named = verdict.diagnosis.slug if verdict.diagnosis else ""
    assert (verdict.status == "PASS", named) == (not made, made)


@pytest.mark.parametrize("lesson", LESSONS)
def test_unfinished_answers_earn_nothing(lesson: str) -> None:
    released = nbformat.read(ROOT / "notebooks" / lesson / f"{lesson}.ipynb", as_version=4)
    setup = next(cell.source for cell in released.cells if cell.cell_type == "code")
    stubs = {
        cell.metadata.nbgrader.grade_id: cell.source
        for cell in released.cells
        if cell.metadata.get("nbgrader", {}).get("solution")
    }
    for exercise in exercises_of(lesson):
        for written in unfinished(exercise, stubs[exercise]):
            space: dict[str, object] = {}
            exec(setup, space)
            try:
                exec(written.source, space)
            except SyntaxError:
                continue
            if exercise in space:
                card = check(space[exercise], name=exercise, lesson=lesson)
                assert card.verdict.score == 0, written
