"""What was graded, written to nbgrader's gradebook and folders.

    with Gradebook(Course.here()) as gradebook:
        gradebook.prepare(lesson)
        gradebook.record(batch)     # of Graded

Scores, comments and late penalties become what `nbgrader autograde` makes of them; what a person
has set in nbgrader stays. Recording twice is recording once.
"""

from __future__ import annotations

import html
import unicodedata
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from pathlib import Path

import nbformat
from nbformat import NotebookNode
from nbgrader import api
from nbgrader.plugins.base import BasePlugin
from sqlalchemy import select
from sqlalchemy.orm import Session

from attnlab.checks import card
from attnlab.ipynb.files import NotWritten, Parts
from attnlab.ipynb.words import few, printable
from autograder import Usage
from autograder.gradebook.course import Course
from autograder.gradebook.database import Database, GradebookError
from autograder.gradebook.rows import (
    CHECK,
    Ids,
    Lesson,
    Rows,
    above_worth,
    add_lesson,
    auto_scores,
    find_ids,
    remarks_of,
    rows_of,
    standings,
)
from autograder.pages import feedback
from autograder.pages.inert import inert
from autograder.pages.standing import Standing
from autograder.pages.summary import Remarks
from autograder.submission import timestamps
from autograder.submission.folder import TIMESTAMP, in_nfc, small_files
from autograder.submission.lessons import refuse_other_points
from autograder.submission.results import Graded

NO_RESPONSE = "No response."  # nbgrader's words for a stub left as it was
_NAME_CHARACTERS = 128  # of nbgrader's columns


class BadName(GradebookError):
    """A student's name that a gradebook cannot hold; the sentence says why."""


class Obstructed(Exception):
    """Something is in the place of one student's files; the sentence names it."""


def names_a_folder(student: str) -> bool:
    """Whether a student's name can be that of a folder, and of no other place."""
    return student not in ("", ".", "..") and "/" not in student and "\0" not in student


def check_name(student: str) -> None:
    """Refuse a student's name that a gradebook cannot hold, or that breaks nbgrader's export.

    That writes names into lines and columns as they are: one with a line break is a line of its
    own, with the scores that it says.

    Raises:
        BadName: with what is wrong with it.
    """
    if any("\ud800" <= character <= "\udfff" for character in student):
        wrong = "is not UTF-8"
    elif not names_a_folder(student):
        wrong = "is not the name of a folder"
    elif len(student) > _NAME_CHARACTERS:
        wrong = f"is longer than the {_NAME_CHARACTERS} characters that nbgrader stores"
    elif not student.isprintable() or student != student.strip():
        wrong = "has characters that are not seen, such as a line break, or a blank at an end"
    elif student != in_nfc(student):
        wrong = "is not composed as Unicode's NFC"
    elif "," in student or '"' in student:
        wrong = "has a comma or a double quote, which `nbgrader export` takes for columns"
    elif unicodedata.normalize("NFKC", student)[0] in "=+-@":
        wrong = "begins with a character that a spreadsheet takes for a formula"
    else:
        return
    raise BadName(
        f"The student's name {student!r} {wrong}. Rename the folder, then run this again."
    )


