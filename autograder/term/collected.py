"""What was collected for a lesson, from where: `class/collected/<lesson>.csv`.

An LMS matches a page that comes back by the name of what it gave out. So that name is kept for
each student, with what the LMS calls them there.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable
from dataclasses import astuple, dataclass, fields
from pathlib import Path

from attnlab.ipynb.files import write_whole
from autograder import Problem
from autograder.term.roster import text_of


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
    """

    student: str
    lms: str
    known_as: str
    name: str
    time: str
    digest: str


_COLUMNS = [field.name for field in fields(Collected)]


def read(path: Path) -> list[Collected]:
    """What was collected, one for a student; nothing where there is no file.

    Raises:
        Problem: the file was changed, and is not read any more.
    """
    try:
        text = text_of(path.read_bytes(), str(path))
    except FileNotFoundError:
        return []
    lines = list(csv.reader(io.StringIO(text, newline="")))
    if not lines or lines[0] != _COLUMNS or any(len(line) != len(_COLUMNS) for line in lines):
        raise Problem(f"{path} is not as `collect` wrote it. Move it away, and collect again.")
    return [Collected(*line) for line in lines[1:]]


def written(found: Iterable[Collected]) -> bytes:
    """The file's content."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(_COLUMNS)
    writer.writerows(astuple(each) for each in sorted(found, key=lambda each: each.student))
    return text.getvalue().encode()


def write(path: Path, found: Iterable[Collected]) -> None:
    """Raises: NotWritten."""
    write_whole(path, written(found))
