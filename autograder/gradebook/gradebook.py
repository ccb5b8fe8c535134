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
from datetime import datetime
from pathlib import Path

import nbformat
from nbformat import NotebookNode
from nbgrader import api
from sqlalchemy import select
from sqlalchemy.orm import Session

from attnlab.checks import card
from attnlab.ipynb.files import NotWritten, Parts
from attnlab.ipynb.handed_in import TIMESTAMP, in_nfc
from attnlab.ipynb.words import few, printable
from autograder import Usage
from autograder.gradebook.course import Course
from autograder.gradebook.database import Database, GradebookError
from autograder.gradebook.rows import (
    CHECK,
    Ids,
    Lesson,
    Person,
    Rows,
    above_worth,
    add_lesson,
    auto_scores,
    enrol,
    extend,
    find_ids,
    remarks_of,
    rows_of,
    standings,
    submitted,
)
from autograder.gradebook.scores import Score, scores
from autograder.gradebook.weigh import Recorded, penalty, rule, weigh
from autograder.pages import feedback
from autograder.pages.inert import inert
from autograder.pages.standing import Late, Other, Standing
from autograder.pages.summary import Remarks
from autograder.submission import timestamps
from autograder.submission.folder import small_files
from autograder.submission.lessons import refuse_other_points
from autograder.submission.results import Graded

NO_RESPONSE = "No response."  # nbgrader's words for a stub left as it was
_NAME_CHARACTERS = 128  # of nbgrader's columns
# What Python prints and nobody sees: Unicode's Default_Ignorable_Code_Point, and three blanks.
_UNSEEN = frozenset(
    "\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u3164\uffa0"  # joiner, fillers, vowels
    "\u2800\U00016fe4\U0001d159"
).union(map(chr, (*range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0))))  # variation selectors


class BadName(GradebookError):
    """A student's name that a gradebook cannot hold; the sentence says why."""


class Obstructed(Exception):
    """Something is in the place of one student's files; the sentence names it."""


def names_a_folder(student: str) -> bool:
    """Whether a student's name can be that of a folder, and of no other place."""
    return student not in ("", ".", "..") and "/" not in student and "\0" not in student


def check_name(student: str) -> None:
    """Refuse a student's name that a gradebook cannot hold, or that breaks nbgrader's own tools.

    Its export writes names into lines and columns as they are: one with a line break is a line of
    its own, with the scores that it says. Its formgrader writes them into HTML as they are.

    Raises:
        BadName: with what is wrong with it.
    """
    if wrong := wrong_name(student):
        raise BadName(f"The student's name {wrong}. Rename the folder, then run this again.")