class Gradebook:
    """nbgrader's gradebook, open to record what was graded.

    Args:
        course: whose folders and gradebook.
        wait_seconds: how long to wait while another program writes to a SQLite gradebook.
        make: a SQLite gradebook where there is none.
    Raises:
        GradebookError: it cannot be opened.
    """

    def __init__(self, course: Course, wait_seconds: float = 30.0, make: bool = True) -> None:
        self._course = course
        directory = course.directory
        self._database = Database(directory.db_url, directory.course_id, wait_seconds, make)
        self._lessons: dict[str, Lesson] = {}

    def __enter__(self) -> Gradebook:
        return self

    def __exit__(self, *_: object) -> None:
        self._database.close()

    def prepare(
        self, lesson: str, students: Collection[str] | None = None, regrade: bool = False
    ) -> None:
        """Read a released lesson, and add to the gradebook what it lacks of it.

        What `make release` has recorded is not changed, nor is a due date.

        Args:
            students: who is going to be graded; None if that is not to be looked at.
            regrade: let the gradebook's exercises and points be those of the notebook.
        Raises:
            Disagree: the gradebook has other exercises or points, and that was not said.
            Usage: somebody would be left with scores for other points.
            GradebookError: there is no such lesson.
        """
        path = self._course.released(lesson)
        try:
            released = Lesson.read(lesson, path)
        except OSError as error:
            raise GradebookError(
                f"The lesson {str(path)!r} cannot be read: {error.strerror}. Check its name, or "
                "run `make release`."
            ) from error
        with self._database.transaction() as session:
            ids = find_ids(session, lesson)
            above = above_worth(session, ids) if ids else {}
            course_id = self._course.directory.course_id
            points = add_lesson(session, released, course_id, follow=regrade)
            changed = bool(points) and points != released.points
            if changed and not regrade:
                refuse_other_points(lesson, released.points, points, of_gradebook=True)
            left = sorted(name for name in above if changed or above[name] > 0)
            left = [name for name in left if students is not None and name not in students]
            if left:
                raise Usage(
                    f"{', '.join(few(list(map(printable, left))))}: graded when {lesson} had other "
                    "points, and not to be graded now. Grade everyone, with what they handed in."
                )
        self._lessons[lesson] = released

    def recorded(self, lesson: str) -> dict[str, float]:
        """The autograder's scores of a lesson by student, of those whose files are there.

        Raises:
            GradebookError: it cannot be read.
        """
        with self._database.transaction() as session:
            ids = find_ids(session, lesson)
            scores = auto_scores(session, ids) if ids else {}
        return {
            student: score
            for student, score in scores.items()
            if all(path.exists() for path in self._files(lesson, student))
        }

    def standings(self, lesson: str) -> dict[str, Standing | None]:
        """How every student of the gradebook stands in a lesson, None who was not graded in it.

        Raises:
            GradebookError: it cannot be read, or has nothing of the lesson.
        """
        with self._database.transaction() as session:
            names = sorted(session.scalars(select(api.Student.id)))
            graded = standings(session, self._ids(session, lesson))
        return {student: graded.get(student) for student in names}

    def page(self, lesson: str, student: str) -> Path:
        """Where a student's page is, if there is one."""
        return self._course.feedback(student, lesson) / f"{lesson}.html"

    def _files(self, lesson: str, student: str) -> tuple[Path, Path]:
        """A submission's autograded notebook and its feedback page."""
        autograded = self._course.autograded(student, lesson) / f"{lesson}.ipynb"
        return autograded, self.page(lesson, student)

    def record(self, batch: Iterable[Graded]) -> None:
        """Record submissions of prepared lessons: rows, autograded notebooks and feedback.

        The batch is one transaction. Its files are written beside their places before that ends,
        and renamed after it, so that a full disk leaves rows and files as they were.

        Raises:
            GradebookError: nothing was recorded.
            Obstructed: nothing was, for the sake of one of them.
        """
        by_lesson: dict[str, dict[str, Graded]] = {}
        for graded in batch:
            check_name(graded.result.student)
            by_lesson.setdefault(graded.result.lesson, {})[graded.result.student] = graded
        try:
            with Parts() as parts:
                came_with = {
                    lesson: {name: self._write(parts, graded) for name, graded in students.items()}
                    for lesson, students in by_lesson.items()
                }
                with self._database.transaction() as session, session.no_autoflush:
                    for lesson, students in by_lesson.items():
                        ids = self._ids(session, lesson)
                        rows = rows_of(session, ids, students)
                        for student, graded in students.items():
                            self._fill(rows[student], graded, came_with[lesson][student])
                        session.flush()  # for nbgrader's own sums, and for due dates
                        found = standings(session, ids, [row.notebook.id for row in rows.values()])
                        for student, graded in students.items():
                            standing = self._penalise(rows[student], found[student])
                            self._write_page(parts, graded, standing)
                parts.place()
        except NotWritten as error:
            folders = self._course.autograded(".", "."), self._course.feedback(".", ".")
            if error.in_the_way and all(folder.is_dir() for folder in folders):
                raise Obstructed(str(error)) from error
            raise GradebookError(str(error)) from error

    def _ids(self, session: Session, lesson: str) -> Ids:
        """Asked for with each batch, as `make release` may make them anew."""
        ids = find_ids(session, lesson)
        if ids is None:
            raise GradebookError(
                f"The gradebook {self._database} has nothing of {lesson}. Grade it: "
                f"make grade LESSON={lesson}"
            )
        return ids

    def _fill(self, rows: Rows, graded: Graded, came_with: Mapping[str, bytes]) -> None:
        """Set what the autograder says of one submission."""
        result = graded.result
        folder = self._course.submitted(result.student, result.lesson)
        if TIMESTAMP in came_with:
            rows.submission.timestamp = timestamps.time_of(came_with[TIMESTAMP])
        elif timestamps.note(folder):  # an earlier one's time would not be this one's
            rows.submission.timestamp = None
        if result.status == "INVALID":
            for grade in rows.grades.values():
                _score(grade, 0.0)
            for comment in rows.comments.values():
                comment.auto_comment = inert(f"This could not be graded: {result.message}")
        else:
            said = _comments(graded, self._lessons[result.lesson].stubs)
            for exercise in result.exercises:
                name = exercise.name
                if name not in rows.comments or name + CHECK not in rows.grades:
                    raise GradebookError(
                        f"The gradebook {self._database} has no cells for exercise {name!r} of "
                        f"{result.lesson}. Run `make release`, then run this again."
                    )
                _score(rows.grades[name + CHECK], exercise.score, exercise.status == "POLICY")
                rows.comments[name].auto_comment = said[name]

    def _penalise(self, rows: Rows, standing: Standing) -> Standing:
        """Set the late penalty, if the course has a rule for it: else a person did, if at all."""
        plugin = self._course.penalties
        if plugin is None:
            return standing
        penalty = _penalty(plugin, rows.submission, standing.earned)
        rows.notebook.late_submission_penalty = penalty
        return replace(standing, penalty=penalty or 0.0)

    def _write(self, parts: Parts, graded: Graded) -> dict[str, bytes]:
        """Write a submission's files beside their places, but for the page.

        Returns:
            the small files that came with the submission and can be read, by name.
        """
        student, lesson = graded.result.student, graded.result.lesson
        course = self._course
        came_with = small_files(course.submitted(student, lesson))
        if timestamps.time_of(came_with.get(TIMESTAMP, b"")) is None:
            came_with.pop(TIMESTAMP, None)
        text = graded.notebook or self._not_graded(lesson, graded.result.message)
        # A lone surrogate, which UTF-8 has not, means the same in JSON as an escape.
        notebook = text.encode(errors="backslashreplace")
        autograded, returned = self._files(lesson, student)
        parts.write(autograded, notebook, course.file_mode)
        for name, data in came_with.items():
            parts.write(autograded.parent / name, data, course.file_mode)
            parts.write(returned.parent / name, data, course.page_mode)
        return came_with

    def _write_page(self, parts: Parts, graded: Graded, standing: Standing) -> None:
        page = feedback.fill(graded.page, standing).encode(errors="replace")
        path = self.page(graded.result.lesson, graded.result.student)
        parts.write(path, page, self._course.page_mode)

    def _not_graded(self, lesson: str, message: str) -> str:
        """For formgrader, which shows comments in a notebook: the released one, under a notice."""
        line = html.escape(" ".join(message.split()))
        notice = nbformat.v4.new_markdown_cell(
            f"<p><strong>This could not be graded.</strong></p><pre>{line}</pre>", id="not-graded"
        )
        notebook = self._lessons[lesson].notebook
        return str(nbformat.writes(NotebookNode(notebook, cells=[notice, *notebook.cells])))

    def remarks(self, lesson: str) -> Remarks:
        """What is known of a prepared lesson's submissions besides their scores.

        Raises:
            GradebookError: it cannot be read.
        """
        with self._database.transaction() as session:
            return remarks_of(session, self._ids(session, lesson))


