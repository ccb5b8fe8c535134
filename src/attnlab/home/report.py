"""Progress for a terminal: `attnlab progress`."""

from __future__ import annotations

import os
from collections.abc import Iterator

from attnlab.home.places import Course
from attnlab.home.progress import FILE, Log, read
from attnlab.home.standing import Standing, mistakes, next_up, standings

_WIDTH = 20  # of a bar


def report(course: Course) -> Iterator[str]:
    """Lessons, exercises, points, mistakes met and what to do next, line by line."""
    log = read(course.state)
    found = standings(course, log.records)
    for each in found:
        filled = round(_WIDTH * each.score / max(each.points, 1))
        bar = "#" * filled + "." * (_WIDTH - filled)
        yield f"{each.lesson.number:02} {each.lesson.title:<16} {bar}  {each.said}"
        if each.begun and not each.done:
            for exercise in each.exercises:
                score = f"{exercise.score:g} of {exercise.points:g}"
                yield f"     {exercise.name}: {exercise.said} ({score})"
    earned, worth = sum(each.score for each in found), sum(each.points for each in found)
    yield f"   {'all':<16} {' ' * _WIDTH}  {earned:g} of {worth:g} points"
    if met := mistakes(found, log.records):
        yield "\nMistakes met:"
        for one in met:
            times = "once" if one.times == 1 else f"{one.times} times"
            state = "mended" if one.mended else "still there"
            yield f"  {one.slug}: {times} ({'; '.join(one.where)}), {state}"
    yield f"\nNext: {what_next(next_up(found, log.records))}"
    yield from problems(course, log)


def what_next(lesson: Standing | None) -> str:
    """One sentence: the exercise that comes next, and where it is."""
    if lesson is None:
        return "nothing. Every exercise is right."
    slug = lesson.lesson.slug
    where = f"work/{slug}/{slug}.ipynb"
    if not lesson.begun:
        return f"begin lesson {lesson.lesson.number:02}, {lesson.lesson.heading}: {where}"
    return f"`{lesson.open[0].name}` in lesson {lesson.lesson.number:02}: {where}"


def problems(course: Course, log: Log) -> Iterator[str]:
    """What of the file could not be used, in one sentence each."""
    path = course.state / FILE
    if log.problem:
        yield log.problem
    if log.broken:
        yield f"{log.broken} line(s) of {path} could not be understood and were passed over."
    if log.newer:
        yield f"{log.newer} line(s) of {path} are from a newer attnlab and were passed over."
    kept = path if path.exists() else course.state
    if not log.problem and kept.exists() and not os.access(kept, os.W_OK):
        yield f"{kept} may not be written, so nothing new is kept: chmod u+w '{kept}'"
