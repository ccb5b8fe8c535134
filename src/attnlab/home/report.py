"""Progress for a terminal: `attnlab progress`."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from pathlib import Path

from attnlab.home.standing import Standing, mistakes, next_up, standings
from attnlab.ipynb.files import unwritable, writable
from attnlab.work.places import Course
from attnlab.work.progress import Log, read

_WIDTH = 20  # of a bar


def report(course: Course) -> Iterator[str]:
    """Lessons, exercises, points, mistakes met and what to do next, line by line."""
    log = read(course)
    found = standings(course, log.records)
    for each in found:
        filled = round(_WIDTH * each.score / max(each.points, 1))
        bar = "#" * filled + "." * (_WIDTH - filled)
        right, asked = each.quiz
        quiz = f", quiz {right} of {asked} right" if asked else ""
        yield f"{each.lesson.number:02} {each.lesson.title:<16} {bar}  {each.said}{quiz}"
        if each.begun and not each.done:
            for exercise in each.exercises:
                score = f"{exercise.score:g} of {exercise.points:g}"
                yield f"     {exercise.name}: {exercise.said} ({score})"
        for exercise in each.gone:
            yield f"     {exercise.name}: {exercise.said}"
    earned, worth = sum(each.score for each in found), sum(each.points for each in found)
    yield f"   {'all':<16} {' ' * _WIDTH}  {earned:g} of {worth:g} points"
    if met := mistakes(found, log.records):
        yield "\nMistakes met:"
        for one in met:
            yield f"  {one.slug}: {one.said}"
    yield f"\nNext: {what_next(next_up(found, log.records))}"
    yield from told(course, log)


def what_next(lesson: Standing | None) -> str:
    """One sentence: the exercise that comes next, and where it is."""
    if lesson is None:
        return "nothing. Every exercise is right."
    slug = lesson.lesson.slug
    where = f"work/{slug}/{slug}.ipynb"
    if not lesson.begun:
        return f"begin lesson {lesson.lesson.number:02}, {lesson.lesson.heading}: {where}"
    return f"`{lesson.open[0].name}` in lesson {lesson.lesson.number:02}: {where}"


def problems(course: Course, log: Log) -> Iterator[tuple[str, str]]:
    """What is wrong with the file, and what mends it, '' where nothing has to be done."""
    path, away = course.progress, aside(course, course.progress)
    if log.problem:
        yield log.problem, away
        return
    if log.broken and not log.records and not log.newer:
        yield f"{path} holds nothing that can be read", away
    elif log.broken:
        lines = "1 line is" if log.broken == 1 else f"{log.broken} lines are"
        yield f"{lines} broken in {path} and passed over; the others count: nothing to do", ""
    if log.newer:
        lines = "1 line is" if log.newer == 1 else f"{log.newer} lines are"
        what = f"{lines} from a newer attnlab in {path} and passed over"
        yield what, "unpack and install the newest course, as its README says"
    kept = path if path.exists() else course.state
    if kept.exists() and (error := unwritable(kept)):
        why = f"{kept} cannot be written ({error.strerror}), and no progress is kept"
        yield why, writable(kept, error)


def aside(course: Course, path: Path) -> str:
    """The command that moves away what is in a file's place, '' where nothing is."""
    wrong = course.in_the_way(path)
    return f"mv {shlex.quote(str(wrong))} {shlex.quote(f'{wrong}.broken')}" if wrong else ""


def told(course: Course, log: Log) -> Iterator[str]:
    """The same in sentences."""
    for what, mend in problems(course, log):
        yield f"{what[0].upper()}{what[1:]}.{f' Mend it with: {mend}' if mend else ''}"
