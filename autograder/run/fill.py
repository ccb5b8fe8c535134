"""Learners' pages, filled with what the gradebook holds now; late penalties follow its scores."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path

from attnlab.ipynb.files import write_whole
from attnlab.ipynb.words import printable
from autograder.gradebook.course import Course
from autograder.gradebook.gradebook import Gradebook, names_a_folder
from autograder.pages import feedback
from autograder.run.lock import sole_grader
from autograder.submission.handed_in import chosen


def fill_pages(course: Course, lesson: str, students: Iterable[str] = ()) -> None:
    """Write the pages of those who are named, everyone's if nobody is, and say what came of it.

    Raises:
        Usage: someone is not in the gradebook.
        GradebookError, NotWritten: it cannot go on; what was written stays.
    """
    written, changed = 0, 0
    missing: list[str] = []
    strange: list[str] = []
    other: list[str] = []
    with Gradebook(course, make=False) as gradebook:
        runs = course.submitted(".", ".").parent / "runs"
        with sole_grader(runs / "lock", lesson, _say):
            names = list(gradebook.standings(lesson))
            names = chosen(names, students, lesson, "is in the gradebook for")
            standings = gradebook.penalise(lesson, names)
            for student in names:
                path, standing = gradebook.page(lesson, student), standings.get(student)
                page = _read(student, path)
                if page is None:
                    missing.append(printable(student))
                elif standing is None or not feedback.is_page(page):
                    strange.append(printable(student))
                elif feedback.worth(page) != f"{standing.most:g}":
                    other.append(printable(student))
                else:
                    filled = feedback.fill(page, standing)
                    write_whole(path, filled.encode(errors="replace"), course.page_mode)
                    written += 1
                    changed += filled != page
    place = course.feedback("<student>", lesson) / f"{lesson}.html"
    pages = "1 page" if written == 1 else f"{written} pages"
    _say(f"Wrote {pages}, {changed} of them changed: {place}")
    if missing:
        _say(f"These have no page, which only grading makes: {', '.join(missing)}.")
    if other:
        _say(
            f"Left as they are, for they were graded when the lesson had other points: "
            f"{', '.join(other)}. Grade it again, for everyone."
        )
    if strange:
        _say(
            "Left as they are, for they are not this grader's or the gradebook has no grade: "
            f"{', '.join(strange)}. To make them anew, grade {lesson} again."
        )


def _read(student: str, path: Path) -> str | None:
    """A student's page: None where there is none, '' where what is there is no page."""
    return feedback.read(path) if names_a_folder(student) else None


def _say(sentence: str) -> None:
    print(sentence, file=sys.stderr, flush=True)
