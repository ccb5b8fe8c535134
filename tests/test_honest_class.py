"""Honest notebooks earn the same points from our grader as from plain nbgrader."""

from __future__ import annotations

import pytest

from benchmarks.honest import ONE_THREAD, Row, compare, grade_both
from benchmarks.side_by_side import Course
from tests.learners.submissions import LESSONS, Submission, the_class

pytestmark = pytest.mark.slow
SEED = 1
EACH = 2  # notebooks a lesson: nbgrader takes seconds for each


def varied(lesson: str) -> list[Submission]:
    """Those who do most to a notebook, of those who are neither all right nor all wrong."""

    def variety(submission: Submission) -> int:
        kinds = {answer.partition(":")[0] for answer in submission.answers.values()}
        return len(submission.habits) + 2 * len({kind == "right" for kind in kinds})

    able = [each for each in the_class(12, [lesson], SEED) if not each.breaks_nbgrader]
    return sorted(able, key=variety, reverse=True)[:EACH]


SAMPLE = [each for lesson in LESSONS for each in varied(lesson)]


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Row]:
    """The sample, graded by both."""
    home = tmp_path_factory.mktemp("honest")
    ours = Course(home / "ours")
    plain = Course(home / "nbgrader", ONE_THREAD, like=ours)
    grade_both(plain, ours, SAMPLE, jobs=1)  # a second one would only start
    return {row.lesson: row for row in compare(plain, ours, SAMPLE)}


@pytest.mark.parametrize("lesson", LESSONS)
def test_scores_are_those_of_nbgrader(rows: dict[str, Row], lesson: str) -> None:
    row = rows[lesson]
    assert not row.broken, "nbgrader gave no scores"
    assert row.submissions == EACH
    assert not row.differences, "\n".join(map(str, row.differences))
    assert row.identical == row.exercises > 0


def test_the_sample_tells_right_from_wrong(rows: dict[str, Row]) -> None:
    """Two graders that give everyone nothing would agree, too."""
    answers = [answer for each in SAMPLE for answer in each.answers.values()]
    right = sum(answer.startswith("right") for answer in answers)
    assert 0 < right < len(answers)
    assert sum(row.earned for row in rows.values()) > 0


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
