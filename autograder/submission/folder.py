"""What a student's folder held, and what nbgrader put beside it."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from attnlab.ipynb.files import FILE, open_file, taken
from attnlab.ipynb.handed_in import BESIDE, FOLDER, Leaves, in_nfc, open_beneath
from attnlab.ipynb.read import Unreadable, without_outputs
from attnlab.ipynb.words import printable
from autograder import Usage
from autograder.sandbox.limits import Limits

_SMALL = 1024  # bytes


@dataclass(frozen=True, slots=True)
class Submission:
    """What one student handed in for a lesson.

    Attributes:
        folder: name of the student's folder; bytes that are not UTF-8 are surrogates in it.
        content: the notebook's bytes, or why there are none.
        note: what the student should know besides, such as a second notebook that is not graded.
        beside: the small files that came with it, by name.
        seed: of its cases; None for the run's.
    """

    folder: str
    content: bytes | Unreadable
    note: str = ""
    beside: Mapping[str, bytes] = field(default_factory=dict)
    seed: int | None = None

    @property
    def student(self) -> str:
        """The folder's name as text that can be printed, stored and sent anywhere."""
        return in_nfc(os.fsencode(self.folder).decode("utf-8", "backslashreplace"))

    @property
    def fingerprint(self) -> str:
        """Changes whenever what is recorded may."""
        if isinstance(self.content, bytes):
            kind, content = b"notebook", self.content
        else:
            kind, content = b"unreadable", str(self.content).encode()
        digest = hashlib.sha256()
        parts = [kind, self.note.encode(), content]
        for name, data in sorted(self.beside.items()):
            parts += name.encode(), data
        for part in parts:
            digest.update(b"%d\0" % len(part))
            digest.update(part)
        return digest.hexdigest()


def small_files(folder: Path) -> dict[str, bytes]:
    """What came with a submission that nbgrader reads again later, if it is what it should be.

    A learner may have made the folder: no link out of it is followed, nothing large or odd is read.
    """
    found: dict[str, bytes] = {}
    with opened(folder) as descriptor:
        for name in BESIDE if descriptor is not None else ():
            with suppress(OSError, Unreadable):  # such as a link
                found[name] = taken(os.open(name, FILE, dir_fd=descriptor), name, _SMALL)
    return found


@contextmanager
def opened(folder: Path) -> Iterator[int | None]:
    """A submission's folder, open; None where there is none or it leaves the student's."""
    try:
        descriptor = open_beneath(folder.parent, Path(folder.name), FOLDER)
    except (Leaves, OSError):
        yield None
        return
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def read_file(path: Path, limits: Limits) -> bytes | Unreadable:
    """One notebook that a person names; where that is a link, what it leads to.

    Raises:
        Usage: there is nothing to open.
    """
    try:
        descriptor = open_file(path)
    except Unreadable as none:
        return none
    except OSError as error:
        reason = os.strerror(error.errno or 0)
        raise Usage(f"Cannot open {printable(str(path))}: {reason}.") from error
    try:
        # Without outputs, or megabytes would wait, and travel, for nothing.
        return without_outputs(taken(descriptor, path.name, limits.notebook_bytes), limits)
    except Unreadable as reason:
        return reason
