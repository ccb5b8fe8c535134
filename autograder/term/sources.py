"""The files that a person names, opened: a class's archive, a notebook, a folder with any of these;
or nbgrader's exchange.

Nothing is unpacked. What cannot be taken is told by its name, and the others are.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from attnlab.ipynb.files import open_file, taken
from attnlab.ipynb.read import Unreadable
from attnlab.ipynb.words import short
from autograder import Usage
from autograder.sandbox.limits import Limits
from autograder.submission import archive
from autograder.submission.archive import Member, is_zip
from autograder.submission.folder import BESIDE, is_notebook
from autograder.term.exchange import hand_ins, is_inbound
from autograder.term.layouts import HandIn, from_lms, is_one_s_own, own, plain

_DEEP, _MANY = 6, 50_000  # folders inside a folder that are looked into; files in all
_NOTHING = "There is no hand-in in it."


@dataclass(slots=True)
class Given:
    """What is in the files that a person named.

    Attributes:
        hand_ins: all of them, which can be read until `files` is closed.
        trouble: a sentence for each file in which somebody's hand-in may be, and cannot be read.
        beside: names of what is no notebook and no zip.
    """

    hand_ins: list[HandIn] = field(default_factory=list)
    trouble: list[str] = field(default_factory=list)
    beside: list[str] = field(default_factory=list)


def opened(paths: Iterable[Path], lesson: str, limits: Limits, files: ExitStack) -> Given:
    """Look into files; archives stay open as long as `files` is.

    Raises:
        Usage: one is not there, before any is opened.
    """
    paths = list(paths)
    for path in paths:
        if not os.path.lexists(path):
            raise Usage(f"There is no {str(path)!r}.")
    given = Given()
    for path in paths:
        _Looking(lesson, limits, files, given).at(path)
    return given


@dataclass(frozen=True, slots=True)
class _Looking:
    lesson: str
    limits: Limits
    files: ExitStack
    given: Given

    def at(self, path: Path) -> None:
        """Add what a file or a folder holds."""
        with self._told(path.name):
            if path.is_dir() and is_inbound(path):
                self._exchange(path)
            elif path.is_dir():
                self._folder(path)
            elif is_zip(path.name):
                self._zip(path, path.name)
            elif is_notebook(path.name):
                whose = path.absolute().parent.name
                self._plain([self._member(path, path.name)], whose, alone=False)
            else:
                raise Unreadable("It is no notebook, no zip and no folder.")

    def _exchange(self, inbound: Path) -> None:
        for found in hand_ins(inbound, self.lesson, self.limits):
            if isinstance(found, str):
                self.given.trouble.append(found)
            else:
                self.given.hand_ins.append(found)

    def _folder(self, path: Path) -> None:
        members = [self._member(path / name, name, path) for name in _names(path)]
        found, rest = from_lms(members, self.lesson)
        zips = [each for each in rest if is_zip(Path(each.name).name)]
        others = [each for each in rest if each not in zips]
        self.given.hand_ins += found
        count = self._plain(others, path.absolute().name, alone=False)
        if not (found or zips or count):
            raise Unreadable(_NOTHING)
        for each in zips:
            with self._told(each.name):
                self._zip(path / each.name, each.name, path)

    def _zip(self, path: Path, name: str, within: Path | None = None) -> None:
        with ExitStack() as opening:
            inside, out = opening.enter_context(archive.members(path, self.limits, within))
            for each in out:
                said = f"{short(each)}: It is a link in {short(name)}, or its name leads out."
                self.given.trouble.append(said)
            if is_one_s_own(inside, self.lesson):
                self.given.hand_ins.append(own(self._member(path, name, within), self.lesson))
                return
            found, rest = from_lms(inside, self.lesson)
            self.given.hand_ins += found
            count = self._plain(rest, str(Path(name).with_suffix("")), alone=not found)
            if not (found or count):
                raise Unreadable(_NOTHING)
            self.files.enter_context(opening.pop_all())

    def _plain(self, members: list[Member], source: str, alone: bool) -> int:
        found, rest = plain(members, self.lesson, source, alone)
        self.given.hand_ins += found
        self.given.beside += [each.name for each in rest if Path(each.name).name not in BESIDE]
        return len(found)

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


def _names(folder: Path) -> Iterator[str]:
    """The files in a folder and those inside it, by their names from there; no hidden ones.

    Raises:
        Unreadable: there are too many.
    """
    left = _MANY
    for at, folders, names in os.walk(folder):
        here = Path(at).relative_to(folder)
        deep = len(here.parts) >= _DEEP
        folders[:] = [] if deep else sorted(filter(_is_seen, folders))
        for name in sorted(filter(_is_seen, names)):
            left -= 1
            if left < 0:
                raise Unreadable(f"It holds more than {_MANY:,} files.")
            yield (here / name).as_posix()


def _is_seen(name: str) -> bool:
    return not name.startswith(".") and name != "__MACOSX"


def _content(path: Path, within: Path | None, limits: Limits) -> bytes:
    """Raises: Unreadable, at whatever is no regular file, is a link or too large."""
    try:
        return taken(open_file(path, within), path.name, limits.notebook_bytes)
    except OSError as error:
        raise Unreadable(f"It cannot be opened: {error.strerror}.") from error
