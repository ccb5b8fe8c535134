"""Whatever goes wrong with one submission, in any step, is told by its name; the rest is graded."""

from __future__ import annotations

import decimal
import pkgutil
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from attnlab.lessons import exercises_of
from autograder.gradebook import gradebook
from autograder.run import classes
from autograder.run.journal import Journal
from autograder.run.marking import GradesOne, Job, OpensGrader, open_grader
from autograder.submission import handed_in as submitting
from autograder.submission import timestamps
from autograder.submission.folder import Submission
from autograder.submission.results import Graded
from tests.fake_grader import open_fake
from tests.small_class import Results, grade, hand_in, make_course, recorded
from tests.test_grade import notebook

pytestmark = pytest.mark.slow

LESSON = "01-soft-lookup"
BAD = "s3"
CLASS = ["s1", "s2", BAD, "s4", "s5"]
# In a worker; the last of the first list ends one exercise alone.
IN_A_WORKER = [
    "autograder.run.grade.read",
    "autograder.run.grade.rebuild",
    "autograder.run.grade.make_plan",
    "autograder.submission.plan.lookups.relied_on",
    "autograder.run.grade.Link",
    "autograder.sandbox.sandbox.Sandbox.start",
    "autograder.run.grade.notebook_text",
    "autograder.run.grade._flags",
    "autograder.pages.report.as_html",
    "autograder.pages.feedback.render",
]
IN_ONE_EXERCISE = ["autograder.run.grade.judge", "attnlab.checks.judge.diagnose"]
ERRORS = (decimal.InvalidOperation, MemoryError, RecursionError, UnicodeError, AssertionError)


@dataclass(frozen=True)
class Breaking:
    """Opens the real Grader; a step raises at a student.

    Attributes:
        steps: by student, the step and what it raises.
    """

    steps: Mapping[str, tuple[str, type[Exception]]]

    @contextmanager
    def __call__(self, job: Job) -> Iterator[GradesOne]:
        with open_grader(job) as grader, pytest.MonkeyPatch.context() as patch:
            graded: list[str] = []
            whole = grader.grade

            def grade_one(data: Any, student: str, *args: Any) -> Any:
                graded.append(student)
                return whole(data, student, *args)

            for student, (step, error) in self.steps.items():
                real = pkgutil.resolve_name(step)
                patch.setattr(step, self._broken(student, real, error, graded))
            patch.setattr(grader, "grade", grade_one)
            yield grader

    @staticmethod
    def _broken(student: str, step: Any, error: type[Exception], graded: list[str]) -> Any:
        def breaks(*args: Any, **kwargs: Any) -> Any:
            if graded and graded[-1] == student:
                raise error("injected")
            return step(*args, **kwargs)

        return breaks