def _score(grade: api.Grade, score: float, flagged: bool = False) -> None:
    """As nbgrader's SaveAutoGrades: a person's score stays, and is to be looked at again."""
    grade.auto_score = score
    grade.needs_manual_grade = flagged or grade.manual_score is not None


def _penalty(
    plugin: BasePlugin, submission: api.SubmittedAssignment, earned: float
) -> float | None:
    """The late penalty, as nbgrader's AssignLatePenalties.

    Raises:
        GradebookError: the plugin stopped.
    """
    late, student = submission.total_seconds_late, submission.student_id
    if late <= 0:
        return None
    try:
        penalty = plugin.late_submission_penalty(student, earned, late)
    except Exception as error:  # it is the instructor's own code
        raise GradebookError(
            f"The late submission plugin {type(plugin).__name__} stopped at {student!r} with "
            f"{type(error).__name__}: {error}. Mend it, then run this again."
        ) from error
    return None if penalty is None else min(max(float(penalty), 0.0), earned)


def _comments(graded: Graded, stubs: Mapping[str, str]) -> dict[str, str]:
    """What is said of each exercise: its card as text, without what only a notebook can do."""
    exercises = graded.result.exercises
    missing: Collection[str] = {item.name for item in exercises if item.status == "MISSING"}
    sources = {cell.name: cell.source for cell in graded.written}
    said = {}
    for exercise in exercises:
        name = exercise.name
        if name in missing and sources.get(name, "").strip() == stubs[name].strip():
            said[name] = NO_RESPONSE
        elif name in graded.cards:
            said[name] = inert(card.as_text(graded.cards[name], in_notebook=False))
        else:
            said[name] = inert(exercise.message)
    return said
