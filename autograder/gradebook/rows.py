"""nbgrader's rows for a lesson and for what was handed in of it: found, or made as nbgrader would.

Everything goes through nbgrader's models. Its own `find_*` methods ask for one row at a time, and
commit at every step; these ask for a batch, and leave the transaction to the caller.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode
from nbgrader import api, utils
from sqlalchemy import delete, func, select, update
from sqlalchemy.orm import Session, load_only

from autograder.pages.standing import PLACES, Mark, Standing
from autograder.pages.summary import Remarks

CHECK = "-check"  # an exercise's grade cell is named for its solution cell
_COLUMNS: dict[Any, tuple[Any, ...]] = {
    api.Grade: (
        api.Grade.auto_score,
        api.Grade.manual_score,
        api.Grade.extra_credit,
        api.Grade.needs_manual_grade,
    ),
    api.Comment: (api.Comment.auto_comment,),
}
_OF_CELLS: dict[Any, tuple[str, ...]] = {
    api.GradeCell: ("max_score", "cell_type"),
    api.SolutionCell: (),
    api.SourceCell: ("source", "checksum", "locked", "cell_type"),
}


@dataclass(frozen=True, slots=True)
class Lesson:
    """A released notebook.

    Attributes:
        name: of the lesson, and of its assignment and its notebook in nbgrader.
        cells: those that nbgrader knows.
        stubs: source of each solution cell, by name.
    """

    name: str
    notebook: NotebookNode
    cells: tuple[NotebookNode, ...]
    stubs: Mapping[str, str]

    @property
    def points(self) -> dict[str, float]:
        """What each exercise is worth."""
        graded = filter(utils.is_grade, self.cells)
        return {
            _name(cell).removesuffix(CHECK): float(cell.metadata.nbgrader.points) for cell in graded
        }

    @classmethod
    def read(cls, name: str, path: Path) -> Lesson:
        """Read a released notebook.

        Raises:
            OSError: it cannot be opened.
        """
        notebook = nbformat.read(path, as_version=4)
        known = (utils.is_grade, utils.is_solution, utils.is_locked)
        cells = [cell for cell in notebook.cells if any(is_it(cell) for is_it in known)]
        stubs = {_name(cell): cell.source for cell in cells if utils.is_solution(cell)}
        return cls(name, notebook, tuple(cells), stubs)


@dataclass(frozen=True, slots=True)
class Ids:
    """A lesson's ids in the gradebook; `grades` and `comments` are of cells, by name.

    Attributes:
        duedate: in UTC, without extensions.
    """

    assignment: str
    notebook: str
    duedate: datetime | None
    grades: Mapping[str, str]
    comments: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Rows:
    """One student's submission in the gradebook; `grades` and `comments` are by cells' names."""

    submission: api.SubmittedAssignment
    notebook: api.SubmittedNotebook
    grades: dict[str, api.Grade]
    comments: dict[str, api.Comment]


@dataclass(frozen=True, slots=True)
class Person:
    """What nbgrader keeps of a student besides scores; '' where nobody said."""

    id: str
    first_name: str = ""
    last_name: str = ""
    email: str = ""
    lms_user_id: str = ""


def add_lesson(
    session: Session, lesson: Lesson, course_id: str, follow: bool = False
) -> dict[str, float]:
    """Add what a gradebook lacks of a lesson, as nbgrader's `generate_assignment`.

    Args:
        follow: let what is there be as the lesson has it, which nbgrader does for nobody who was
            graded; a score for other points than now goes. Else what is there is not changed.
    Returns:
        the points that were there, by exercise; none where nothing was.
    """
    assignment = session.scalars(
        select(api.Assignment).where(api.Assignment.name == lesson.name)
    ).one_or_none()
    if assignment is None:
        assignment = api.Assignment(name=lesson.name, course_id=course_id)
        session.add(assignment)
        session.flush()
    notebook = session.scalars(
        select(api.Notebook).where(
            api.Notebook.assignment_id == assignment.id, api.Notebook.name == lesson.name
        )
    ).one_or_none()
    if notebook is None:
        kernel = json.dumps(lesson.notebook.metadata.get("kernelspec", {}))
        notebook = api.Notebook(name=lesson.name, assignment_id=assignment.id, kernelspec=kernel)
        session.add(notebook)
        session.flush()
    return _add_cells(session, lesson, notebook.id, follow)


def _add_cells(session: Session, lesson: Lesson, notebook: str, follow: bool) -> dict[str, float]:
    stored = {
        model: {
            row.name: row
            for row in session.scalars(select(model).where(model.notebook_id == notebook))
        }
        for model in _OF_CELLS
    }
    found = {name.removesuffix(CHECK): row.max_score for name, row in stored[api.GradeCell].items()}
    rows = [row for cell in lesson.cells for row in _cell_rows(cell, notebook)]
    if follow:
        _follow(session, rows, stored)
    session.add_all(row for row in rows if row.name not in stored[type(row)])
    return found


def _follow(session: Session, rows: list[Any], stored: Mapping[Any, Mapping[str, Any]]) -> None:
    """Change the cells that are there to what they are now, and remove those that are no more."""
    now = {(type(row), row.name): row for row in rows}
    for model, there in stored.items():
        for name, old in there.items():
            new = now.get((model, name))
            for column in _OF_CELLS[model] if new is not None else ():
                setattr(old, column, getattr(new, column))
            if model is api.GradeCell and session.is_modified(old):
                old_scores = update(api.Grade).where(api.Grade.cell_id == old.id)
                session.execute(old_scores.values(auto_score=None))
            if new is None:
                for of_cell in _COLUMNS if model is not api.SourceCell else ():
                    session.execute(delete(of_cell).where(of_cell.cell_id == old.id))
                session.delete(old)


def _cell_rows(cell: NotebookNode, notebook: str) -> list[Any]:
    """What nbgrader's SaveCells records of a cell."""
    name = _name(cell)
    rows: list[Any] = [
        api.SourceCell(
            name=name,
            notebook_id=notebook,
            cell_type=cell.cell_type,
            locked=utils.is_locked(cell),
            source=cell.source,
            checksum=cell.metadata.nbgrader.get("checksum"),
        )
    ]
    if utils.is_grade(cell):
        points = float(cell.metadata.nbgrader.points)
        kind = cell.cell_type
        rows.append(
            api.GradeCell(name=name, notebook_id=notebook, max_score=points, cell_type=kind)
        )
    if utils.is_solution(cell):
        rows.append(api.SolutionCell(name=name, notebook_id=notebook))
    return rows


