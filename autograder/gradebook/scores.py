"""What everyone has in a lesson: the score that `nbgrader export` writes, and who waits for one."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from nbgrader import api
from sqlalchemy import select
from sqlalchemy.orm import Session

from autograder.gradebook.rows import Ids, standings, submitted
from autograder.pages.standing import Standing

GRADED = "graded"
WAITS = "waits for manual grading"
UNGRADED = "not graded"


@dataclass(frozen=True, slots=True)
class Score:
    """One student's.

    Attributes:
        name, email: what nbgrader's gradebook says; '' where it says nothing.
        standing: points by exercise; its total is the score. None who handed nothing in.
        status: GRADED, or why the total is no score yet; '' who handed nothing in.
        handed_in: when, in UTC; None if nobody knows.
    """

    name: str
    email: str
    standing: Standing | None = None
    status: str = ""
    handed_in: datetime | None = None

    @property
    def graded(self) -> Standing | None:
        """The standing, where its total is a score."""
        return self.standing if self.status == GRADED else None


def scores(session: Session, ids: Ids) -> dict[str, Score]:
    """Everyone of a gradebook, by id."""
    grade, notebook, submission = api.Grade, api.SubmittedNotebook, api.SubmittedAssignment
    of_lesson = (
        select(submission.student_id)
        .join(notebook, notebook.assignment_id == submission.id)
        .join(grade, grade.notebook_id == notebook.id)
        .where(submission.assignment_id == ids.assignment)
    )
    waiting = set(session.scalars(of_lesson.where(grade.needs_manual_grade)))
    without = (grade.auto_score.is_(None), grade.manual_score.is_(None))
    ungraded = set(session.scalars(of_lesson.where(*without)))
    stand = standings(session, ids)
    when = {one.student_id: one.timestamp for one, _ in submitted(session, ids)}

    def of(student: api.Student) -> Score:
        name = " ".join(filter(None, [student.first_name, student.last_name]))
        known = Score(name, student.email or "")
        if student.id not in when:
            return known
        missing = student.id in ungraded or student.id not in stand
        status = UNGRADED if missing else WAITS if student.id in waiting else GRADED
        return Score(known.name, known.email, stand.get(student.id), status, when[student.id])

    everyone = session.scalars(select(api.Student).order_by(api.Student.id))
    return {student.id: of(student) for student in everyone}
