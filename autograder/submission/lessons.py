"""Which lesson: by name, or by what a notebook looks like."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path

from attnlab import lessons
from attnlab.ipynb.read import Cell, Unreadable, read
from attnlab.ipynb.which import plainly_another, shares
from attnlab.ipynb.words import few, printable, short
from attnlab.lessons import slugs
from autograder import Disagree, Problem, Usage
from autograder.sandbox.limits import Limits

RELEASED = Path(__file__).resolve().parents[2] / "notebooks"
SOLUTIONS = RELEASED.with_name("solutions")
UNSOLVED = (
    "The solution {} is not here, so no exercise is judged a second time with the course's helper "
    "in the place of one that fails its own check."
)


def known(lesson: str) -> str:
    """The lesson's own name.

    Raises:
        Usage: there is no such lesson.
    """
    try:
        return lessons.known(lesson)
    except LookupError as unknown:
        raise Usage(str(unknown)) from None


def released_text(path: Path) -> str:
    """The notebook that learners were given.

    Raises:
        Problem: there is none.
    """
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeError) as error:
        raise Problem(
            f"The released notebook {path} cannot be read: {error}. Make it with: make release"
        ) from error


def solution_text(path: Path) -> str:
    """The course's own solution, '' where there is none: who grades need not have it.

    Raises:
        Problem: it is there, and cannot be read.
    """
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return ""
    except (OSError, UnicodeError) as error:
        raise Problem(f"The solution {path} cannot be read: {error}.") from error


def lesson_of(path: Path, content: bytes | Unreadable, limits: Limits) -> str:
    """The lesson of a notebook: from the names of its file and folder, else from its cells.

    Raises:
        Usage: neither tells.
    """
    for name in (path.stem, path.absolute().parent.name):
        named = [slug for slug in slugs() if slug in name.lower()]
        if len(named) == 1:
            return named[0]
    try:
        if isinstance(content, Unreadable):
            raise content
        found = shares({cell.grade_id for cell in read(content, limits)}, _labels())
    except Unreadable as unreadable:
        why = str(unreadable)
    else:
        most = max(found.values())
        [first, *others] = [slug for slug, share in found.items() if share == most]
        if most and not others:
            return first
        why = (
            f"Its graded cells are as much of {', '.join([first, *others])}."
            if most
            else "It has no graded cell of any lesson."
        )
    raise Usage(
        f"Cannot tell which lesson {printable(str(path))} is of. {why} Say it with --lesson: "
        f"{', '.join(slugs())}."
    )


def refuse_others(lesson: str, submitted: list[Cell], released: list[Cell]) -> None:
    """Refuse what is plainly the notebook of another lesson.

    Args:
        released: cells of the notebook of `lesson` that learners were given.
    Raises:
        Unreadable: another lesson's was handed in.
    """
    if other := plainly_another(lesson, submitted, released, _labels()):
        raise Unreadable(
            f"This is the notebook of {other}, handed in as {lesson}. Hand in `{lesson}.ipynb`."
        )


def points_in(cells: Iterable[Cell]) -> dict[str, float]:
    """What each exercise of a notebook is worth there."""
    return {cell.exercise: float(cell.nbgrader.get("points", 0)) for cell in cells if cell.is_check}


def refuse_other_points(
    lesson: str,
    notebook: Mapping[str, float],
    others: Mapping[str, float],
    of_gradebook: bool = False,
) -> None:
    """Refuse to grade where not everything has the same exercises and points.

    Args:
        notebook: points of the exercises in the released notebook, by name.
        others: the same by the checks, or in the gradebook.
    Raises:
        Disagree: which exercises, and how.
    """
    where = "the gradebook" if of_gradebook else "its check"
    listed = [
        f"`{short(name)}` has {_worth(notebook, name)} in the notebook, {_worth(others, name)} in "
        + where
        for name in dict.fromkeys([*notebook, *others])
        if notebook.get(name) != others.get(name)
    ]
    if listed:
        said = f"The points of {lesson} disagree, so nothing was graded: {'; '.join(few(listed))}."
        raise Disagree(said, dict(others), of_gradebook)


def _worth(points: Mapping[str, float], name: str) -> str:
    return f"{points[name]:g}" if name in points else "none"


@cache
def _labels() -> dict[str, set[str]]:
    """The labels of each lesson's cells; none where its notebook is not on this machine."""
    found: dict[str, set[str]] = {}
    for slug in slugs():
        try:
            text = released_text(RELEASED / slug / f"{slug}.ipynb")
        except Problem:
            found[slug] = set()
        else:
            found[slug] = {cell.grade_id for cell in read(text.encode(), Limits())} - {""}
    return found