def find_ids(session: Session, lesson: str) -> Ids | None:
    """A lesson's ids, None if the gradebook does not have it."""
    found = session.execute(
        select(api.Assignment.id, api.Notebook.id, api.Assignment.duedate)
        .join(api.Notebook, api.Notebook.assignment_id == api.Assignment.id)
        .where(api.Assignment.name == lesson, api.Notebook.name == lesson)
    ).one_or_none()
    if found is None:
        return None
    assignment, notebook, duedate = found
    cell = api.BaseCell
    cells = session.execute(
        select(cell.type, cell.name, cell.id).where(cell.notebook_id == notebook)
    ).all()
    grades = {name: id_ for kind, name, id_ in cells if kind == api.GradeCell.__name__}
    comments = {name: id_ for kind, name, id_ in cells if kind == api.SolutionCell.__name__}
    return Ids(assignment, notebook, duedate, grades, comments)


def auto_scores(session: Session, ids: Ids) -> dict[str, float]:
    """What the autograder gave for a lesson, by student."""
    submission, notebook, grade = api.SubmittedAssignment, api.SubmittedNotebook, api.Grade
    found = session.execute(
        select(submission.student_id, func.sum(grade.auto_score))
        .join(notebook, notebook.assignment_id == submission.id)
        .join(grade, grade.notebook_id == notebook.id)
        .where(submission.assignment_id == ids.assignment, notebook.notebook_id == ids.notebook)
        .group_by(submission.student_id)
    )
    return {student: score for student, score in found if score is not None}


def above_worth(session: Session, ids: Ids) -> dict[str, float]:
    """By how much a score of the autograder is above what its cell is worth, by student.

    It is where the lesson had other points when the student was graded; else 0 or less.
    """
    submission, notebook, grade = api.SubmittedAssignment, api.SubmittedNotebook, api.Grade
    found = session.execute(
        select(submission.student_id, func.max(grade.auto_score - api.GradeCell.max_score))
        .join(notebook, notebook.assignment_id == submission.id)
        .join(grade, grade.notebook_id == notebook.id)
        .join(api.GradeCell, api.GradeCell.id == grade.cell_id)
        .where(submission.assignment_id == ids.assignment, grade.auto_score.is_not(None))
        .group_by(submission.student_id)
    )
    return dict(map(tuple, found))


