"""Handing in: one zip that any LMS takes, and the grader as it is, looked through first.

Where whoever runs the machine has set up nbgrader's exchange, the lesson is submitted there, and
the zip is what the learner keeps of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from attnlab.checks.unparsed import unparsed
from attnlab.home.copies import Amiss, back_up, from_work, in_others, own_copy
from attnlab.home.exchange import NotTaken, submitted_to
from attnlab.home.standing import standings
from attnlab.ipynb.handed_in import in_zip
from attnlab.ipynb.read import Cell, Sizes, Unreadable, read
from attnlab.ipynb.rebuild import rebuild
from attnlab.ipynb.which import is_answered
from attnlab.ipynb.words import few, short
from attnlab.ipynb.zipped import zipped
from attnlab.lessons import known, lesson
from attnlab.work.places import Course, NotThere, Refused, lesson_path
from attnlab.work.progress import read as read_log

_MISSING = ": solution cell is missing"


def hand_in(course: Course, slug: str) -> list[str]:
    """Put a lesson, as it was last saved, into work/hand-in/<lesson>.zip, and submit it if it can.

    Returns:
        What to say: where it is, and what its learner should know before they send it.
    Raises:
        LookupError: there is no such lesson.
        NotWritten: the disk is full, or the folder may not be written.
        Refused: it is not there, no notebook or another lesson's; or nothing is written in it, and
            what was made before would be replaced.
    """
    try:
        data, cells, released = own_copy(course, known(slug))
    except Amiss as why:
        raise Refused(f"There is nothing to hand in: {why}") from None
    path = course.handed_in(slug)
    made = zipped({lesson_path(slug).as_posix(): data})
    try:
        before = course.read(path)
    except NotThere:
        before = made
    except Unreadable as why:
        name = from_work(course, path)
        raise Refused(f"{name} cannot be read: {why} Move it away, then hand in again.") from None
    said = []
    if not is_answered(cells, released):
        mine = from_work(course, course.notebook(slug))
        said.append(f"Nothing is written in {mine} yet.{in_others(course, slug)}")
        if before != made and _has_answers(slug, before, released):
            kept = f"What you made before stays in {from_work(course, path)}."
            raise Refused(f"{said[0]} {kept} To hand in the empty lesson, move that away first.")
    notes = list(_notes(course, slug, cells, released))
    if before != made:
        notes.append(f"What you made before is in {back_up(course, path, before)}.")
    course.write(path, made)
    return [*said, _handed_over(slug, data, from_work(course, path)), *notes]


def _handed_over(slug: str, data: bytes, where: str) -> str:
    """Submit it where it can be; what its learner does next."""
    try:
        if exchange := submitted_to(slug, data):
            return f"Submitted to {exchange}. A copy of it is {where}."
    except NotTaken as why:
        return f"It was not submitted to nbgrader's exchange: {why} Hand in the file {where}."
    return f"Hand in the file {where} as it is. It holds what you saved last."


def _has_answers(slug: str, made: bytes, released: list[Cell]) -> bool:
    try:
        return is_answered(read(in_zip(made, f"{slug}.zip", slug, Sizes())[0]), released)
    except Unreadable:  # whatever it is, it is theirs
        return True


def _notes(course: Course, slug: str, cells: list[Cell], released: list[Cell]) -> Iterator[str]:
    """What a grader will find: nothing of it keeps a notebook from being handed in."""
    rebuilt = rebuild(cells, released, removed=lesson(slug).removed)
    missing = [line.removesuffix(_MISSING) for line in rebuilt.repaired if line.endswith(_MISSING)]
    empty = [c.grade_id for c in rebuilt.cells if c.is_solution and not c.is_written]
    repaired = [line for line in rebuilt.repaired if not line.endswith(_MISSING)]
    broken = list(_not_python(rebuilt.cells))
    wrong = [
        one.name
        for each in standings(course, read_log(course).records)
        if each.lesson.slug == slug
        for one in each.exercises
        if one.tried and not one.passed and one.name not in empty
    ]
    if broken:
        found = ", ".join(few(broken))
        yield f"This is not Python yet, so nothing of it runs: {found}."
    if empty:
        yield f"Not written yet: {_named(empty)}."
    if missing:
        yield f"The cell to write in is gone: {_named(missing)}. What you defined elsewhere counts."
    if wrong:
        yield f"No check of these was right so far: {_named(wrong)}."
    if repaired:
        yield f"The grader will put right what was changed: {'; '.join(few(repaired))}."
    if not (empty or missing or wrong or repaired or broken):
        yield "Every exercise is written, and every cell is whole."
    if is_answered(cells, released):
        yield f"Whether it is right as it is saved now, `attnlab check-mine {slug}` tells."


def _not_python(cells: Sequence[Cell]) -> Iterator[str]:
    """A learner's cells that cannot be run: which, where and why."""
    for cell in cells:
        if cell.kind == "code" and cell.is_theirs and (found := unparsed(cell.source)):
            first = next(filter(None, map(str.strip, cell.source.splitlines())), "")
            name = f"`{cell.grade_id}`" if cell.grade_id else f"your cell `{short(first)}`"
            yield f"{name}, {found} ({found.words.reason[:-1]})"


def _named(exercises: Sequence[str]) -> str:
    return ", ".join(few([f"`{name}`" for name in exercises]))
