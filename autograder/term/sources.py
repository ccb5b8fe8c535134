"""The files that a person names, opened: a class's archive, a notebook, a folder with any of these;
or nbgrader's exchange.

Nothing is unpacked. What cannot be taken is told by its name, and the others are. A file that is
named is a class's, unless its name is a student's; what lies in a folder is a hand-in.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from attnlab.ipynb.files import open_file, taken
from attnlab.ipynb.handed_in import (
    BESIDE,
    Member,
    class_zip,
    is_hidden,
    is_notebook,
    is_zip,
    too_many,
)
from attnlab.ipynb.read import Unreadable
from attnlab.ipynb.words import short
from autograder import Usage
from autograder.sandbox.limits import Limits
from autograder.term.exchange import is_inbound, taken_from
from autograder.term.layouts import HandIn, hand_ins, named, student_of
from autograder.term.placing import Placing

_DEEP, _MANY = 6, 50_000  # folders inside a folder that are looked into; files in all


@dataclass(slots=True)
class Given:
    """What is in the files that a person named.

    Attributes:
        hand_ins: all of them, which can be read until `files` is closed.
        trouble: a sentence for each file in which somebody's hand-in may be, and cannot be read.
        beside: names of what is no notebook and no zip.
        odd: a sentence for what lies in an exchange, and of which nobody waits for a place.
    """

    hand_ins: list[HandIn] = field(default_factory=list)
    trouble: list[str] = field(default_factory=list)
    beside: list[str] = field(default_factory=list)
    odd: list[str] = field(default_factory=list)


def opened(
    paths: Iterable[Path], lesson: str, limits: Limits, files: ExitStack, placing: Placing
) -> Given:
    """Look into files; archives stay open as long as `files` is.

    Args:
        placing: knows whose name a zip has, if it is a student's.
    Raises:
        Usage: one is not there, before any is opened.
    """
    paths = list(paths)
    for path in paths:
        if not os.path.lexists(path):
            raise Usage(f"There is no {str(path)!r}.")
    given = Given()
    for path in paths:
        _Looking(lesson, limits, files, placing, given).at(path)
    return given


@dataclass(frozen=True, slots=True)
class _Looking:
    lesson: str
    limits: Limits
    files: ExitStack
    placing: Placing
    given: Given

    def at(self, path: Path) -> None:
        """Add what a file or a folder holds."""
        with self._told(path.name):
            if path.is_dir() and is_inbound(path):
                found, trouble, odd = taken_from(path, self.lesson, self.limits)
                self.given.hand_ins += found
                self.given.trouble += trouble
                self.given.odd += odd
            elif path.is_dir():
                members = [self._member(path / name, name, path) for name in _names(path)]
                self._take(members, path.absolute().name, path.name)
            elif is_zip(path.name):
                self._zip(path)
            elif is_notebook(path.name):
                whose = path.absolute().parent.name
                self._take([self._member(path, path.name)], whose, path.name)
            else:
                raise Unreadable("It is no notebook, no zip and no folder.")

    def _zip(self, path: Path) -> None:
        """A class's archive, or the zip of whom it is called by, whatever is in that."""
        who = student_of(path.stem, self.lesson)
        theirs = named(who, path.name, (self._member(path, path.name),))
        if self.placing.knows(theirs):
            self.given.hand_ins.append(theirs)
            return
        with ExitStack() as opening:
            inside, out = opening.enter_context(class_zip(path, self.limits))
            for each in out:
                said = f"{short(each)}: It is a link in {short(path.name)}, or its name leads out."
                self.given.trouble.append(said)
            self._take(inside, path.stem, path.name)
            self.files.enter_context(opening.pop_all())

    def _take(self, members: list[Member], source: str, name: str) -> None:
        found = hand_ins(members, self.lesson, source)
        if not found.hand_ins:
            raise Unreadable("There is no hand-in in it.")
        self.given.trouble += [
            f"{short(each)}: It is not named as most in {short(name)} is, which is an LMS's."
            for each in found.strange
        ]
        self.given.hand_ins += found.hand_ins
        self.given.beside += [each.name for each in found.rest if each.last not in BESIDE]

    @contextmanager
    def _told(self, name: str) -> Iterator[None]:
        """What cannot be read is told, and nothing of it is taken."""
        count = len(self.given.hand_ins)
        try:
            yield
        except Unreadable as none:
            del self.given.hand_ins[count:]
            self.given.trouble.append(f"{short(name)}: {none}")

    def _member(self, path: Path, name: str, within: Path | None = None) -> Member:
        return Member(name, partial(_content, path, within, self.limits))


def _names(folder: Path) -> list[str]:
    """The files in a folder and those inside it, by their names from there; no hidden ones.

    Raises:
        Unreadable: there are too many.
    """
    found: list[str] = []
    for at, folders, names in os.walk(folder):
        here = Path(at).relative_to(folder)
        deep = len(here.parts) >= _DEEP
        folders[:] = [] if deep else sorted(itertools.filterfalse(is_hidden, folders))
        seen = sorted(itertools.filterfalse(is_hidden, names))
        found += [(here / name).as_posix() for name in seen]
        if len(found) > _MANY:
            raise Unreadable(too_many(found, _MANY))
    return found


def _content(path: Path, within: Path | None, limits: Limits) -> bytes:
    """Raises: Unreadable, at whatever is no regular file, is a link or too large."""
    try:
        return taken(open_file(path, within), path.name, limits.notebook_bytes)
    except OSError as error:
        raise Unreadable(f"It cannot be opened: {error.strerror}.") from error
