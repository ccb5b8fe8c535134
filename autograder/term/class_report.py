"""A page about a class that was graded, and a table: `python -m autograder report LESSON`.

    journal, gradebook (class_results) → mistakes, claims → page, table

Nothing is graded, and nothing is changed but what lies in `class/reports/`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from attnlab.ipynb.files import Parts
from attnlab.ipynb.words import CONTROLS
from attnlab.lessons import lesson as about
from autograder.gradebook.course import Course
from autograder.pages.summary import from_here
from autograder.term import page
from autograder.term.anonymous import Anonymous
from autograder.term.answers import answers_in
from autograder.term.claims import lost_by_claim
from autograder.term.class_results import results_of
from autograder.term.mistakes import mistakes_of
from autograder.term.table import as_csv


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
        student.id: answers_in(course.autograded(student.id, lesson) / f"{lesson}.ipynb")
        for student in results.graded
    }
    called = [name for key, more in results.people.items() for name in (key, *more)]
    found = page.Found(
        results,
        about(lesson),
        mistakes_of(results, answers, about(lesson).stage),
        lost_by_claim(results),
        answers,
        anonymous=Anonymous(called, _texts(course.released(lesson))),
    )
    folder = course.reports(lesson)
    shown = folder / (f"{lesson}-names.html" if names else f"{lesson}.html")
    table = folder / f"{lesson}.csv"
    text = page.render(found, names).translate(CONTROLS)
    with Parts() as parts:
        parts.write(shown, text.encode(errors="replace"), course.page_mode)
        parts.write(table, as_csv(results).encode("utf-8-sig", "replace"), course.page_mode)
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


def _texts(path: Path) -> list[str]:
    """All texts of a released notebook."""
    try:
        cells = json.loads(path.read_bytes())["cells"]
    except (OSError, ValueError, LookupError, TypeError):
        return []
    return ["".join(cell.get("source", "")) for cell in cells if isinstance(cell, dict)]
