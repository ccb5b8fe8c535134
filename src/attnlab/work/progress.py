"""What a learner has done, in one small file that only grows: work/.attnlab/progress.jsonl.

Each `begin` and each `check` appends a line, in one write, so that two notebooks need no lock:

    {"v": 1, "when": "2026-03-01T10:00:00+01:00", "lesson": "01-soft-lookup", "exercise": "softmax",
     "status": "FAIL", "score": 0.5, "points": 2.0, "mistake": "unstable-softmax", "why": "…"}

`status` is a check's, or BEGUN for a lesson, READ for an exercise whose solution was looked at, or
CHOSE for a question of a quiz, whose name stands in the place of an exercise's.
Lines that cannot be understood are passed over, and whatever goes wrong while one is written stays
here: a check is never the worse for it. Nothing is written where no folder above has `.attnlab/`,
as in a grader or in CI; what was not written is remembered as long as the kernel runs.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path

from attnlab import lessons
from attnlab.work.places import STATE, Course, NotThere
from attnlab.ipynb.read import Unreadable
from attnlab.ipynb.words import printable

VERSION = 1
BEGUN, READ, CHOSE = "BEGUN", "READ", "CHOSE"
NO_MISTAKE = ("", "raised")  # that it stopped with an error: of which kind, the card said

_unwritten: list[Record] = []
_begun: set[str] = set()
_works: list[Path] = []


@dataclass(frozen=True, slots=True)
class Record:
    """One line.

    Attributes:
        exercise: '' where a lesson was begun.
        score: points earned, of `points`.
        mistake: slug of what a check named, '' for none.
        why: that is wrong, as the card said; lines of old have none.
        contract: the exercise's, by number; lines of old have the first.
        choice: what was chosen in a quiz, in its words: a question may get others.
    """

    when: str
    lesson: str
    exercise: str
    status: str
    score: float = 0.0
    points: float = 0.0
    mistake: str = ""
    why: str = ""
    contract: int = 1
    choice: str = ""

    @property
    def is_earlier(self) -> bool:
        """Whether the exercise asks for something else now."""
        asked = lessons.lesson(self.lesson) if self.lesson in lessons.slugs() else None
        return asked is not None and self.contract < asked.changed.get(self.exercise, 1)


@dataclass(frozen=True, slots=True)
class Log:
    """What there is to read.

    Attributes:
        broken: lines that no version of attnlab has written.
        newer: lines of a version to come.
        problem: why nothing could be read, '' if it could.
    """

    records: tuple[Record, ...] = ()
    broken: int = 0
    newer: int = 0
    problem: str = ""


def place() -> Course | None:
    """The course whose work/ this is in: the nearest folder above that has `.attnlab/`.

    A notebook that goes elsewhere (`%cd`) stays in the one where this kernel was last.
    """
    with suppress(OSError):  # the folder was removed
        here = Path.cwd()
        _works.extend(folder for folder in (*here.parents[::-1], here) if (folder / STATE).is_dir())
    del _works[:-1]
    return Course(_works[0].parent, _works[0]) if _works else None


def begun(lesson: str) -> None:
    """Note that a lesson was begun, once in a kernel."""
    if lesson not in _begun:
        _begun.add(lesson)
        note(lesson, "", BEGUN)


def forget() -> None:
    """Forget what was not written, as a new kernel would."""
    _unwritten.clear()
    _begun.clear()


def note(
    lesson: str,
    exercise: str,
    status: str,
    score: float = 0.0,
    points: float = 0.0,
    mistake: str = "",
    why: str = "",
    choice: str = "",
) -> bool:
    """Append a line. Never raises.

    Returns:
        False if there is a place for it, and it could not be written there.
    """
    when = datetime.now().astimezone().isoformat(timespec="seconds")
    contract = lessons.lesson(lesson).changed.get(exercise, 1) if lesson in lessons.slugs() else 1
    record = Record(when, lesson, exercise, status, score, points, mistake, why, contract, choice)
    course = None
    try:
        course = place()
        if course is not None:
            line = json.dumps({"v": VERSION, **asdict(record)}, ensure_ascii=False)
            course.append(course.progress, f"{line}\n".encode())
            return True
    except Exception:  # a full disk, a file that may not be written: the card tells
        pass
    _unwritten.append(record)
    return course is None


def here() -> Log:
    """What is known in this kernel: what lies in the file, and what could not be put there."""
    course = place()
    log = read(course) if course is not None else Log()
    return Log((*log.records, *_unwritten), log.broken, log.newer, log.problem)


def read(course: Course) -> Log:
    """All that can be read of a progress file. Never raises."""
    try:
        lines = course.read(course.progress).splitlines()
    except NotThere:
        return Log()
    except Unreadable as why:
        return Log(problem=f"{course.progress} cannot be read: {str(why).rstrip('.')}")
    records, broken, newer = [], 0, 0
    for line in filter(None, map(bytes.strip, lines)):
        try:
            found = json.loads(line)
            version = found["v"]
            if type(version) is int and version > VERSION:
                newer += 1
                continue
            records.append(_record(found))
        except (ValueError, KeyError, TypeError, RecursionError):
            broken += 1
    return Log(tuple(records), broken, newer)


def _record(found: Mapping[str, object]) -> Record:
    texts = [found[name] for name in ("when", "lesson", "exercise", "status", "mistake")]
    numbers = [found[name] for name in ("score", "points")]
    if not all(isinstance(text, str) for text in texts):
        raise TypeError("not a text")
    if not all(isinstance(number, (int, float)) and abs(number) < 1e9 for number in numbers):
        raise TypeError("not a number")
    when, lesson, exercise, status, mistake = (printable(str(text)) for text in texts)
    lesson = lessons.today(lesson, exercise)
    score, points = (float(str(number)) for number in numbers)
    why, choice = (
        printable(text) if isinstance(text := found.get(name), str) else ""
        for name in ("why", "choice")
    )
    contract = found.get("contract")
    number = contract if type(contract) is int else 1
    return Record(when, lesson, exercise, status, score, points, mistake, why, number, choice)
