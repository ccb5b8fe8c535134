"""What a learner has done, in one small file that only grows: work/.attnlab/progress.jsonl.

Each `begin` and each `check` appends a line, in one write, so that two notebooks need no lock:

    {"v": 1, "when": "2026-03-01T10:00:00+01:00", "lesson": "01-soft-lookup", "exercise": "softmax",
     "status": "FAIL", "score": 0.5, "points": 2.0, "mistake": "unstable-softmax", "why": "…"}

`status` is a check's, or BEGUN for a lesson, or READ for an exercise whose solution was looked at.
Lines that cannot be understood are passed over, and whatever goes wrong while one is written stays
here: a check is never the worse for it. Nothing is written where no folder above has `.attnlab/`,
as in a grader or in CI; what was not written is remembered as long as the kernel runs.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path

from attnlab import lessons

STATE = ".attnlab"
FILE = "progress.jsonl"
VERSION = 1
BEGUN, READ = "BEGUN", "READ"

_unwritten: list[Record] = []
_begun: set[str] = set()


@dataclass(frozen=True, slots=True)
class Record:
    """One line.

    Attributes:
        exercise: '' where a lesson was begun.
        score: points earned, of `points`.
        mistake: slug of what a check named, '' for none.
        why: that is wrong, as the card said; lines of old have none.
        contract: the exercise's, by number; lines of old have the first.
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


def place() -> Path | None:
    """The folder that keeps progress here: the nearest one above that has `.attnlab/`."""
    try:
        here = Path.cwd()
    except OSError:  # it was removed
        return None
    return next((folder for folder in (here, *here.parents) if (folder / STATE).is_dir()), None)


def begun(lesson: str) -> None:
    """Note that a lesson was begun, once in a kernel."""
    if lesson not in _begun:
        _begun.add(lesson)
        note(lesson, "", BEGUN)


def note(
    lesson: str,
    exercise: str,
    status: str,
    score: float = 0.0,
    points: float = 0.0,
    mistake: str = "",
    why: str = "",
) -> bool:
    """Append a line. Never raises.

    Returns:
        False if there is a place for it, and it could not be written there.
    """
    when = datetime.now().astimezone().isoformat(timespec="seconds")
    contract = lessons.lesson(lesson).changed.get(exercise, 1) if lesson in lessons.slugs() else 1
    record = Record(when, lesson, exercise, status, score, points, mistake, why, contract)
    folder = None
    try:
        folder = place()
        if folder is not None:
            _append(folder / STATE / FILE, {"v": VERSION, **asdict(record)})
            return True
    except Exception:  # a full disk, a file that may not be written: the card tells
        pass
    _unwritten.append(record)
    return folder is None


def _append(path: Path, line: Mapping[str, object]) -> None:
    data = f"{json.dumps(line, ensure_ascii=False)}\n".encode()
    flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | getattr(os, "O_BINARY", 0)
    handle = os.open(path, flags, 0o644)
    try:
        if os.fstat(handle).st_size:
            os.lseek(handle, -1, os.SEEK_END)
            if os.read(handle, 1) != b"\n":  # a line was cut short: it shall not spoil this one
                data = b"\n" + data
        os.write(handle, data)
    finally:
        os.close(handle)


def here() -> Log:
    """What is known in this kernel: what lies in the file, and what could not be put there."""
    folder = place()
    log = read(folder / STATE) if folder is not None else Log()
    return Log((*log.records, *_unwritten), log.broken, log.newer, log.problem)


def read(state: Path) -> Log:
    """All that can be read of a progress file. Never raises."""
    try:
        lines = (state / FILE).read_bytes().splitlines()
    except FileNotFoundError:
        return Log()
    except OSError as error:
        return Log(problem=f"{state / FILE} cannot be read: {error.strerror}")
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
    when, lesson, exercise, status, mistake = map(str, texts)
    lesson = lessons.today(lesson, exercise)
    score, points = (float(str(number)) for number in numbers)
    why = found.get("why")
    told = why if isinstance(why, str) else ""
    contract = found.get("contract")
    number = contract if type(contract) is int else 1
    return Record(when, lesson, exercise, status, score, points, mistake, told, number)
