"""A solution is shown where one was handed out, after a try, and never by the package itself."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import attnlab
from attnlab.home.standing import standings
from attnlab.home.stuck import Solution
from attnlab.lesson import begin
from attnlab.notebook import check
from attnlab.work import progress
from attnlab.work.places import Course
from tests.course import tells
from tests.home import SLUG, make_copies

FOUND = {"softmax": {"code": "def softmax(scores):\n    ...", "why": "Because <of> this.\n\nAnd."}}
ALL = json.dumps({"v": 1, "solutions": {SLUG: FOUND}})


@pytest.fixture
def course(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Course:
    """A course with solutions, in the folder of whose first lesson a notebook runs."""
    course = make_copies(tmp_path)
    (course.root / "solutions.json").write_text(ALL, encoding="utf-8")
    monkeypatch.chdir(course.work / SLUG)
    begin(SLUG)
    return course


def softmax(scores: list[float]) -> list[float]:
    return scores


def unwritten(scores: list[float]) -> list[float]:
    raise NotImplementedError("This exercise is not written yet.")


def softmax_of(course: Course) -> str:
    [lesson] = standings(course, progress.read(course).records)
    return next(one.said for one in lesson.exercises if one.name == "softmax")


def test_after_a_real_attempt_it_is_shown_and_marked_and_asks_for_ones_own(course: Course) -> None:
    check(softmax)
    shown = attnlab.solution("softmax")
    assert isinstance(shown, Solution)
    assert "def softmax(scores):" in repr(shown)
    assert tells(repr(shown), "your own version", "check(softmax)")
    assert "Because &lt;of&gt; this." in shown._repr_html_()
    assert softmax_of(course) == "not right yet, solution read"
    progress.note(SLUG, "softmax", "PASS", 2, 2)
    assert softmax_of(course) == "right, after reading the solution"


def test_reading_it_once_it_is_right_takes_nothing_away(course: Course) -> None:
    progress.note(SLUG, "softmax", "PASS", 2, 2)
    assert isinstance(attnlab.solution(softmax), Solution)
    assert softmax_of(course) == "right"


def test_it_is_not_shown_before_an_attempt(course: Course) -> None:
    assert "Try it yourself first" in str(attnlab.solution("softmax"))
    check(unwritten, name="softmax")
    assert "Try it yourself first" in str(attnlab.solution("softmax"))
    assert softmax_of(course) == "open"


def test_a_hand_out_without_solutions_says_so(
    course: Course, monkeypatch: pytest.MonkeyPatch
) -> None:
    check(softmax)
    (course.root / "solutions.json").rename(course.root / "elsewhere.json")
    assert "came without solutions" in str(attnlab.solution("softmax"))
    monkeypatch.chdir("/")
    assert "came without solutions" in str(attnlab.solution("softmax"))


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"solutions": {"01-soft-lookup": 3}}'])
def test_a_broken_file_says_so(text: str, course: Course) -> None:
    check(softmax)
    (course.root / "solutions.json").write_text(text)
    assert "that can be read" in str(attnlab.solution("softmax"))


@pytest.mark.parametrize(
    ("exercise", "lesson", "said"),
    [
        ("nothing", "", "has no exercise 'nothing': hard_lookup, softmax, soft_lookup."),
        ("softmax", "99-no", "There is no lesson '99-no'"),
    ],
)
def test_what_is_not_there_is_answered_with_what_is(
    exercise: str, lesson: str, said: str, course: Course
) -> None:
    assert said in str(attnlab.solution(exercise, lesson))
