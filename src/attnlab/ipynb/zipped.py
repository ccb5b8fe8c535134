"""Files as one zip, the same bytes for the same files: no clock and no machine shows in it."""

from __future__ import annotations

import io
import zipfile
import zlib
from collections.abc import Mapping

from attnlab.ipynb.read import Sizes, Unreadable

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
        Unreadable: it is not in there, this is no zip, or it is larger than any notebook.
    """
    most = Sizes().notebook_bytes
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive, archive.open(name) as file:
            found = file.read(most + 1)
    except (zipfile.BadZipFile, zlib.error, KeyError, OSError, EOFError, RuntimeError) as error:
        raise Unreadable(f"There is no {name} in it.") from error
    if len(found) > most:
        raise Unreadable(f"{name} in it is too large.")
    return found
