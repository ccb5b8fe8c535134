"""Who was graded when, by which checks, with which seed and result: what the journals say."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from attnlab.ipynb.handed_in import in_nfc
from attnlab.ipynb.words import printable, short
from autograder import Problem
from autograder.gradebook.course import Course
from autograder.gradebook.database import GradebookError
from autograder.gradebook.gradebook import Gradebook
from autograder.pages.summary import from_here
from autograder.run.journal import NAME, Line, is_of, lines
from autograder.submission.handed_in import chosen
from autograder.submission.lessons import known

_DIGITS = 12  # of a digest; the journal has them all


def history(course: Course, student: str, lesson: str = "") -> Iterator[str]:
    """What was recorded of a student, line by line.

    Args:
        lesson: '' for all.
    Raises:
        Usage: there is no such lesson, or nothing of such a student.
        Problem: a journal cannot be read.
    """
    found = journals(course)
    if lesson not in ["", *(path.parent.name for path in found)]:
        known(lesson)
    found = [path for path in found if lesson in ("", path.parent.name)]
    student = in_nfc(student)
    chosen(sorted(map(in_nfc, students(found))), [student], lesson or "any lesson", "was graded in")
    for path in found:
        theirs = [line for line in read(path) if is_of(line, student)]
        if theirs:
            times = "once" if len(theirs) == 1 else f"{len(theirs)} times"
            yield f"{path.parent.name}: graded {times}, as {from_here(path)} says"
        for line in theirs:
            yield from _told(line)
        if theirs:
            yield from _by_hand(course, path.parent.name, student)


def _by_hand(course: Course, lesson: str, student: str) -> Iterator[str]:
    """What a person gave, as the gradebook has it now; nothing where it cannot be read."""
    with suppress(GradebookError), Gradebook(course, make=False) as gradebook:
        standing = gradebook.standings(lesson).get(student)
        given = [
            f"{name} {mark.score:g}"
            for name, mark in (standing.marks if standing else {}).items()
            if mark.manual is not None or mark.extra
        ]
        if standing and given:
            yield f"  now  {standing.total:g} of {standing.most:g} points, as a person set: " + (
                printable(", ".join(given))
            )


def journals(course: Course) -> list[Path]:
    """Those of all lessons, also of what was called otherwise once."""
    return sorted((course.submitted(".", ".").parent / "runs").glob(f"*/{NAME}"))


def read(path: Path) -> Iterator[Line]:
    """What a journal says of submissions.

    Raises:
        Problem: it cannot be read.
    """
    try:
        with open(path, "rb") as file:
            yield from (line for _, line in lines(file) if line and "result" in line)
    except OSError as error:
        raise Problem(f"Cannot read {path}: {error.strerror}.") from error


def students(paths: Iterable[Path]) -> set[str]:
    """Whoever is named in journals, by the name of the folder and as it is shown."""
    return {
        name
        for path in paths
        for line in read(path)
        for name in (line["folder"], line["result"]["student"])
    }


def _told(line: Line) -> Iterator[str]:
    result = line["result"]
    yield (
        f"  {line.get('at') or line['begun']}  {result['status']}, "
        f"{result['score']:g} of {result['max_score']:g} points{_beside(line)}"
    )
    if result["exercises"]:
        yield "    " + ", ".join(
            f"{item['name']} {item['status']} {item['score']:g}"
            + (f" ({item['diagnosis']})" if item["diagnosis"] else "")
            for item in result["exercises"]
        )
    elif result["message"]:
        yield f"    {short(result['message'])}"
    handed_in = line.get("handed_in")
    asked = [f"seed {line.get('seed')}", f"checks {line.get('code', '')[:_DIGITS]}"]
    asked += [f"lesson {line.get('released', '')[:_DIGITS]}"]
    asked += [f"notebook {line['fingerprint'][:_DIGITS]}"]
    asked += [f"handed in {printable(handed_in)} UTC"] if handed_in else []
    yield f"    {', '.join(asked)}"


def _beside(line: Line) -> str:
    """What the hand-in before it has to do with it."""
    if line.get("earlier") is None:
        return ""
    kept = "" if line["stands"] else ", which was kept"
    return f", after {line['earlier']:g}{kept}"
