"""A lesson that has another name now: what the class has of it, under that name.

Rows first, in one transaction, then files and folders, one rename each. Whatever was done stays
done: stopped in between, the same command goes on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from nbgrader import api
from sqlalchemy import select
from sqlalchemy.orm import Session

from attnlab.lessons import lesson, slugs
from autograder.gradebook.course import Course
from autograder.gradebook.database import Database, GradebookError


def renamed_lessons() -> Iterator[tuple[str, str]]:
    """What lessons were called, and what they are called now."""
    for slug in slugs():
        for former in lesson(slug).former:
            if former not in slugs():
                yield former, slug


def rename(course: Course, agreed: Callable[[str], bool]) -> Iterator[str]:
    """Let gradebook and folders follow each lesson that was renamed; a line for what was done.

    Args:
        agreed: is told in a sentence what would be renamed; nothing is where it says no.
    Raises:
        GradebookError: the gradebook cannot be used, or has rows under both names.
        OSError: a folder could not be renamed.
    """
    directory = course.directory
    database = Database(directory.db_url, directory.course_id, 30.0, make=False)
    found = False
    try:
        for former, slug in renamed_lessons():
            with database.transaction() as session:
                row = _row(session, former, slug) is not None
            folders = list(_folders(course, former))
            if not row and not folders:
                continue
            found = True
            what = f"{'its rows and ' * row}{len(folders)} folders"
            if not agreed(f"{former} is called {slug} now. Rename {what} of the class?"):
                yield f"{former}: left as it is."
                continue
            with database.transaction() as session:
                _rename(_row(session, former, slug), former, slug)
            for folder in folders:
                _move(folder, former, slug)
            yield f"{former}: {what} are called {slug} now."
        if not found:
            yield "This class has no lesson that was renamed since."
    finally:
        database.close()


def _row(session: Session, former: str, slug: str) -> api.Assignment | None:
    """The lesson's row under its former name."""
    rows = select(api.Assignment).where(api.Assignment.name.in_([former, slug]))
    found = {row.name: row for row in session.scalars(rows)}
    if len(found) == 2:
        raise GradebookError(
            f"The gradebook has rows of {former} and of {slug}, which are the same lesson. Remove "
            f"the one that nobody was graded in: nbgrader db assignment remove NAME"
        )
    return found.get(former)


def _rename(row: api.Assignment | None, former: str, slug: str) -> None:
    for named in [row, *row.notebooks] if row else []:
        if named.name == former:
            named.name = slug


def _folders(course: Course, former: str) -> Iterator[Path]:
    """Of every student and step, and of its runs."""
    for place in (course.submitted, course.autograded, course.feedback):
        pattern = place("*", former)
        steps = next(parent for parent in pattern.parents if "*" not in str(parent))
        yield from sorted(steps.glob(str(pattern.relative_to(steps))))
    yield from (course.submitted(".", ".").parent / "runs").glob(former)


def _move(folder: Path, former: str, slug: str) -> None:
    target = folder.with_name(slug)
    if target.exists():
        raise GradebookError(f"{folder} cannot be called {slug}: {target} is there. Look at both.")
    for path in sorted(folder.glob(f"{former}.*")):
        path.rename(path.with_name(slug + path.name.removeprefix(former)))
    folder.rename(target)
