"""Honest notebooks earn the same points from our grader as from plain nbgrader."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from benchmarks.honest import ONE_THREAD, Row, compare, grade_both
from benchmarks.side_by_side import Course
from tests import small_class
from tests.learners.submissions import LESSONS, Submission, the_class

pytestmark = pytest.mark.slow
SEED = 1
EACH = 1  # a lesson: nbgrader takes seconds for each


def varied(lesson: str) -> list[Submission]:
    """Those who do most to a notebook, of those who are neither all right nor all wrong."""

    def variety(submission: Submission) -> int:
        kinds = {answer.partition(":")[0] for answer in submission.answers.values()}
        return len(submission.habits) + 2 * len({kind == "right" for kind in kinds})

    able = [each for each in the_class(12, [lesson], SEED) if not each.breaks_nbgrader]
    return sorted(able, key=variety, reverse=True)[:EACH]


@pytest.mark.parametrize("lesson", LESSONS)
def test_scores_are_those_of_nbgrader(tmp_path: Path, lesson: str) -> None:
    for name in ("ours", "nbgrader"):
        (tmp_path / name).mkdir()
    small_class.make_course(tmp_path / "ours", lesson)
    shutil.copytree(tmp_path / "ours", tmp_path / "nbgrader", dirs_exist_ok=True)
    plain, ours = Course(tmp_path / "nbgrader", ONE_THREAD), Course(tmp_path / "ours")
    sample = varied(lesson)
    grade_both(plain, ours, sample, jobs=1)  # a second one would only start
    [row] = compare(plain, ours, sample)
    assert not row.broken, "nbgrader gave no scores"
    assert row.submissions == EACH
    assert not row.differences, "\n".join(map(str, row.differences))
    assert row.identical == row.exercises > 0
    assert row.earned > 0  # two graders that give everyone nothing would agree, too


def test_the_sample_tells_right_from_wrong() -> None:
    answers = [answer for lesson in LESSONS for answer in varied(lesson)[0].answers.values()]
    right = sum(answer.startswith("right") for answer in answers)
    assert 0 < right < len(answers)


def test_a_difference_is_found_and_told() -> None:
    [one] = varied(LESSONS[0])[:1]
    plain = _Scores({one.student: {"softmax": 2.0, "soft_lookup": 1.0}})
    ours = _Scores({one.student: {"softmax": 2.0, "soft_lookup": 3.0}})
    [row] = compare(plain, ours, [one])
    [difference] = row.differences
    assert (row.exercises, row.identical) == (2, 1)
    assert "soft_lookup: nbgrader 1.0, ours 3.0" in str(difference)
    assert one.front_end in str(difference)


def test_what_nbgrader_cannot_grade_is_left_out() -> None:
    [one] = varied(LESSONS[0])[:1]
    [row] = compare(_Scores({one.student: {"softmax": None}}), _Scores({}), [one])
    assert (row.broken, row.exercises) == ([one], 0)


class _Scores:
    """A course that has been graded."""

    def __init__(self, scores: dict[str, dict[str, float | None]]) -> None:
        self._scores = scores

    def scores(self, lesson: str) -> dict[str, dict[str, float | None]]:
        return self._scores
