"""Handing in: one folder as the instructor's class/submitted/ takes it, looked through first."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

from attnlab.home.copies import back_up, labels_of
from attnlab.home.places import Course
from attnlab.home.progress import read as read_log
from attnlab.home.standing import standings
from attnlab.ipynb.files import write_whole
from attnlab.ipynb.read import Cell, Unreadable, read
from attnlab.ipynb.rebuild import rebuild
from attnlab.ipynb.which import plainly_another
from attnlab.lessons import known

_MISSING = ": solution cell is missing"


class Refused(Exception):
    """This cannot be handed in; the sentence says why and what to do."""


def hand_in(course: Course, slug: str) -> list[str]:
    """Copy a lesson, as it was last saved, to work/hand-in/<lesson>/<lesson>.ipynb.

    Returns:
        What to say: where it is, and what its learner should know before they send it.
    Raises:
        LookupError: there is no such lesson.
        NotWritten: the disk is full, or the folder may not be written.
        Refused: it is no notebook, or another lesson's.
    """
    mine = course.notebook(known(slug))
    try:
        data = mine.read_bytes()
        cells = read(data)
    except FileNotFoundError:
        raise Refused(f"There is no {_short(course, mine)}. Has it another name?") from None
    except (OSError, Unreadable) as why:
        raise Refused(f"{_short(course, mine)} cannot be handed in. {why}") from None
    try:
        released = read((course.released / slug / f"{slug}.ipynb").read_bytes())
    except (OSError, Unreadable) as why:
        raise Refused(f"notebooks/{slug} cannot be read: {why} `attnlab doctor` helps.") from None
    if other := plainly_another(slug, cells, released, labels_of(course)):
        raise Refused(f"{_short(course, mine)} holds lesson {other}. Put lesson {slug} there.")
    saved = time.strftime("%H:%M on %Y-%m-%d", time.localtime(mine.stat().st_mtime))
    path = course.work / "hand-in" / slug / f"{slug}.ipynb"
    said = []
    if path.exists() and (before := path.read_bytes()) != data:
        said = [f"What you made before is in {back_up(course, path, before)}."]
    write_whole(path, data)
    where = f"{_short(course, path.parent)}/"
    return [
        f"Hand in the folder {where} as it is. It holds what you saved at {saved}.",
        *_notes(course, slug, cells, released),
        *said,
    ]


def _notes(course: Course, slug: str, cells: list[Cell], released: list[Cell]) -> Iterator[str]:
    """What a grader will find: nothing of it keeps a notebook from being handed in."""
    rebuilt = rebuild(cells, released)
    missing = [line.removesuffix(_MISSING) for line in rebuilt.repaired if line.endswith(_MISSING)]
    empty = [c.grade_id for c in rebuilt.cells if c.is_solution and not c.is_written]
    repaired = [line for line in rebuilt.repaired if not line.endswith(_MISSING)]
    wrong = [
        one.name
        for each in standings(course, read_log(course.state).records)
        if each.lesson.slug == slug
        for one in each.exercises
        if one.tried and not one.passed and one.name not in empty
    ]
    if empty:
        yield f"Not written yet: {', '.join(f'`{name}`' for name in empty)}."
    if missing:
        names = ", ".join(f"`{name}`" for name in missing)
        yield f"The cell to write in is gone: {names}. What you defined elsewhere counts."
    if wrong:
        yield f"No check of these was right so far: {', '.join(f'`{name}`' for name in wrong)}."
    if repaired:
        yield f"The grader will put right what was changed: {'; '.join(repaired)}."
    if not (empty or missing or wrong or repaired):
        yield "Every exercise is written, and every cell is whole."


def _short(course: Course, path: Path) -> str:
    return f"work/{path.relative_to(course.work).as_posix()}"
