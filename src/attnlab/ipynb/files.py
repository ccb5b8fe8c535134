"""Files in folders that strangers may have filled: opened without waiting, read to a limit; and
written whole or not at all, beside their places, then renamed into them.
"""

from __future__ import annotations

import errno
import os
import shlex
import stat
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from attnlab.ipynb.read import Unreadable, too_large
from attnlab.ipynb.words import short

# Not following the last link, and not waiting for somebody to write into a named pipe. Windows has
# neither.
FILE = sum(getattr(os, f"O_{name}", 0) for name in ("NOFOLLOW", "NONBLOCK", "NOCTTY", "BINARY"))
KINDS = (
    (stat.S_ISLNK, "a link"),
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISFIFO, "a named pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISBLK, "a device"),
    (stat.S_ISCHR, "a device"),
)
# A part that old belongs to a run that was killed: writing one takes milliseconds.
_ABANDONED_SECONDS = 600.0
_ADVICE = {
    errno.ENOSPC: "The disk is full. Free some space",
    errno.EDQUOT: "Your quota of disk space is used up. Free some space",
    errno.EFBIG: "It is larger than `ulimit -f` allows. Raise that",
    errno.EROFS: "It is on a read-only disk. Work on a disk that can be written",
    errno.EACCES: "You may not write there. Change its permissions or its owner",
    errno.EPERM: "You may not write there. Change its permissions or its owner",
    errno.ENOTDIR: "A file is in the place of a folder. Move it away",
    errno.EEXIST: "A file is in the place of a folder. Move it away",
    errno.EISDIR: "A folder is in its place. Move it away",
    errno.ELOOP: "It is a link, and nothing is written through one. Move it away",
}


class NotWritten(Exception):
    """A file could not be written; the sentence names it and says what to do.

    Attributes:
        in_the_way: it is because something else is in its place.
    """

    def __init__(self, path: Path, error: OSError) -> None:
        self.in_the_way = error.errno in (errno.ENOTDIR, errno.EEXIST, errno.EISDIR)
        known = _ADVICE.get(error.errno or 0, f"{error.strerror or error}. Put that right")
        super().__init__(f"{str(path)!r} could not be written. {known}, then run this again.")


def unwritable(path: Path) -> OSError | None:
    """Why nothing can be written to a file or into a folder, found by trying; None if it can be."""
    try:
        if path.is_dir():
            with tempfile.TemporaryFile(dir=path) as file:
                file.write(b"x" * 4096)
        else:
            os.close(os.open(path, os.O_WRONLY | os.O_APPEND | FILE))
    except OSError as error:
        return error
    return None


def writable(path: Path, error: OSError) -> str:
    """What puts that right: a command, or a step."""
    if error.errno in (errno.EACCES, errno.EPERM):
        return f"chmod u+{'rwx' if path.is_dir() else 'rw'} {shlex.quote(str(path))}"
    step = _ADVICE.get(error.errno or 0, "").partition(". ")[2] or "Look at the disk"
    return f"{step[0].lower()}{step[1:]}"


def open_file(path: Path, within: Path | None = None, flags: int = os.O_RDONLY) -> int:
    """Open a regular file: nothing else is, since a device may act on it and a pipe wait.

    Args:
        within: a folder; from there on no link is followed. Without it, whatever a path leads to.
    Raises:
        Unreadable: it is something else, or a link leads there.
        OSError: it is not there, or cannot be opened.
    """
    if within is None:
        path = Path(os.path.realpath(path))
    elif link := link_on(path, within):
        raise Unreadable(f"`{short(link.name)}` is a link, which is not followed.")
    with suppress(FileNotFoundError):
        _refuse(path.stat(), path.name)
    return os.open(path, flags | FILE, 0o644)


def taken(descriptor: int, name: str, most: int) -> bytes:
    """The bytes of an open file, and the end of it.

    Raises:
        Unreadable: it is no regular file, or has more than `most` bytes.
    """
    try:
        found = os.fstat(descriptor)
        _refuse(found, name)
        size, data = found.st_size, b""
        if size <= most:
            with open(descriptor, "rb", closefd=False) as file:
                data = file.read(most + 1)  # it may grow while it is read
    finally:
        os.close(descriptor)
    if max(size, len(data)) > most:
        raise Unreadable(too_large(max(size, len(data)), most))
    return data


def link_on(path: Path, within: Path) -> Path | None:
    """The first link on the way from a folder to something in it."""
    way = [path, *path.parents]
    return next(filter(os.path.islink, reversed(way[: way.index(within)])), None)


def _refuse(found: os.stat_result, name: str) -> None:
    if not stat.S_ISREG(found.st_mode):
        kind = next((kind for is_it, kind in KINDS if is_it(found.st_mode)), "no file")
        raise Unreadable(f"`{short(name)}` is {kind}, not a file.")


class Parts:
    """Several files that take their places together.

    with Parts() as parts:
        parts.write(path, data)     # beside its place
        ...                         # whatever else has to succeed first
        parts.place()

    What was not placed when the block ends is removed, with the folders made for it. Nothing is
    synchronised with the disk: a killed process loses nothing that it had renamed, and what a power
    cut loses can be graded again.
    """

    def __init__(self) -> None:
        self._parts: list[tuple[Path, Path]] = []
        self._made: list[Path] = []

    def __enter__(self) -> Parts:
        return self

    def __exit__(self, *_: object) -> None:
        for part, _path in self._parts:
            part.unlink(missing_ok=True)
        for folder in reversed(self._made):
            try:
                folder.rmdir()
            except OSError:
                break  # it holds something by now, and so do those above it

    def write(self, path: Path, data: bytes, mode: int = 0o644) -> None:
        """Write a file beside its place, in a folder that is made if need be."""
        with _named(path):
            self._make(path.parent)
            _sweep(path)
            handle, name = tempfile.mkstemp(".part", f".{path.name}.", path.parent)
            self._parts.append((Path(name), path))
            with open(handle, "wb") as file:
                file.write(data)
            os.chmod(name, mode)

    def place(self) -> None:
        """Rename each into its place; an earlier file there is replaced."""
        while self._parts:
            part, path = self._parts[0]
            with _named(path):
                part.replace(path)
            del self._parts[0]
        self._made.clear()

    def _make(self, folder: Path) -> None:
        missing = []
        while not folder.is_dir():
            missing.append(folder)
            folder = folder.parent
        for folder in reversed(missing):
            folder.mkdir(exist_ok=True)
            self._made.append(folder)


def write_whole(path: Path, data: bytes, mode: int = 0o644) -> None:
    """Write one file, or raise NotWritten and leave the one that was there."""
    with Parts() as parts:
        parts.write(path, data, mode)
        parts.place()


@contextmanager
def _named(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise NotWritten(path, error) from error


def _sweep(path: Path) -> None:
    """Remove what killed runs left beside a place."""
    old = time.time() - _ABANDONED_SECONDS
    for entry in os.scandir(path.parent):
        if entry.name.startswith(f".{path.name}.") and entry.name.endswith(".part"):
            if entry.stat(follow_symlinks=False).st_mtime < old:
                with suppress(OSError):  # a folder of that name: somebody else's
                    Path(entry.path).unlink()
