"""A page about a class that was graded, and a table: `python -m autograder report LESSON`.

    journal, gradebook (class_results) → mistakes, claims → page, table

Nothing is graded, and nothing is changed but what lies in `class/reports/`.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from pathlib import Path

from attnlab.ipynb.files import Parts, open_file, taken
from attnlab.ipynb.read import Cell, Sizes, Unreadable, read
from attnlab.lessons import lesson as about
from autograder.gradebook.course import Course
from autograder.pages.summary import from_here
from autograder.term.anonymous import Anonymous
from autograder.term.class_results import ClassResults, results_of
from autograder.term.mistakes import mistakes_of
from autograder.term.page import Page
from autograder.term.tables import harmless

COLUMNS = ("id", "exercise", "status", "score", "max_score", "diagnosis", "hand_ins")


def write_report(course: Course, lesson: str, names: bool = False) -> Iterator[str]:
    """Write the page and the table of a lesson's class.

    Args:
        names: the teacher's page, which names students, beside the one that can be shown.
    Returns:
        what was written, a line for each.
    Raises:
        Problem, GradebookError, NotWritten: nothing was written.
    """
    results = results_of(course, lesson)
    answers = {
        student.id: {
            cell.grade_id: cell.source
            for cell in _cells(course.autograded(student.id, lesson) / f"{lesson}.ipynb")
            if cell.kind == "code" and cell.is_solution
        }
        for student in results.graded
    }
    called = [name for key, more in results.people.items() for name in (key, *more)]
    anonymous = Anonymous(called, [cell.source for cell in _cells(course.released(lesson))])
    mistakes = mistakes_of(results, answers, about(lesson).stage)
    page = Page(results, about(lesson), mistakes, anonymous, names)
    folder = course.reports(lesson)
    shown = folder / (f"{lesson}-names.html" if names else f"{lesson}.html")
    table = folder / f"{lesson}.csv"
    with Parts() as parts:
        parts.write(shown, page.text().encode(errors="replace"), course.page_mode)
        parts.write(table, _table(results).encode("utf-8-sig", "replace"), course.page_mode)
        parts.place()
    whose = "with names, for you alone" if names else "without names, to be shown in class"
    yield f"{from_here(shown)}: the page {whose}."
    yield f"{from_here(table)}: a row for each student and exercise, with their ids."
    unread = sum(not answers[student.id] for student in results.graded)
    if unread:
        yield (
            f"{unread} of {len(results.graded)} notebooks are not in "
            f"{from_here(course.autograded('.', '.'))} any more: their code is in neither."
        )


def _cells(path: Path) -> list[Cell]:
    """A notebook's cells; none where it is gone, or is no notebook."""
    limits = Sizes()
    try:
        return read(taken(open_file(path), path.name, limits.notebook_bytes), limits)
    except (OSError, Unreadable, ValueError):  # a path with a null character is a ValueError
        return []


def _table(results: ClassResults) -> str:
    """CSV, in which no cell is a formula."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\r\n")
    writer.writerow(COLUMNS)
    writer.writerows(map(harmless, row) for row in _rows(results))
    return text.getvalue()


def _rows(results: ClassResults) -> Iterator[tuple[object, ...]]:
    for student in results.students:
        said = {item["name"]: item for item in student.result["exercises"]}
        for name, worth in results.exercises.items():
            item = said.get(name, {"status": student.result["status"], "diagnosis": None})
            score, hand_ins = student.marks.get(name, 0.0), len(student.scores)
            diagnosis = item["diagnosis"] or ""
            yield student.id, name, item["status"], score, worth, diagnosis, hand_ins
    for status, names in (("NOT GRADED", results.waiting), ("NOT HANDED IN", results.absent)):
        for student_id in names:
            for name, worth in results.exercises.items():
                yield student_id, name, status, "", worth, "", int(status == "NOT GRADED")