@pytest.fixture(scope="module")
def handed_in(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A course in which five have handed in the right notebook, and one of them a time as well."""
    folder = make_course(tmp_path_factory.mktemp("course"), LESSON)
    for student in CLASS:
        path = hand_in(folder, student, notebook(slug=LESSON), LESSON)
        path.with_name("timestamp.txt").write_text("2026-01-01 10:00:00 UTC")
    return folder


@pytest.fixture
def course(handed_in: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of it, as the current folder."""
    folder = Path(shutil.copytree(handed_in, tmp_path / "course"))
    monkeypatch.chdir(folder)
    return folder


def graded(course: Path, opens: OpensGrader = open_fake) -> Results:
    return grade(course, opens, lesson=LESSON, seed=1)


def assert_told(results: Results, said: str) -> None:
    assert [result["student"] for result in results] == CLASS
    most = sum(exercise.points for exercise in exercises_of(LESSON).values())
    for result in results:
        if result["student"] == BAD:
            assert_failed(result, said)
        else:
            assert result["status"] == "GRADED"
        assert result["max_score"] == most


def assert_failed(result: dict[str, Any], said: str) -> None:
    assert (result["status"], result["score"]) == ("INVALID", 0.0)
    assert "The grader itself failed" in result["message"]
    assert result["student"] in said


@pytest.mark.parametrize("failing", [IN_A_WORKER[:5], IN_A_WORKER[5:]], ids=["first", "last"])
def test_what_fails_in_a_worker_costs_one_submission(
    course: Path, capfd: pytest.CaptureFixture[str], failing: list[str]
) -> None:
    """Each step fails for a student of its own, and between them sit the others."""
    steps = {
        f"s{number}0": (step, error)
        for number, (step, error) in enumerate(zip(failing, ERRORS, strict=True), 1)
    }
    for student in steps:
        hand_in(course, student, notebook(slug=LESSON), LESSON)
    results = {result["student"]: result for result in graded(course, Breaking(steps))}
    said = capfd.readouterr().err
    assert set(results) == {*CLASS, *steps}
    assert {results[student]["score"] for student in CLASS} == {results["s1"]["max_score"]}
    for student in steps:
        assert_failed(results[student], said)
        page = course / "class" / "feedback" / student / LESSON / f"{LESSON}.html"
        assert "The grader itself failed" in page.read_text("utf-8")


def test_what_fails_while_one_exercise_is_judged_is_told_there(course: Path) -> None:
    steps = {f"s{number}0": (step, ValueError) for number, step in enumerate(IN_ONE_EXERCISE, 1)}
    wrong = {"softmax": "def softmax(scores):\n    return [0.5 for _ in scores]"}
    for student in steps:
        hand_in(course, student, notebook(wrong), LESSON)
    results = {result["student"]: result for result in graded(course, Breaking(steps))}
    for student in steps:
        bad = results[student]
        found = {exercise["name"]: exercise for exercise in bad["exercises"]}
        assert bad["status"] == "GRADED"
        assert found["softmax"]["status"] == "ERROR"
        assert "A person has to look at it" in found["softmax"]["message"]


HERE: dict[str, tuple[Any, str]] = {
    "found": (submitting, "found"),
    "its time": (timestamps, "note"),
    "put aside": (timestamps, "put_aside"),
    "its name": (classes, "check_name"),
    "its fingerprint": (classes._Run, "_is_done"),
    "its rows": (gradebook.Gradebook, "_fill"),
    "its files": (gradebook.Gradebook, "_write"),
    "its page": (gradebook.Gradebook, "_write_page"),
    "its comments": (gradebook, "_comments"),
}


def _failing_at(student: str, step: Any) -> Any:
    """A step that fails wherever an argument is of this student."""

    def is_theirs(argument: Any) -> bool:
        if isinstance(argument, Graded):
            return argument.result.student == student
        if isinstance(argument, Submission):
            return argument.folder == student
        return isinstance(argument, str | Path) and student in Path(argument).parts

    def fails(*args: Any) -> Any:
        if any(map(is_theirs, args)):
            raise decimal.InvalidOperation("injected")
        return step(*args)

    return fails


@pytest.mark.parametrize("failing", [list(HERE)[:5], list(HERE)[5:]], ids=["first", "last"])
def test_what_fails_in_the_main_process_costs_one_submission(
    course: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    failing: list[str],
) -> None:
    """Each step fails for a student who is called like it; a terminal is told of five by name."""
    for student in failing:
        target, name = HERE[student]
        path = hand_in(course, student, notebook(slug=LESSON), LESSON)
        path.with_name("timestamp.txt").write_text("2026-01-01 10:00:00 UTC")
        monkeypatch.setattr(target, name, _failing_at(student, getattr(target, name)))
    results = {result["student"]: result for result in graded(course)}
    said = capfd.readouterr().err
    assert set(results) == {*CLASS, *failing}
    for student, result in results.items():
        if student in failing:
            assert_failed(result, said)
        else:
            assert result["status"] == "GRADED"
    assert {row[0] for row in recorded(course)["students"]} >= set(CLASS)


@pytest.mark.parametrize("step", ["autograded", "feedback"])
def test_what_is_in_the_way_of_one_students_files_costs_that_one(
    course: Path, capfd: pytest.CaptureFixture[str], step: str
) -> None:
    graded(course)
    shutil.rmtree(course / "class" / step / BAD)
    (course / "class" / step / BAD).write_text("mine")
    assert_told(graded(course), capfd.readouterr().err)
    assert (course / "class" / step / BAD).read_text() == "mine"


def test_what_cannot_even_be_noted_is_told_and_graded_again(
    course: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    add = Journal.add

    def fails(journal: Journal, entries: Any) -> None:
        entries = list(entries)
        if any(entry["folder"] == BAD for entry in entries):
            raise ValueError("injected")
        add(journal, entries)

    with monkeypatch.context() as patch:
        patch.setattr(Journal, "add", fails)
        assert_told(graded(course), capfd.readouterr().err)
    assert {result["status"] for result in grade(course, lesson=LESSON, resume=True)} == {"GRADED"}
