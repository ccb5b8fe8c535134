"""What was collected for a lesson, from where: `class/collected/<lesson>.json`.

An LMS matches a page that comes back by the name of what it gave out. So that name is kept for
each student, with what the LMS calls them there.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, fields
from pathlib import Path

from attnlab.ipynb.files import write_whole
from attnlab.ipynb.handed_in import TIMESTAMP
from autograder import Problem
from autograder.submission.folder import small_files
from autograder.submission.timestamps import time_of


@dataclass(frozen=True, slots=True)
class Collected:
    """One student's hand-in, as it came.

    Attributes:
        student: id.
        lms: 'canvas', 'moodle', 'gradescope', or '' for plain files.
        known_as: what the LMS calls the student in this hand-in; '' if it says nothing. Moodle's
            changes with the assignment.
        name: of the file in the archive, with its folders.
        time: of handing in, as timestamp.txt has it; '' if nothing told.
        digest: SHA-256 of the notebook.
        made: when the archive was, as Moodle's server has it; '' if nothing told.
        late: 'late' if the LMS says so; else ''.
    """

    student: str
    lms: str
    known_as: str
    name: str
    time: str
    digest: str
    made: str = ""
    late: str = ""


FOLDER = "collected"
_FIELDS = {field.name for field in fields(Collected)}
_NEWER = {"made", "late"}  # which an earlier version did not write


def read(path: Path) -> list[Collected]:
    """What was collected, one for a student; nothing where there is no file.

    Raises:
        Problem: the file was changed, and is not read any more.
    """
    try:
        found = json.loads(path.read_bytes())
        if not all(_is_of(each) for each in found):
            raise ValueError
        return [Collected(**each) for each in found]
    except FileNotFoundError:
        return []
    except (ValueError, TypeError, RecursionError):
        raise Problem(
            f"{path} is not as `collect` wrote it. Move it away, and collect again."
        ) from None


def late_some_time(path: Path, folder: Callable[[str], Path]) -> set[str]:
    """Whom the LMS calls late, and of whom nothing says when they handed in.

    Args:
        folder: of a student's hand-in.
    Raises:
        Problem: as at `read`.
    """
    late = [each.student for each in read(path) if each.late]
    return {who for who in late if time_of(small_files(folder(who)).get(TIMESTAMP, b"")) is None}


def _is_of(each: object) -> bool:
    return (
        isinstance(each, dict)
        and each.keys() | _NEWER == _FIELDS
        and all(isinstance(value, str) for value in each.values())
    )


def written(found: Iterable[Collected]) -> bytes:
    """The file's content."""
    each = [asdict(one) for one in sorted(found, key=lambda one: one.student)]
    return (json.dumps(each, indent=1, ensure_ascii=False) + "\n").encode()


def write(path: Path, found: Iterable[Collected]) -> None:
    """Raises: NotWritten."""
    write_whole(path, written(found))


def forget(path: Path, student: str) -> bool:
    """Take a student out of a record; whether they were in it.

    Raises:
        Problem, NotWritten: it is as it was.
    """
    found = read(path)
    others = [each for each in found if each.student != student]
    if len(others) != len(found):
        write(path, others)
    return len(others) != len(found)
