"""Files as one zip, the same bytes for the same files: no clock and no machine shows in it.

What others have zipped is read a piece at a time, and no further than a notebook may be long.
"""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from collections.abc import Mapping

from attnlab.ipynb.read import Sizes, Unreadable, too_large
from attnlab.ipynb.words import short

# What `zipfile` raises at bytes that are none, NotImplementedError and UnicodeError included.
BROKEN = (
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
    OSError,
    EOFError,
    RuntimeError,
    ValueError,
)
# These can be read a piece at a time; the other ones give any number of bytes at once.
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_WHEN = (1980, 1, 1, 0, 0, 0)  # the first that a zip can say
_UNIX = 3
_MODE = 0o100644


def zipped(files: Mapping[str, bytes]) -> bytes:
    """A zip of these files, by their names in it."""
    whole = io.BytesIO()
    with zipfile.ZipFile(whole, "w") as archive:
        for name, data in files.items():
            entry = zipfile.ZipInfo(name, _WHEN)
            entry.create_system, entry.external_attr = _UNIX, _MODE << 16
            archive.writestr(entry, data, zipfile.ZIP_DEFLATED)
    return whole.getvalue()


def unzipped(data: bytes, name: str) -> bytes:
    """A file of a zip.

    Raises:
        Unreadable: it is not in there, this is no zip, or as `content` has it.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            return content(archive, archive.getinfo(name), Sizes())
    except KeyError:
        raise Unreadable(f"There is no {name} in it.") from None
    except BROKEN as error:
        raise Unreadable(f"It is no zip, or cut short: {why(error)}.") from error


def content(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, sizes: Sizes) -> bytes:
    """What one file of a zip holds.

    Raises:
        Unreadable: it is locked, damaged, packed in another way, or larger than a notebook may be.
    """
    if is_locked(entry) or entry.compress_type not in _METHODS:
        raise Unreadable("It needs a password, or is packed in a way that is not read.")
    most = sizes.notebook_bytes
    try:
        with archive.open(entry) as file:
            found = file.read(most + 1)
    except BROKEN as error:
        raise Unreadable(f"It is damaged in its zip: {why(error)}.") from error
    if len(found) > most:
        raise Unreadable(too_large(max(entry.file_size, len(found)), most))
    return found


def is_locked(entry: zipfile.ZipInfo) -> bool:
    """Whether it takes a password."""
    return bool(entry.flag_bits & 1)


def why(error: Exception) -> str:
    """What was wrong with a zip, in few words."""
    return short(str(error) or type(error).__name__)
