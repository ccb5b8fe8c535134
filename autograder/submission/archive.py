"""A zip, in the place of a notebook or of a whole class: looked into, and never unpacked.

Learners made what is in it. A file of it is taken into memory, up to the size of any notebook: no
name in it is a place where something is written, and a link in it is none.
"""

from __future__ import annotations

import io
import stat
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path, PurePosixPath

from attnlab.ipynb.files import open_file
from attnlab.ipynb.read import Unreadable, too_large
from attnlab.ipynb.words import short
from autograder.sandbox.limits import Limits

FILES = 1000  # in one zip; each costs memory, whatever its size
MEMBERS = 50_000  # the same in a class's
_ENTRY = b"PK\1\2"  # begins what a zip says of a file
# These can be read a piece at a time; the other ones give any number of bytes at once.
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_LOCKED = 1  # a flag
# What `zipfile` raises at bytes that are none, NotImplementedError and UnicodeError included.
_BROKEN = (
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
    OSError,
    EOFError,
    RuntimeError,
    ValueError,
)


@dataclass(frozen=True, slots=True)
class Member:
    """One file among those that were handed in, in an archive or a folder.

    Attributes:
        name: with its folders; it is shown, and nothing is ever written there.
        read: gives its bytes, of which there are no more than a notebook may have; or raises
            Unreadable.
    """

    name: str
    read: Callable[[], bytes]


def is_zip(name: str) -> bool:
    """Whether a file is named as a zip; hidden ones are archives' own."""
    return name.lower().endswith(".zip") and not name.startswith(".")


def notebook_in(
    data: bytes, name: str, choose: Callable[[list[str]], tuple[str, str]], limits: Limits
) -> tuple[bytes, str]:
    """The notebook in a zip.

    Args:
        name: the zip's.
        choose: takes the names of all files, without their folders, and returns the one to take,
            with what the student should know about that.
    Returns:
        The notebook, and what the student should know.
    Raises:
        Unreadable: there is none, or more than one; or this is no zip.
    """
    zipped = f"`{short(name)}`"
    if data.count(_ENTRY) > FILES:
        raise Unreadable(f"{zipped} holds more than {FILES:,} files. Hand in the notebook itself.")
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            files = [(path, entry) for entry in archive.infolist() if (path := _path(entry))]
            if not files and archive.infolist():
                raise Unreadable("All that is there is hidden, a link or a name that leads out.")
            taken, note = choose([path.name for path, _ in files])
            found = [(path, entry) for path, entry in files if path.name == taken]
            if len(found) > 1:
                raise Unreadable(f"There are {len(found)} files `{taken}`: leave one.")
            [(path, entry)] = found
            content = _read(archive, entry, limits)
    except Unreadable as none:
        raise Unreadable(f"In {zipped}: {none}") from None
    except _BROKEN as error:
        why = _why(error)
        raise Unreadable(f"{zipped} cannot be opened ({why}). Hand in the notebook.") from error
    return content, f"{zipped} was opened for its `{short(str(path))}`. {note}".strip()


@contextmanager
def members(
    path: Path, limits: Limits, within: Path | None = None
) -> Iterator[tuple[list[Member], list[str]]]:
    """The files in a zip, which can be read as long as it is open.

    Args:
        within: a folder; from there on no link is followed.
    Yields:
        The files; and the names of those that are not taken: links, and what leads out.
    Raises:
        Unreadable: it is none, is cut short, needs a password, or holds too many files.
    """
    try:
        descriptor = open_file(path, within)
    except OSError as error:
        raise Unreadable(f"It cannot be opened: {error.strerror}.") from error
    with open(descriptor, "rb") as file:
        try:
            archive = zipfile.ZipFile(file)
        except _BROKEN as error:
            raise Unreadable(f"It is no zip, or cut short: {_why(error)}.") from error
        entries = archive.infolist()
        if len(entries) > MEMBERS:
            raise Unreadable(f"It holds more than {MEMBERS:,} files.")
        if any(entry.flag_bits & _LOCKED for entry in entries):
            raise Unreadable("It needs a password. Unpack it, and give the folder.")
        taken = [(name, entry) for entry in entries if (name := _path(entry))]
        yield (
            [
                Member(str(name), partial(_read_whole, archive, entry, limits))
                for name, entry in taken
            ],
            [entry.filename for entry in entries if _leads_out(entry)],
        )


def _read_whole(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, limits: Limits) -> bytes:
    """Raises: Unreadable, at what is damaged, or larger than a notebook may be."""
    try:
        content = _read(archive, entry, limits)
    except _BROKEN as error:
        raise Unreadable(f"It is damaged in its zip: {_why(error)}.") from error
    if len(content) > limits.notebook_bytes:
        raise Unreadable(too_large(max(entry.file_size, len(content)), limits.notebook_bytes))
    return content


def _why(error: Exception) -> str:
    return short(str(error) or type(error).__name__)


def _read(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, limits: Limits) -> bytes:
    if entry.flag_bits & _LOCKED or entry.compress_type not in _METHODS:
        raise Unreadable("It needs a password, or is packed in a way that is not read.")
    with archive.open(entry) as file:
        return file.read(limits.notebook_bytes + 1)  # what is larger is refused as any notebook is


def _path(entry: zipfile.ZipInfo) -> PurePosixPath | None:
    """Where a file lies in a zip; None for folders, links, what is hidden and what leads out."""
    path = PurePosixPath(_name(entry))
    hidden = any(part.startswith(".") or part == "__MACOSX" for part in path.parts)
    is_folder = _name(entry).endswith("/") or not path.name
    return None if is_folder or hidden or _leads_out(entry) else path


def _leads_out(entry: zipfile.ZipInfo) -> bool:
    """Whether it is a link, or its name is that of another place than in the zip."""
    path = PurePosixPath(_name(entry))
    return path.is_absolute() or ".." in path.parts or stat.S_ISLNK(entry.external_attr >> 16)


def _name(entry: zipfile.ZipInfo) -> str:
    return entry.filename.replace("\\", "/")
