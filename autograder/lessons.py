"""Which lesson: by name, or by what a notebook looks like."""

from __future__ import annotations

import difflib
from pathlib import Path

from attnlab.lesson import slugs
from autograder.limits import Limits
from autograder.problems import Problem, Usage, printable
from autograder.read import Unreadable, read

# What learners write in. Known before a lesson's exercises are loaded, which takes PyTorch.
STAGE_OF = {
    "01-soft-lookup": "pure",
    "02-pure-python": "pure",
    "03-numpy": "numpy",
    "04-scaling": "numpy",
    "05-pytorch": "torch",
    "06-causal-mask": "torch",
}
RELEASED = Path(__file__).resolve().parent.parent / "notebooks"


def known(lesson: str) -> str:
    """The lesson's own name.

    Raises:
        Usage: there is no such lesson.
    """
    if lesson in slugs():
        return lesson
    near = difflib.get_close_matches(lesson, slugs(), 1, 0.3)
    meant = f" Do you mean {near[0]}?" if near else ""
    raise Usage(f"There is no lesson {lesson!r}.{meant} The lessons are {', '.join(slugs())}.")


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


def lesson_of(path: Path, content: bytes | Unreadable, limits: Limits) -> str:
    """The lesson of a notebook: from the names of its file and folder, else from its cells.

    Raises:
        Usage: neither tells.
    """
    for name in (path.stem, path.absolute().parent.name):
        for slug in slugs():
            if name.startswith(slug):
                return slug
    try:
        if isinstance(content, Unreadable):
            raise content
        names = {cell.grade_id for cell in read(content, limits)} - {""}
    except Unreadable as unreadable:
        why = str(unreadable)
    else:
        shared = {slug: len(names & _grade_ids(slug, limits)) for slug in slugs()}
        most = max(shared.values())
        [first, *others] = [slug for slug in slugs() if shared[slug] == most]
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


def _grade_ids(lesson: str, limits: Limits) -> set[str]:
    text = released_text(RELEASED / lesson / f"{lesson}.ipynb")
    return {cell.grade_id for cell in read(text.encode(), limits)} - {""}
