"""nbgrader's exchange: the folder `inbound`, which learners' accounts write hand-ins into.

`inbound/ada+06-causal-mask+2026-11-30 18:00:05.123456 UTC+R4nd/06-causal-mask.ipynb`, and beside
the notebook timestamp.txt and submission_secret.txt, by which a page finds its way back.

All of it is its writer's: the folder's name, the time in it, and what is a link at any moment. So
whose a hand-in is says the account that owns the folder, no link is followed, and a time that is
not the disk's is told. `nbgrader collect` does none of this: it copies what a link leads to, with
the rights of whoever collects, a solution too.
"""

from __future__ import annotations

import os
import pwd
import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

from attnlab.ipynb.files import taken
from attnlab.ipynb.read import Unreadable
from attnlab.ipynb.words import short
from autograder.sandbox.limits import Limits
from autograder.submission.archive import Member
from autograder.submission.folder import BESIDE, FILE, SECRET, Leaves, open_beneath, small_files
from autograder.submission.timestamps import time_of
from autograder.term.layouts import PLAIN, File, HandIn

# nbgrader/exchange/default/submit.py, init_dest: from the right, as an account may have a plus sign
_NAME = re.compile(r"(?P<who>.+)\+(?P<lesson>[^+]+)\+(?P<time>[-0-9]+ [^+]+?)(\+[\w-]+)?", re.ASCII)
_SECRET = re.compile(rb"[0-9a-f]{32,256}")
_APART = timedelta(minutes=10)  # a copy takes seconds


def is_inbound(folder: Path) -> bool:
    """Whether a folder is where an exchange takes hand-ins."""
    folder = folder.absolute()
    return folder.name == "inbound" and (folder.parent / "outbound").is_dir()


def hand_ins(inbound: Path, lesson: str, limits: Limits) -> Iterator[HandIn | str]:
    """A lesson's hand-ins, and a sentence for each that is none.

    Raises:
        Unreadable: the folder may not be read.
    """
    try:
        entries = sorted(os.scandir(inbound), key=lambda entry: entry.name)
    except OSError as error:
        raise Unreadable(f"It cannot be read: {error.strerror}.") from error
    for entry in entries:
        said = _NAME.fullmatch(entry.name)
        if said is None:
            yield f"{short(entry.name)}: It is not named as nbgrader names a hand-in."
        elif said["lesson"] == lesson:
            try:
                yield _hand_in(entry, said["who"], said["time"], limits)
            except Unreadable as why:
                yield f"{short(entry.name)}: {why}"


def _hand_in(entry: os.DirEntry[str], who: str, time: str, limits: Limits) -> HandIn:
    """Raises: Unreadable, with what is wrong with it."""
    found = entry.stat(follow_symlinks=False)
    if entry.is_symlink() or not entry.is_dir(follow_symlinks=False):
        raise Unreadable("It is no folder, and a link is not followed.")
    if (owner := _account(found.st_uid)) != who:
        raise Unreadable(f"It says {who!r}, but {owner} made it.")
    folder = Path(entry.path)
    try:
        names = sorted(os.listdir(folder))
    except OSError as error:
        raise Unreadable(f"It cannot be read: {error.strerror}. Let {who} hand in again.") from None
    secret = small_files(folder).get(SECRET, b"")
    when = time_of(time.encode())
    if when is None or not _SECRET.fullmatch(secret):
        raise Unreadable(
            "It is not whole, or still on its way: collect again, or let them hand in again."
        )
    on_disk = datetime.fromtimestamp(found.st_ctime, UTC).replace(tzinfo=None)
    files = tuple(
        File(name, Member(f"{entry.name}/{name}", partial(_content, folder, name, limits)))
        for name in names
        if name not in BESIDE
    )
    return HandIn(
        PLAIN,
        files,
        known_as=who,
        ids=(who,),
        time=when.replace(microsecond=0),
        number=when.microsecond,
        secret=secret,
        on_disk=on_disk.replace(microsecond=0) if abs(on_disk - when) > _APART else None,
    )


def _account(number: int) -> str:
    try:
        return pwd.getpwuid(number).pw_name
    except KeyError:
        return f"account number {number}"


def _content(folder: Path, name: str, limits: Limits) -> bytes:
    """Raises: Unreadable, at whatever is no regular file in this folder, or too large."""
    try:
        return taken(open_beneath(folder, Path(name), FILE), name, limits.notebook_bytes)
    except Leaves:
        raise Unreadable(f"`{short(name)}` is a link that leads out of it.") from None
    except OSError as error:
        raise Unreadable(f"`{short(name)}` cannot be read: {error.strerror}.") from error