def wrong_name(student: str) -> str:
    """A student's name and what is wrong with it, as `check_name` has it; '' if nothing is."""
    name = repr(student)
    if any("\ud800" <= character <= "\udfff" for character in student):
        wrong = "is not UTF-8"
    elif not names_a_folder(student):
        wrong = "is not the name of a folder"
    elif len(student) > _NAME_CHARACTERS:
        wrong = f"is longer than the {_NAME_CHARACTERS} characters that nbgrader stores"
    elif not student.isprintable() or student != student.strip() or _UNSEEN & set(student):
        name = ascii(student)
        wrong = "has characters that are not seen, such as a line break, or a blank at an end"
    elif student != in_nfc(student):
        wrong = "is not composed as Unicode's NFC"
    elif set(',;"') & set(student):
        wrong = (
            "has a comma, a semicolon or a double quote, which `nbgrader export` or a spreadsheet "
            "takes for columns"
        )
    elif set("<>&") & set(student):
        wrong = "has one of < > &, which formgrader takes for HTML"
    elif unicodedata.normalize("NFKC", student)[0] in "=+-@":
        wrong = "begins with a character that a spreadsheet takes for a formula"
    else:
        return ""
    return f"{name} {wrong}"


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

    def enrol(self, people: Collection[Person], lesson: str, due: Mapping[str, datetime]) -> bool:
        """Make students known, and let those who handed in a lesson have due dates of their own.

        Args:
            people: everyone of the class; what is '' of one leaves what the gradebook has.
            due: in UTC, by student, of those whose submission has a place there or is to get one.
        Returns:
            whether the gradebook has a due date of the lesson; without it none can be another.
        Raises:
            GradebookError: nothing was changed.
        """
        with self._database.transaction() as session:
            known = find_ids(session, lesson) is not None
        if not known:  # all that it may have is a due date, set before anything was released
            self.prepare(lesson)
        with self._database.transaction() as session:
            enrol(session, people)
            ids = find_ids(session, lesson)
            if ids is None or ids.duedate is None:
                return False
            extend(session, ids, due)
        return True

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

    def scores(self, lesson: str) -> dict[str, Score]:
        """What everyone in the gradebook has in a lesson, by student.

        Raises:
            GradebookError: it cannot be read, or has nothing of the lesson.
        """
        with self._database.transaction() as session:
            return scores(session, self._ids(session, lesson))

    def people(self) -> dict[str, tuple[str, ...]]:
        """What the gradebook knows of everyone's name besides the id: first, last, and address.

        Raises:
            GradebookError: it cannot be read.
        """
        columns = api.Student.id, api.Student.first_name, api.Student.last_name, api.Student.email
        with self._database.transaction() as session:
            found = session.execute(select(*columns)).all()
        return {student: tuple(filter(None, known)) for student, *known in found}

    def penalise(self, lesson: str, students: Collection[str]) -> dict[str, Standing]:
        """Apply the course's rule for late hand-ins, if it has one, to scores as they are now.

        Returns:
            how those of the students stand who were graded.
        Raises:
            GradebookError: nothing was changed.
        """
        with self._database.transaction() as session:
            ids = self._ids(session, lesson)
            found = standings(session, ids)
            return {
                submission.student_id: self._penalise(
                    submission, notebook, found[submission.student_id]
                )
                for submission, notebook in submitted(session, ids)
                if submission.student_id in found and submission.student_id in students
            }

    def page(self, lesson: str, student: str) -> Path:
        """Where a student's page is, if there is one."""
        return self._course.feedback(student, lesson) / f"{lesson}.html"

    def _files(self, lesson: str, student: str) -> tuple[Path, Path]:
        """A submission's autograded notebook and its feedback page."""
        autograded = self._course.autograded(student, lesson) / f"{lesson}.ipynb"
        return autograded, self.page(lesson, student)

    def record(self, batch: Iterable[Graded], keep_best: bool = False) -> list[Recorded]:
        """Record submissions of prepared lessons: rows, autograded notebooks and feedback.

        The batch is one transaction. Its files are written beside their places before that ends,
        and renamed after it, so that a full disk leaves rows and files as they were.

        Args:
            keep_best: what was recorded of a hand-in stays where another comes to less.
        Returns:
            what became of each.
        Raises:
            GradebookError: nothing was recorded.
            Obstructed: nothing was, for the sake of one of them.
        """
        batch = list(batch)
        by_lesson: dict[str, dict[str, Graded]] = {}
        for graded in batch:
            check_name(graded.result.student)
            by_lesson.setdefault(graded.result.lesson, {})[graded.result.student] = graded
        try:
            with Parts() as parts:
                with self._database.transaction() as session, session.no_autoflush:
                    recorded = {
                        lesson: self._record(session, parts, lesson, students, keep_best)
                        for lesson, students in by_lesson.items()
                    }
                parts.place()
        except NotWritten as error:
            folders = self._course.autograded(".", "."), self._course.feedback(".", ".")
            if error.in_the_way and all(folder.is_dir() for folder in folders):
                raise Obstructed(str(error)) from error
            raise GradebookError(str(error)) from error
        return [recorded[graded.result.lesson][graded.result.student] for graded in batch]

    def _record(
        self,
        session: Session,
        parts: Parts,
        lesson: str,
        students: Mapping[str, Graded],
        keep_best: bool,
    ) -> dict[str, Recorded]:
        """Record one lesson's submissions: files beside their places, rows in the transaction."""
        ids = self._ids(session, lesson)
        rows = rows_of(session, ids, students)
        recorded = {}
        for student, graded in students.items():
            folder, submission = self._course.submitted(student, lesson), rows[student].submission
            came_with = _came_with(folder)
            handed_in = _handed_in(submission, folder, came_with)
            plugin = self._course.penalties
            told = weigh(rows[student], graded, handed_in, ids.duedate, plugin, keep_best)
            if told.stands:
                self._write(parts, graded, came_with)
                self._fill(rows[student], graded, handed_in)
            recorded[student] = told
        session.flush()  # for nbgrader's own sums, and for due dates
        found = standings(session, ids, [row.notebook.id for row in rows.values()])
        for student, graded in students.items():
            row = rows[student]
            standing = self._penalise(row.submission, row.notebook, found[student])
            self._write_page(parts, graded, recorded[student], standing)
        return recorded

    def _ids(self, session: Session, lesson: str) -> Ids:
        """Asked for with each batch, as `make release` may make them anew."""
        ids = find_ids(session, lesson)
        if ids is None:
            raise GradebookError(
                f"The gradebook {self._database} has nothing of {lesson}. Grade it: "
                f"make grade LESSON={lesson}"
            )
        return ids

    def _fill(self, rows: Rows, graded: Graded, handed_in: datetime | None) -> None:
        """Set what the autograder says of one submission."""
        result, again = graded.result, graded.past.again
        rows.submission.timestamp = handed_in
        if result.status == "INVALID":
            same = again is not None and again["status"] == "INVALID"
            for grade in rows.grades.values():
                _score(grade, 0.0, same=same)
            for comment in rows.comments.values():
                comment.auto_comment = inert(f"This could not be graded: {result.message}")
        else:
            said = _comments(graded, self._lessons[result.lesson].stubs)
            before = {item["name"]: item["status"] for item in again["exercises"]} if again else {}
            for exercise in result.exercises:
                name, status = exercise.name, exercise.status
                if name not in rows.comments or name + CHECK not in rows.grades:
                    raise GradebookError(
                        f"The gradebook {self._database} has no cells for exercise {name!r} of "
                        f"{result.lesson}. Run `make release`, then run this again."
                    )
                grade, same = rows.grades[name + CHECK], before.get(name) == status
                _score(grade, exercise.score, status == "POLICY", same)
                rows.comments[name].auto_comment = said[name]

    def _penalise(
        self,
        submission: api.SubmittedAssignment,
        notebook: api.SubmittedNotebook,
        standing: Standing,
    ) -> Standing:
        """Set the late penalty, if the course has a rule for it: else a person did, if at all."""
        plugin, late = self._course.penalties, submission.total_seconds_late
        if late > 0:
            says = rule(plugin) if plugin else ""
            told = Late(submission.duedate, submission.timestamp, says)
            standing = replace(standing, late=told)
        if plugin is None:
            return standing
        taken = penalty(plugin, submission.student_id, standing.earned, late)
        notebook.late_submission_penalty = taken
        return replace(standing, penalty=taken or 0.0)

    def _write(self, parts: Parts, graded: Graded, came_with: Mapping[str, bytes]) -> None:
        """Write a submission's files beside their places, but for the page."""
        student, lesson = graded.result.student, graded.result.lesson
        text = graded.notebook or self._not_graded(lesson, graded.result.message)
        # A lone surrogate, which UTF-8 has not, means the same in JSON as an escape.
        notebook = text.encode(errors="backslashreplace")
        autograded, returned = self._files(lesson, student)
        parts.write(autograded, notebook, self._course.file_mode)
        for name, data in came_with.items():
            parts.write(autograded.parent / name, data, self._course.file_mode)
            parts.write(returned.parent / name, data, self._course.page_mode)

    def _write_page(self, parts: Parts, graded: Graded, told: Recorded, standing: Standing) -> None:
        """Write the page of a submission, or into that of the one before it if that one stands."""
        path = self.page(graded.result.lesson, graded.result.student)
        if told.stands:
            page, other = graded.page, told.earlier
        else:
            page, other = feedback.read(path) or "", graded.result.score
            if not feedback.is_page(page):
                return  # someone took it away
        if other is not None:
            standing = replace(standing, other=Other(other, is_later=not told.stands))
        filled = feedback.fill(page, standing).encode(errors="replace")
        parts.write(path, filled, self._course.page_mode)

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


def _came_with(folder: Path) -> dict[str, bytes]:
    """The small files that came with a submission and can be read, by name."""
    found = small_files(folder)
    if timestamps.time_of(found.get(TIMESTAMP, b"")) is None:
        found.pop(TIMESTAMP, None)
    return found


def _handed_in(
    submission: api.SubmittedAssignment, folder: Path, came_with: Mapping[str, bytes]
) -> datetime | None:
    """When a submission was, in UTC; what the gradebook has, where no file tells."""
    if TIMESTAMP in came_with:
        return timestamps.time_of(came_with[TIMESTAMP])
    # An earlier one's time would not be this one's.
    known: datetime | None = None if timestamps.note(folder) else submission.timestamp
    return known


def _score(grade: api.Grade, score: float, flagged: bool = False, same: bool = False) -> None:
    """As nbgrader's SaveAutoGrades, a person's score stays; but what is the same waits for nobody.

    Args:
        flagged: a person has to judge it.
        same: it is the very hand-in that the gradebook has, with the same status.
    """
    if not same or grade.auto_score != score:
        grade.needs_manual_grade = flagged or grade.manual_score is not None
    grade.auto_score = score


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
