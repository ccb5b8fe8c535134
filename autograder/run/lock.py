"""One grader at a time for each gradebook."""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path

from attnlab.ipynb.files import NotWritten


@contextmanager
def sole_grader(path: Path, lesson: str, say: Callable[[str], None]) -> Iterator[None]:
    """Hold the lock, waiting for whoever has it; the system frees it when its holder dies.

    Args:
        path: the lock's file, which stays when the lock is free.
        lesson: what is being graded, for others to read.
        say: is told who is being waited for.
    Raises:
        NotWritten: the file cannot be written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        # Without a buffer: what could not be written is not tried again as the file is closed.
        file = open(path, "ab", buffering=0)  # noqa: SIM115
    except OSError as error:
        raise NotWritten(path, error) from error
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say(f"{_holder(path)} The gradebook takes one at a time: waiting for it.")
            fcntl.flock(file, fcntl.LOCK_EX)
        try:
            holder = {"pid": os.getpid(), "lesson": lesson, "since": f"{datetime.now():%H:%M:%S}"}
            file.truncate(0)
            file.write(json.dumps(holder).encode())
        except OSError as error:
            raise NotWritten(path, error) from error
        yield


def _holder(path: Path) -> str:
    """Who holds the lock, as a sentence."""
    try:
        holder = json.loads(path.read_text(encoding="utf-8"))
        return "Process {pid} has been grading {lesson} since {since}.".format(**holder)
    except (OSError, ValueError, KeyError, TypeError):  # it has just begun, and not written yet
        return "Another process is grading."