def remarks_of(session: Session, ids: Ids) -> Remarks:
    """Who is late in a lesson, and whose scores a person has to look at."""
    submission, notebook, grade = api.SubmittedAssignment, api.SubmittedNotebook, api.Grade
    of_lesson = submission.assignment_id == ids.assignment
    by_hand = session.scalars(
        select(submission.student_id)
        .join(notebook, notebook.assignment_id == submission.id)
        .join(grade, grade.notebook_id == notebook.id)
        .where(of_lesson, grade.needs_manual_grade)
    )
    known = set(session.scalars(select(api.Student.id)))
    if ids.duedate is None:
        return Remarks({}, set(by_hand), known)
    columns = (submission.assignment_id, submission.timestamp, submission.extension)
    late = {
        row.student_id: row.total_seconds_late if row.timestamp else None
        for row in session.scalars(
            select(submission).where(of_lesson).options(load_only(submission.student_id, *columns))
        )
    }
    return Remarks(late, set(by_hand), known)


def standings(
    session: Session, ids: Ids, notebooks: Collection[str] | None = None
) -> dict[str, Standing]:
    """How submissions of a lesson stand, by student.

    Scores are nbgrader's own columns: what is not flushed yet does not count.

    Args:
        notebooks: ids of submitted ones; everyone's if there are none. As in `_of_cells`, they are
            asked for beside the cells.
    """
    submission, notebook = api.SubmittedAssignment, api.SubmittedNotebook
    grade, cell, comment = api.Grade, api.GradeCell, api.Comment
    words = select(comment.notebook_id, comment.cell_id, comment.manual_comment).where(
        comment.cell_id.in_(ids.comments.values()), comment.manual_comment.is_not(None)
    )
    marks = (
        select(submission.student_id, notebook.id, notebook.late_submission_penalty)
        .add_columns(api.Student.first_name, api.Student.last_name, cell.name, cell.max_score)
        .add_columns(grade.score, grade.manual_score, grade.extra_credit)
        .join(api.Student, api.Student.id == submission.student_id)
        .join(notebook, notebook.assignment_id == submission.id)
        .join(grade, grade.notebook_id == notebook.id)
        .join(cell, cell.id == grade.cell_id)
        .where(grade.cell_id.in_(ids.grades.values()))
        .order_by(cell.name)
    )
    if notebooks is not None:
        words = words.where(comment.notebook_id.in_(notebooks))
        marks = marks.where(grade.notebook_id.in_(notebooks))
    said = {(of, cell_id): text.strip() for of, cell_id, text in session.execute(words)}
    found: dict[str, Standing] = {}
    for row in session.execute(marks):
        student, of, penalty, first, last, name, most, score, manual, extra = row
        called = " ".join(filter(None, (first, last)))
        exercise = name.removesuffix(CHECK)
        text = said.get((of, ids.comments.get(exercise)), "")
        standing = found.setdefault(student, Standing({}, penalty or 0.0, name=called))
        standing.marks[exercise] = Mark(round(score, PLACES), most, manual, extra or 0.0, text)
    return found


def submitted(
    session: Session, ids: Ids
) -> list[tuple[api.SubmittedAssignment, api.SubmittedNotebook]]:
    """Everyone's submission of a lesson, and its notebook."""
    submission, notebook = api.SubmittedAssignment, api.SubmittedNotebook
    found = session.execute(
        select(submission, notebook)
        .join(notebook, notebook.assignment_id == submission.id)
        .where(submission.assignment_id == ids.assignment, notebook.notebook_id == ids.notebook)
    )
    return [(one, other) for one, other in found]


def remove_student(session: Session, student: str) -> int:
    """Remove a student with all that is recorded; how many rows that were.

    No column is read but ids: a backup may be of an older nbgrader.
    """
    submission, notebook = api.SubmittedAssignment, api.SubmittedNotebook
    submissions = select(submission.id).where(submission.student_id == student)
    notebooks = select(notebook.id).where(notebook.assignment_id.in_(submissions))
    theirs = [
        delete(api.Comment).where(api.Comment.notebook_id.in_(notebooks)),
        delete(api.Grade).where(api.Grade.notebook_id.in_(notebooks)),
        delete(notebook).where(notebook.assignment_id.in_(submissions)),
        delete(submission).where(submission.student_id == student),
        delete(api.Student).where(api.Student.id == student),
    ]
    connection = session.connection()
    return sum(connection.execute(each).rowcount for each in theirs)


