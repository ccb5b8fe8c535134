"""Scores and pages go back to an LMS: into a table that it has exported, and a zip that it takes.

    class/returned/<lesson>/grades-filled.csv   the instructor's grades.csv, scores filled in
    class/returned/<lesson>/pages-canvas.zip    learners' pages, by the names they came with

Scores are those of `nbgrader export`. Who was not graded, or waits for a person, keeps what the
table has. The table that was given is never written to.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

from attnlab.ipynb.files import Parts, write_whole
from attnlab.ipynb.handed_in import in_nfc
from attnlab.ipynb.words import few, printable
from autograder import Problem
from autograder.gradebook.course import Course
from autograder.gradebook.gradebook import Gradebook
from autograder.gradebook.scores import UNGRADED, WAITS, Score
from autograder.pages.summary import from_here
from autograder.submission import collected
from autograder.submission.collected import Collected
from autograder.submission.handed_in import students
from autograder.term import canvas, moodle, roster
from autograder.term.pages import Pages, pages
from autograder.term.plain import plain
from autograder.term.sheets import Sheet
from autograder.term.tables import Row, Table
from autograder.term.who import Finder, Person, everyone

FOLDER = "returned"
_LMS: dict[str, ModuleType] = {"canvas": canvas, "moodle": moodle}
_TITLES = {"canvas": "Canvas", "moodle": "Moodle", "gradescope": "Gradescope"}
_GRADESCOPE = (
    "Gradescope takes no scores and no pages for its own assignments from a file, so theirs go "
    "back in another way"
)
_LISTED = 30  # names; more are counted


@dataclass(frozen=True, slots=True)
class Order:
    """What is to be given back.

    Attributes:
        lms: 'canvas', 'moodle', or '' for a plain table.
        file: the table that the LMS has exported; where a plain one goes, if not to its own place.
        column: where scores go, if it is not found.
    """

    lesson: str
    lms: str
    file: Path | None
    column: str = ""


def give_back(course: Course, order: Order) -> Iterator[str]:
    """Write what goes back, and say what is in it.

    Raises:
        Problem, GradebookError, NotWritten: nothing was written.
    """
    lesson, home = order.lesson, course.submitted(".", ".").parent
    with Gradebook(course, make=False) as gradebook:
        scores = gradebook.scores(lesson)
    _refuse_none(lesson, scores)
    people = everyone(home / roster.NAME, scores)
    found = collected.read(home / collected.FOLDER / f"{lesson}.json")
    place = home / FOLDER / lesson
    if order.lms:
        assert order.file is not None
        yield from _to_lms(course, order, people, found, place)
    else:
        path = order.file or place / f"{lesson}.csv"
        exercises = next(one.standing.marks for one in scores.values() if one.standing)
        write_whole(path, plain(people, list(exercises)))
        yield f"Wrote {from_here(path)}."
        yield from _left(people, course, lesson)
    elsewhere = {each.student for each in found if each.lms == "gradescope"}
    yield from _names(_GRADESCOPE, [person for person in people if person.id in elsewhere])


def _refuse_none(lesson: str, scores: Mapping[str, Score]) -> None:
    """Raises: Problem, there is nothing to give back."""
    if not any(score.status for score in scores.values()):
        raise Problem(f"Nobody has handed in {lesson}, as far as the gradebook knows.")
    if not any(score.graded for score in scores.values()):
        raise Problem(
            f"Nobody has a score in {lesson} yet: whoever handed it in was not graded, or waits "
            "for manual grading. Grade it, or go through it in formgrader."
        )


def _to_lms(
    course: Course, order: Order, people: list[Person], found: list[Collected], place: Path
) -> Iterator[str]:
    assert order.file is not None
    lms, name = _LMS[order.lms], order.file.name
    sheet = Sheet(_bytes(order.file), name)
    table: Table = lms.table(sheet, order.lesson, order.column)
    whose = _whose(sheet, table, Finder(order.lms, people, found))
    filled = list(_fill(sheet, table, whose, {person.id: person for person in people}))
    if not filled:
        raise Problem(f"Nobody in {name} has a score in {order.lesson}, so nothing was written.")
    given = pages(
        course,
        order.lesson,
        people,
        [each for each in found if each.lms == order.lms],
        lms.page_in,
    )
    path = place / f"{order.file.stem}-filled{order.file.suffix}"
    zip_path = place / f"pages-{order.lms}.zip"
    with Parts() as parts:
        parts.write(path, bytes(sheet))
        if given.data:
            parts.write(zip_path, given.data)
        parts.place()
    column = printable(sheet.rows[0][table.column])
    scores = "1 score" if len(filled) == 1 else f"{len(filled)} scores"
    yield f"Wrote {scores} into its column {column!r}: {from_here(path)}"
    yield from _worth(table, people, _TITLES[order.lms])
    yield from _left(people, course, order.lesson)
    kept = [row for row in table.rows if row.kept and row.at in whose]
    for why in sorted({row.kept for row in kept}):
        yield from _names(
            f"Left as they are, since they are {why}", [row for row in kept if row.kept == why]
        )
    there = set(whose.values())
    yield from _names(
        f"With a score, and not in {name}",
        [each for each in people if each.score and each.score.graded and each.id not in there],
    )
    yield from _names(
        f"In {name}, and not found by what was collected, by the roster, by id or e-mail",
        [row for row in table.rows if row.at not in whose],
    )
    if order.lms == "moodle":
        yield moodle.ALLOW
    yield from _of_pages(given, zip_path, lms, _TITLES[order.lms])


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise Problem(f"{path} cannot be read: {error.strerror}.") from error


def _whose(sheet: Sheet, table: Table, finder: Finder) -> dict[int, str]:
    """Whose each row is.

    Raises:
        Problem: none is of the class, or two are one student's.
    """
    whose: dict[int, str] = {}
    for row in table.rows:
        student = finder(row)
        if not student:
            continue
        if student in whose.values():
            [first] = [at for at, other in whose.items() if other == student]
            raise Problem(
                f"{sheet.where}, lines {sheet.lines[first]} and {sheet.lines[row.at]}, are both of "
                f"{printable(student)}, by the roster and by what was collected. Nothing was "
                "written: leave one, or mend the roster."
            )
        whose[row.at] = student
    if not whose:
        raise Problem(
            f"None of the {len(table.rows)} students in {sheet.where} is in this class, by what "
            "was collected, by the roster, by id or e-mail. Nothing was written: is it of another "
            "course, or of another assignment?"
        )
    return whose


def _fill(
    sheet: Sheet, table: Table, whose: Mapping[int, str], people: Mapping[str, Person]
) -> Iterator[Row]:
    """Put the scores in; the rows that have one now."""
    for row in table.rows:
        score = people[whose[row.at]].score if row.at in whose else None
        standing = score.graded if score else None
        if standing and not row.kept:
            sheet.put(row.at, table.column, table.number(standing.total))
            yield row


def _worth(table: Table, people: Iterable[Person], title: str) -> Iterator[str]:
    """What to say where the LMS counts other points than the lesson."""
    standings = [person.score.graded for person in people if person.score and person.score.graded]
    most = max(standing.most for standing in standings if standing)
    if table.worth is not None and table.worth != most:
        yield (
            f"Look at the points: the lesson has {most:g}, and {title} has {table.worth:g} for "
            f"it. Set that in {title} before you import."
        )


def _left(people: Sequence[Person], course: Course, lesson: str) -> Iterator[str]:
    """Who has no score yet."""
    there = set(map(in_nfc, students(course.submitted(".", "."), lesson)))
    why: dict[str, list[Person]] = {
        "they wait for manual grading in formgrader": [],
        "they were not graded": [],
        "they handed nothing in": [],
    }
    waits, ungraded, nothing = why.values()
    for one in people:
        status = one.score.status if one.score else ""
        if status == WAITS:
            waits.append(one)
        elif status == UNGRADED or (not status and one.id in there):
            ungraded.append(one)
        elif not status:
            nothing.append(one)
    for reason, those in why.items():
        yield from _names(f"Without a score, since {reason}", those)


def _of_pages(given: Pages, path: Path, lms: ModuleType, title: str) -> Iterator[str]:
    if given.number:
        number = "1 page" if given.number == 1 else f"{given.number} pages"
        yield f"Wrote {number}: {from_here(path)}. It goes to {title}: {lms.UPLOAD}."
    yield from _names(
        f"No page of theirs is for {title}, since the name that their hand-in had there was not "
        "collected",
        given.unnamed,
    )
    yield from _names(
        "They have no page with the points of today, which only grading makes", given.missing
    )


def _names(said: str, whom: Sequence[object]) -> Iterator[str]:
    if whom:
        listed = ", ".join(few([printable(str(each)) for each in whom], _LISTED))
        yield f"{said}: {listed}."
