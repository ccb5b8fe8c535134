"""What is known of everybody in a lesson once it was graded: from the journal and the gradebook."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from attnlab.ipynb.handed_in import in_nfc
from attnlab.ipynb.read import read as read_notebook
from autograder import Problem
from autograder.gradebook.course import Course
from autograder.gradebook.gradebook import Gradebook
from autograder.pages.standing import Standing
from autograder.pages.summary import is_written
from autograder.run.history import read
from autograder.run.journal import NAME, Line
from autograder.submission import handed_in
from autograder.submission.lessons import points_in, released_text
from autograder.term import roster

_STUCK = 2  # hand-ins in a row that brought nothing


@dataclass(frozen=True, slots=True)
class Student:
    """One student who was graded.

    Attributes:
        id: what the gradebook calls them.
        result: of the hand-in that counts, as `Result.as_json` has it.
        lost: claims that earned less than they are worth, by exercise, as the journal has them;
            None where it was written before it kept them.
        scores: of each hand-in, in order.
        marks: points by exercise; a person's, where one gave them.
        penalty: points that lateness costs; they are in no mark.
    """

    id: str
    result: Mapping[str, Any]
    lost: Mapping[str, Sequence[Mapping[str, Any]]] | None
    scores: tuple[float, ...]
    marks: Mapping[str, float]
    penalty: float = 0.0

    @property
    def is_graded(self) -> bool:
        """Whether there was a notebook to grade."""
        return bool(self.result["status"] != "INVALID")

    @property
    def score(self) -> float:
        return sum(self.marks.values())

    @property
    def in_vain(self) -> int:
        """How many hand-ins there were since one came to more than all before it."""
        best = max(self.scores)
        return len(self.scores) - 1 - self.scores.index(best)

    @property
    def why_stuck(self) -> str:
        """Why a person may want to speak with them, '' if nothing says so."""
        if not self.is_graded or self.score >= self.result["max_score"]:
            return ""
        if self.in_vain >= _STUCK:
            return f"{len(self.scores)} hand-ins, and the last {self.in_vain} came to no more"
        written = sum(map(is_written, self.result["exercises"]))
        if self.score == 0 and written:
            return "0 points, though something was written"
        return ""


@dataclass(frozen=True, slots=True)
class ClassResults:
    """A lesson's class.

    Attributes:
        exercises: points of each, in the lesson's order.
        students: who was graded, by id, in order.
        waiting: who handed in and was not graded yet.
        absent: who handed in nothing.
        from_roster: whether `absent` is of the roster; else it is of the gradebook's students.
        people: by student, whatever else they are called.
    """

    lesson: str
    exercises: Mapping[str, float]
    students: Sequence[Student]
    waiting: Sequence[str] = ()
    absent: Sequence[str] = ()
    from_roster: bool = False
    people: Mapping[str, Sequence[str]] = field(default_factory=dict)

    @property
    def graded(self) -> list[Student]:
        """Those whose notebook could be graded."""
        return [student for student in self.students if student.is_graded]

    @property
    def points(self) -> float:
        return sum(self.exercises.values())


def results_of(course: Course, lesson: str) -> ClassResults:
    """What is known of a class; nothing is changed.

    Raises:
        Problem: nobody was graded, or the roster is amiss.
        GradebookError: the gradebook cannot be read.
    """
    submitted, released = course.submitted(".", "."), course.released(lesson)
    path = submitted.parent / "runs" / lesson / NAME
    there = handed_in.students(submitted, lesson)
    lines = _by_student(read(path)) if path.exists() else {}
    if not lines:
        if not there:
            raise Problem(
                f"Nobody has handed in {lesson}: nothing in {submitted} has its name, and nobody "
                "was graded in it."
            )
        raise Problem(f"Nobody was graded in {lesson} yet. First: make grade LESSON={lesson}")
    with Gradebook(course, make=False) as gradebook:
        standings = gradebook.standings(lesson)
        people: dict[str, Sequence[str]] = {**gradebook.people()}
    students = [_student(name, lines[name], standings.get(name)) for name in sorted(lines)]
    known, from_roster = _everyone(submitted.parent / roster.NAME, standings, people)
    waiting = {in_nfc(name) for name in there} - _names(lines)
    absent = known - _names(lines) - waiting
    return ClassResults(
        lesson,
        _exercises(students) or points_in(read_notebook(released_text(released).encode())),
        students,
        sorted(waiting),
        sorted(absent),
        from_roster,
        people | {name: people.get(name, ()) for name in (*lines, *known, *waiting)},
    )


def _by_student(lines: Iterable[Line]) -> dict[str, list[Line]]:
    found: dict[str, list[Line]] = {}
    for line in lines:
        found.setdefault(line["result"]["student"], []).append(line)
    return found


def _names(lines: Mapping[str, Sequence[Line]]) -> set[str]:
    """Students by the name that is shown, and by that of the folder."""
    return {in_nfc(name) for key, found in lines.items() for name in (key, found[-1]["folder"])}


def _student(name: str, lines: Sequence[Line], standing: Standing | None) -> Student:
    standing_ones = [line for line in lines if line.get("stands", True)]
    line = (standing_ones or lines)[-1]
    result = line["result"]
    marks = {item["name"]: item["score"] for item in result["exercises"]}
    if standing is not None:
        marks |= {
            exercise: mark.score
            for exercise, mark in standing.marks.items()
            if exercise in marks or not marks
        }
    scores: dict[str, float] = {}  # a hand-in that was graded again has its last score
    for each in lines:
        scores[each["fingerprint"]] = each["result"]["score"]
    penalty = standing.penalty if standing else 0.0
    return Student(name, result, line.get("lost"), tuple(scores.values()), marks, penalty)


def _exercises(students: Sequence[Student]) -> dict[str, float]:
    """Names and points, as the last who were graded have them."""
    found: dict[str, float] = {}
    for student in students:
        for item in student.result["exercises"]:
            found[item["name"]] = item["max_score"]
    return found


def _everyone(
    path: Path, standings: Mapping[str, Any], people: dict[str, Sequence[str]]
) -> tuple[set[str], bool]:
    """Whoever should hand in: the roster, if there is one; `people` learns what it calls them.

    Raises:
        Problem: something in the roster is amiss.
    """
    if not path.exists():
        return set(standings), False
    students = roster.read(path)
    for each in students:
        more = filter(None, [each.name, each.email, *each.lms.values()])
        people[each.id] = (*people.get(each.id, ()), *more)
    return {each.id for each in students}, True
