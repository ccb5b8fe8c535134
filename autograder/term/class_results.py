"""What is known of everybody in a lesson once it was graded: from the journal and the gradebook."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
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
    def why_stuck(self) -> str:
        """Why a person may want to speak with them, '' if nothing says so."""
        if not self.is_graded or self.score >= self.result["max_score"]:
            return ""
        in_vain = len(self.scores) - 1 - self.scores.index(max(self.scores))
        if in_vain >= _STUCK:
            return f"{len(self.scores)} hand-ins, and the last {in_vain} came to no more"
        written = self.score == 0 and any(map(is_written, self.result["exercises"]))
        return "0 points, though something was written" if written else ""


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


def results_of(course: Course, lesson: str) -> ClassResults:
    """What is known of a class; nothing is changed.

    Raises:
        Problem: nobody was graded, or the roster is amiss.
        GradebookError: the gradebook cannot be read.
    """
    submitted, path = course.submitted(".", "."), course.submitted(".", ".").parent / roster.NAME
    journal = path.parent / "runs" / lesson / NAME
    there = handed_in.students(submitted, lesson)
    lines: dict[str, list[Line]] = {}
    for line in read(journal) if journal.exists() else ():
        lines.setdefault(line["result"]["student"], []).append(line)
    if not lines:
        raise Problem(
            f"Nobody was graded in {lesson} yet. First: make grade LESSON={lesson}"
            if there
            else f"Nobody has handed in {lesson}: nothing in {submitted} has its name, and nobody "
            "was graded in it."
        )
    with Gradebook(course, make=False) as gradebook:
        standings = gradebook.standings(lesson)
        people: dict[str, Sequence[str]] = {**gradebook.people()}
    listed = roster.read(path) if path.exists() else []
    for each in listed:
        more = filter(None, [each.name, each.email, *each.lms.values()])
        people[each.id] = (*people.get(each.id, ()), *more)
    known = {each.id for each in listed} if path.exists() else set(standings)
    students = [_student(name, lines[name], standings.get(name)) for name in sorted(lines)]
    # By the name that is shown, and by that of the folder.
    named = {in_nfc(name) for key, said in lines.items() for name in (key, said[-1]["folder"])}
    waiting = {in_nfc(name) for name in there} - named
    exercises = {  # as the last who were graded have them
        item["name"]: item["max_score"] for each in students for item in each.result["exercises"]
    }
    return ClassResults(
        lesson,
        exercises or points_in(read_notebook(released_text(course.released(lesson)).encode())),
        students,
        sorted(waiting),
        sorted(known - named - waiting),
        path.exists(),
        people | {name: people.get(name, ()) for name in (*lines, *known, *waiting)},
    )


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
