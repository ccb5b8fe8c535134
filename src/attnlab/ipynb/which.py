"""Which lesson a notebook is of, told by the names of its graded cells."""

from __future__ import annotations

from collections.abc import Mapping, Set

from attnlab.ipynb.read import Cell
from attnlab.ipynb.rebuild import labels, last_definition

_PLAIN = 0.5  # of the labels that a lesson alone has

Labels = Mapping[str, Set[str]]  # by slug, the names of each lesson's cells


def shares(found: Set[str], known: Labels) -> dict[str, float]:
    """How much of each lesson is there, of the labels that no other lesson has."""
    parts = {}
    for slug, names in known.items():
        own = names - {name for other, theirs in known.items() if other != slug for name in theirs}
        parts[slug] = len(found & own) / max(len(own), 1)
    return parts


def plainly_another(lesson: str, submitted: list[Cell], released: list[Cell], known: Labels) -> str:
    """The other lesson that a notebook is plainly of: most of that one, none of this; '' if none.

    Lessons share names of exercises, learners delete cells and copy them from lesson to lesson, and
    a front end may drop every label. So a cell is of this lesson also by its id or its source, and
    a notebook in which one of this lesson's functions is written is taken for it whatever else it
    is.

    Args:
        released: cells of the notebook of `lesson` that learners were given.
        known: the labels of all lessons.
    """
    for other, share in shares({cell.grade_id for cell in submitted}, known).items():
        if other != lesson and share > _PLAIN and not is_of(submitted, released, known[other]):
            return other
    return ""


def is_of(submitted: list[Cell], released: list[Cell], others: Set[str] = frozenset()) -> bool:
    """Whether anything of a lesson is there: one of its cells, or one of its functions written.

    Args:
        others: labels that say nothing, since they are another lesson's too.
    """
    theirs = {*others, ""}
    functions = {cell.exercise for cell in released} - theirs
    written = [cell for cell in submitted if cell.is_theirs]
    return bool(labels(submitted, released) & ({cell.grade_id for cell in released} - theirs)) or (
        any(last_definition(written, name) >= 0 for name in functions)
    )


def is_answered(cells: list[Cell], released: list[Cell]) -> bool:
    """Whether any exercise is answered, in its own cell or in another."""
    if any(cell.is_solution and cell.is_written for cell in cells):
        return True
    own = [cell for cell in cells if not cell.grade_id]
    return any(last_definition(own, cell.exercise) >= 0 for cell in released if cell.is_check)


def holds(submitted: list[Cell], known: Labels) -> str:
    """The lesson that a notebook has most of, '' if it has not half of any."""
    found = shares({cell.grade_id for cell in submitted}, known)
    most = max(found, key=lambda slug: found[slug], default="")
    return most if most and found[most] > _PLAIN else ""
