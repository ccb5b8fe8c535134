"""Honest notebooks earn the same points from our grader as from plain nbgrader."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import autograder.gradebook.course
from autograder.gradebook.gradebook import Gradebook
from benchmarks.honest import ONE_THREAD, compare, grade_both
from benchmarks.side_by_side import Course
from tests.course import released_path
from tests.learners.submissions import LESSONS, Submission, the_class

pytestmark = pytest.mark.slow
SEED = 1
SAMPLE = ("02-pure-python", "05-pytorch")  # `test_nbgrader` has 03; `make prove` asks all


def varied(lesson: str) -> Submission:
    """Who does most to a notebook, of those who are right somewhere, and wrong if there is room."""

    def variety(submission: Submission) -> int:
        kinds = {answer.partition(":")[0] for answer in submission.answers.values()}
        return len(submission.habits) + 2 * len({kind == "right" for kind in kinds})

    able = [
        each
        for each in the_class(12, [lesson], SEED)
        if not each.breaks_nbgrader
        and any(answer.startswith("right") for answer in each.answers.values())
    ]
    return max(able, key=variety)


@pytest.mark.parametrize(
    "lesson",
    [each if each in SAMPLE else pytest.param(each, marks=pytest.mark.prove) for each in LESSONS],
)
def test_scores_are_those_of_nbgrader(course: Path, lesson: str) -> None:
    """That nbgrader gives right answers their points is in `test_nbgrader.py`."""
    folder = course / "notebooks" / lesson
    shutil.copytree(released_path(lesson).parent, folder, dirs_exist_ok=True)
    with Gradebook(autograder.gradebook.course.Course.here()) as gradebook:
        gradebook.prepare(lesson)
    copied = Path(shutil.copytree(course, course.parent / "nbgrader"))
    plain, ours = Course(copied, ONE_THREAD), Course(course)
    one = varied(lesson)
    right = [answer.startswith("right") for answer in one.answers.values()]
    assert any(right)
    assert len(right) == 1 or not all(right)
    grade_both(plain, ours, [one], jobs=1)  # a second one would only start
    [row] = compare(plain, ours, [one])
    assert not row.broken, "nbgrader gave no scores"
    assert not row.differences, "\n".join(map(str, row.differences))
    assert row.identical == row.exercises == len(one.answers)


def test_a_difference_is_found_and_told() -> None:
    one = varied(LESSONS[0])
    plain = _Scores({one.student: {"softmax": 2.0, "soft_lookup": 1.0}})
    ours = _Scores({one.student: {"softmax": 2.0, "soft_lookup": 3.0}})
    [row] = compare(plain, ours, [one])
    [difference] = row.differences
    assert (row.exercises, row.identical) == (2, 1)
    assert "soft_lookup: nbgrader 1.0, ours 3.0" in str(difference)
    assert one.front_end in str(difference)


def test_what_nbgrader_cannot_grade_is_left_out() -> None:
    one = varied(LESSONS[0])
    [row] = compare(_Scores({one.student: {"softmax": None}}), _Scores({}), [one])
    assert (row.broken, row.exercises) == ([one], 0)


class _Scores:
    """A course that has been graded."""

    def __init__(self, scores: dict[str, dict[str, float | None]]) -> None:
        self._scores = scores

    def scores(self, lesson: str) -> dict[str, dict[str, float | None]]:
        return self._scores