def enrol(session: Session, people: Collection[Person]) -> None:
    """Add students that a gradebook lacks; what is said of one replaces what it has."""
    known = {student.id: student for student in session.scalars(select(api.Student))}
    for person in people:
        row = known.get(person.id)
        if row is None:
            row = api.Student(id=person.id)
            session.add(row)
        for column, said in asdict(person).items():
            if said and getattr(row, column) != said:
                setattr(row, column, said)
    session.flush()  # before what is theirs


def extend(session: Session, ids: Ids, due: Mapping[str, datetime]) -> None:
    """Give students due dates of their own: nbgrader's extensions, on submissions made if need be.

    Args:
        ids: of a lesson that has a due date.
        due: in UTC, by student.
    """
    assert ids.duedate is not None
    for student, submission in _submissions(session, ids.assignment, due).items():
        submission.extension = due[student] - ids.duedate


def rows_of(session: Session, ids: Ids, students: Collection[str]) -> dict[str, Rows]:
    """The rows of students' submissions of a lesson, new ones where there are none."""
    submissions = _submissions(session, ids.assignment, students)
    notebooks = _notebooks(session, ids.notebook, [found.id for found in submissions.values()])
    wanted = [notebook.id for notebook in notebooks.values()]
    grades = _of_cells(session, api.Grade, ids.grades, wanted)
    comments = _of_cells(session, api.Comment, ids.comments, wanted)
    rows = {}
    for student, submission in submissions.items():
        notebook = notebooks[submission.id]
        rows[student] = Rows(submission, notebook, grades[notebook.id], comments[notebook.id])
    return rows


def _submissions(
    session: Session, assignment: str, students: Collection[str]
) -> dict[str, api.SubmittedAssignment]:
    known = set(session.scalars(select(api.Student.id).where(api.Student.id.in_(students))))
    session.add_all(api.Student(id=student) for student in students if student not in known)
    model = api.SubmittedAssignment
    found = {
        row.student_id: row
        for row in session.scalars(
            select(model).where(model.assignment_id == assignment, model.student_id.in_(students))
        )
    }
    for student in students:
        if student not in found:
            found[student] = model(id=api.new_uuid(), assignment_id=assignment, student_id=student)
            session.add(found[student])
    return found


def _notebooks(
    session: Session, notebook: str, submissions: Collection[str]
) -> dict[str, api.SubmittedNotebook]:
    model = api.SubmittedNotebook
    found = {
        row.assignment_id: row
        for row in session.scalars(
            select(model).where(model.notebook_id == notebook, model.assignment_id.in_(submissions))
        )
    }
    for submission in submissions:
        if submission not in found:
            found[submission] = model(
                id=api.new_uuid(), notebook_id=notebook, assignment_id=submission
            )
            session.add(found[submission])
    return found


def _of_cells(
    session: Session, model: Any, cells: Mapping[str, str], notebooks: Collection[str]
) -> dict[str, dict[str, Any]]:
    """Grades or comments, by submitted notebook and by name of the cell.

    Both columns of nbgrader's index are asked for: by the notebook alone SQLite would read the
    whole table, which grows with the class.
    """
    columns = (model.cell_id, model.notebook_id, *_COLUMNS[model])
    found = {
        (row.notebook_id, row.cell_id): row
        for row in session.scalars(
            select(model)
            .where(model.cell_id.in_(cells.values()), model.notebook_id.in_(notebooks))
            .options(load_only(*columns))
        )
    }
    for notebook in notebooks:
        for cell in cells.values():
            if (notebook, cell) not in found:
                found[notebook, cell] = model(cell_id=cell, notebook_id=notebook)
                session.add(found[notebook, cell])
    return {
        notebook: {name: found[notebook, cell] for name, cell in cells.items()}
        for notebook in notebooks
    }


def _name(cell: NotebookNode) -> str:
    return str(cell.metadata.nbgrader.grade_id)
