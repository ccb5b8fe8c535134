"""A zip in the place of a notebook: looked into, and never unpacked.

A learner made it. What is taken of it is one notebook, into memory, up to the size of any notebook:
no name in it is a place where something is written, and a link in it is none.
"""

from __future__ import annotations

import io
import stat
import struct
import zipfile
import zlib
from collections.abc import Callable
from pathlib import PurePosixPath

from attnlab.ipynb.read import Unreadable
from attnlab.ipynb.words import short
from autograder.sandbox.limits import Limits

FILES = 1000  # in one zip; each costs memory, whatever its size
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
        why = short(str(error) or type(error).__name__)
        raise Unreadable(f"{zipped} cannot be opened ({why}). Hand in the notebook.") from error
    return content, f"{zipped} was opened for its `{short(str(path))}`. {note}".strip()


def _read(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, limits: Limits) -> bytes:
    if entry.flag_bits & _LOCKED or entry.compress_type not in _METHODS:
        raise Unreadable("It needs a password, or is packed in a way that is not read.")
    with archive.open(entry) as file:
        return file.read(limits.notebook_bytes + 1)  # what is larger is refused as any notebook is


def _path(entry: zipfile.ZipInfo) -> PurePosixPath | None:
    """Where a file lies in a zip; None for folders, links, what is hidden and what leads out."""
    name = entry.filename.replace("\\", "/")
    path = PurePosixPath(name)
    odd = name.endswith("/") or path.is_absolute() or stat.S_ISLNK(entry.external_attr >> 16)
    hidden = any(part.startswith(".") or part == "__MACOSX" for part in path.parts)
    return None if odd or hidden or not path.name else path
