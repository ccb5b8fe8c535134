"""When a submission was handed in, as nbgrader reads it, and what it could not read put aside.

Formgrader opens `timestamp.txt` among the submissions itself: its page fails where that says no
time, and waits for ever where that is a named pipe. So what cannot be read gets another name in its
place. Nothing but a small regular file is opened, and nothing is lost.
"""

from __future__ import annotations

import functools
import itertools
import logging
import os
import re
from datetime import datetime, timedelta
from pathlib import Path

from dateutil import parser
from nbgrader import utils

from attnlab.ipynb.files import KINDS
from attnlab.ipynb.handed_in import BESIDE, TIMESTAMP
from attnlab.ipynb.words import printable
from autograder.submission.folder import opened, small_files

log = logging.getLogger(__name__)

ASIDE = ".unreadable"
_ZONE = re.compile(r"[\w+-][\w+:/-]*")
_DAY = timedelta(days=1)  # no time zone moves a time further


@functools.lru_cache(maxsize=1024)  # each is asked for several times
def time_of(data: bytes) -> datetime | None:
    """When a submission was handed in, in UTC; None if that is no time to nbgrader."""
    try:
        text = data.decode().strip()
        if not _is_whole(text):
            return None
        when: datetime = utils.parse_utc(text)
    except Exception:  # the parser may raise anything at what a learner wrote
        return None
    return when if datetime.min + _DAY <= when <= datetime.max - _DAY else None


def _is_whole(text: str) -> bool:
    """Whether the text says all of a date, and names no file.

    The parser takes what is left out from the day it runs on. It opens a time zone that is a path.
    """
    words = text.split(" ")
    if len(words) == 3:  # the third is the zone, to nbgrader
        if not _ZONE.fullmatch(words.pop()):
            return False
        text = " ".join(words)
    days = datetime(2000, 1, 1), datetime(2001, 2, 2)
    return len({parser.parse(text, default=day, ignoretz=True) for day in days}) == 1


def put_aside(folder: Path) -> None:
    """Rename what nbgrader would read of a submission, and could not.

    What leads out of the student's folder is left alone.
    """
    found = small_files(folder)
    with opened(folder) as descriptor:
        for name in BESIDE:
            wrong = _wrong(descriptor, name, found.get(name))
            if wrong:
                place = printable(str(folder / name))
                log.warning("%s %s. %s", place, wrong, _renamed(descriptor, name))


def note(folder: Path) -> str:
    """What is told of a submission's time if it could not be read, '' if it could or there is none.

    It is the same for as long as nobody puts another file there.
    """
    if time_of(small_files(folder).get(TIMESTAMP, b"")) is not None:
        return ""
    said = f"`{TIMESTAMP}` could not be read, so no time of handing in is known."
    with opened(folder) as descriptor:
        if _mode(descriptor, TIMESTAMP) is not None:
            return said
        aside = _mode(descriptor, TIMESTAMP + ASIDE) is not None
    return f"{said} It was renamed `{TIMESTAMP}{ASIDE}`." if aside else ""


def _wrong(folder: int | None, name: str, data: bytes | None) -> str:
    """What is wrong with a file, '' if nothing is or there is none."""
    mode = _mode(folder, name)
    if mode is None:
        return ""
    if data is None:
        kinds = (kind for is_it, kind in KINDS if is_it(mode))
        return f"is {next(kinds, 'too large, or may not be opened')}"
    if name == TIMESTAMP:
        return (
            ""
            if time_of(data)
            else f"says {data[:60].decode(errors='replace')!r}, which is no time"
        )
    try:
        data.decode()
    except UnicodeDecodeError:
        return "is not text"
    return ""


def _mode(folder: int | None, name: str) -> int | None:
    """A file's kind and permissions, not following a link; None if there is none."""
    if folder is None:
        return None
    try:
        return os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode
    except OSError:
        return None


def _renamed(folder: int | None, name: str) -> str:
    """Rename a file, and tell what came of it."""
    numbers = itertools.chain([""], map(".{}".format, itertools.count(2)))
    free = next(new for n in numbers if _mode(folder, new := f"{name}{ASIDE}{n}") is None)
    try:
        os.rename(name, free, src_dir_fd=folder, dst_dir_fd=folder)
    except OSError as error:
        return f"It could not be renamed ({error.strerror}): move it away, or formgrader may fail."
    return f"It is now {free}."
