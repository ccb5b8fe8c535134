"""Learners' pages in one zip, each under the name by which an LMS knows whose it is."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from attnlab.ipynb.zipped import zipped
from autograder.gradebook.course import Course
from autograder.gradebook.gradebook import names_a_folder
from autograder.pages import feedback
from autograder.pages.standing import Standing
from autograder.submission.collected import Collected
from autograder.term.who import Person

# The name of a file that was downloaded, the lesson and the page: the name and the data to upload.
PageIn = Callable[[str, str, bytes], tuple[str, bytes] | None]


@dataclass(frozen=True, slots=True)
class Pages:
    """What is for an LMS, and of whom nothing is.

    Attributes:
        data: the zip; b'' if there is nothing for it.
        number: of pages in it.
        unnamed: whose hand-in was not collected from this LMS, or not under a name of its own.
        missing: who has no page with the points of today.
    """

    data: bytes
    number: int
    unnamed: list[Person]
    missing: list[Person]


def pages(
    course: Course,
    lesson: str,
    people: Iterable[Person],
    collected: Iterable[Collected],
    page_in: PageIn,
) -> Pages:
    """The pages of those who have a score, with what the gradebook says now.

    Args:
        collected: from this LMS.
    """
    names = {each.student: each.name for each in collected}
    files: dict[str, bytes] = {}
    unnamed, missing = [], []
    for person in people:
        if person.score is None or (standing := person.score.graded) is None:
            continue
        page = _page(course, lesson, person.id, standing)
        if not page:
            missing.append(person)
        elif found := page_in(names.get(person.id, ""), lesson, page):
            name, data = found
            files[name] = data
        else:
            unnamed.append(person)
    return Pages(zipped(files) if files else b"", len(files), unnamed, missing)


def _page(course: Course, lesson: str, student: str, standing: Standing) -> bytes:
    """A student's page, b'' if there is none that can be filled."""
    if not names_a_folder(student):
        return b""
    page = feedback.read(course.feedback(student, lesson) / f"{lesson}.html") or ""
    if feedback.worth(page) != f"{standing.most:g}":
        return b""
    return feedback.fill(page, standing).encode(errors="replace")
