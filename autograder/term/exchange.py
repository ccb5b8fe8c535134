"""nbgrader's exchange: the folder `inbound`, which learners' accounts write hand-ins into.

`inbound/ada+06-causal-mask+2026-11-30 18:00:05.123456 UTC+R4nd/06-causal-mask.ipynb`, and beside
the notebook timestamp.txt and submission_secret.txt, by which a page finds its way back.

All of it is its writer's: the folder's name, the time in it, how many there are, and what is a link
at any moment. So whose a hand-in is says the account that owns the folder; no link is followed; a
time that is not the disk's is told; and what one account made fills a line, not a page. `nbgrader
collect` does none of this: it copies what a link leads to, with the rights of whoever collects, a
solution too.
"""

from __future__ import annotations

import contextlib
import os
import pwd
import re
from collections import defaultdict
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

from attnlab.ipynb.handed_in import BESIDE, SECRET, Member, beneath
from attnlab.ipynb.read import Unreadable
from attnlab.ipynb.words import printable, short
from autograder.sandbox.limits import Limits
from autograder.submission.folder import small_files
from autograder.submission.timestamps import time_of
from autograder.term.layouts import PLAIN, HandIn

# nbgrader/exchange/default/submit.py, init_dest: from the right, as an account may have a plus sign
_NAME = re.compile(r"(?P<who>.+)\+(?P<lesson>[^+]+)\+(?P<time>[-0-9]+ [^+]+?)(\+[\w-]+)?", re.ASCII)
_SECRET = re.compile(rb"[0-9a-f]{32,256}")
_APART = timedelta(minutes=10)  # a copy takes seconds
_NOT_NAMED = "It is not named as nbgrader names a hand-in."


def is_inbound(folder: Path) -> bool:
    """Whether a folder is where an exchange takes hand-ins."""
    folder = folder.absolute()
    return folder.name == "inbound" and (folder.parent / "outbound").is_dir()


def taken_from(
    inbound: Path, lesson: str, limits: Limits
) -> tuple[list[HandIn], list[str], list[str]]:
    """A lesson's hand-ins.

    Returns:
        The hand-ins; a sentence for each account of which some is none, and nothing is one; and one
        for each of which something else is.
    Raises:
        Unreadable: the folder may not be read.
    """
    try:
        entries = sorted(os.scandir(inbound), key=lambda entry: entry.name)
    except OSError as error:
        raise Unreadable(f"It cannot be read: {error.strerror}.") from error
    found: list[HandIn] = []
    wrong: dict[tuple[str, bool], list[str]] = defaultdict(list)  # by account
    live = False
    for entry in entries:
        said = _NAME.fullmatch(entry.name)
        owner = _account(entry)
        if said is None:
            wrong[owner, False].append(f"{short(entry.name)}: {_NOT_NAMED}")
            continue
        live = live or _is_as_it_says(entry, said["time"])
        if said["lesson"] == lesson:
            try:
                found.append(_hand_in(entry, owner, said["who"], said["time"], limits))
            except Unreadable as why:
                wrong[owner, True].append(f"{short(entry.name)}: {why}")
    taken = {handed.known_as for handed in found}
    trouble: list[str] = []
    odd: list[str] = []
    for (owner, is_meant), said_of in wrong.items():
        rest = len(said_of) - 1
        more = f" Nor are {rest:,} more that {owner} made." if rest else ""
        (trouble if is_meant and owner not in taken else odd).append(f"{said_of[0]}{more}")
    if len(taken) > 1 and not live:
        odd.append(
            "When its hand-ins were written last is unknown: of none does the disk say the time "
            "that it says itself, as where the folder was copied."
        )
        found = [replace(each, on_disk=None) for each in found]
    return found, trouble, odd


def _hand_in(entry: os.DirEntry[str], owner: str, who: str, time: str, limits: Limits) -> HandIn:
    """Raises: Unreadable, with what is wrong with it."""
    if entry.is_symlink() or not entry.is_dir(follow_symlinks=False):
        raise Unreadable("It is no folder, and a link is not followed.")
    if owner != who:
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
    on_disk = _written(folder)
    files = tuple(
        Member(name, partial(_content, folder, name, limits))
        for name in names
        if name not in BESIDE
    )
    return HandIn(
        PLAIN,
        entry.name,
        files,
        known_as=who,
        ids=(who,),
        time=when.replace(microsecond=0),
        number=when.microsecond,
        secret=secret,
        on_disk=on_disk.replace(microsecond=0) if abs(on_disk - when) > _APART else None,
    )


def _is_as_it_says(entry: os.DirEntry[str], time: str) -> bool:
    """Whether a hand-in was written when it says, as in no copy of an exchange."""
    when = time_of(time.encode())
    return when is not None and abs(_written(Path(entry.path)) - when) <= _APART


def _written(folder: Path) -> datetime:
    """When a folder or a file in it was written last: what nobody sets back."""
    newest = folder.lstat().st_ctime
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        newest = max([newest, *(each.stat(follow_symlinks=False).st_ctime for each in entries)])
    return datetime.fromtimestamp(newest, UTC).replace(tzinfo=None)


def _account(entry: os.DirEntry[str]) -> str:
    """The account that made it."""
    number = entry.stat(follow_symlinks=False).st_uid
    try:
        return printable(pwd.getpwuid(number).pw_name)
    except KeyError:
        return f"account number {number}"


def _content(folder: Path, name: str, limits: Limits) -> bytes:
    """Raises: Unreadable, at whatever is no regular file in this folder, or too large."""
    try:
        return beneath(folder, Path(name), limits)
    except OSError as error:
        raise Unreadable(f"`{short(name)}` cannot be read: {error.strerror}.") from error
