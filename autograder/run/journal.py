"""What a run has recorded so far, so that it can be killed at any moment and go on.

A file of JSON lines: a header with the seed, then one line for each submission *after* its scores
and its files were written. A submission without a line may or may not have been recorded; grading
it again with the same seed records the same.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import IO, Any

from attnlab.ipynb.files import NotWritten, write_whole
from autograder import Problem


class Journal:
    """The journal of one run; a context manager, as it holds the file open.

    Attributes:
        path: the file.
        header: what the whole run has in common: 'lesson', 'seed', and what else it was begun with.
    """

    def __init__(self, path: Path, header: dict[str, Any]) -> None:
        self.path = path
        self.header = header
        self._entries: dict[str, tuple[str, int]] = {}  # by folder: fingerprint, place of its line
        self._file: IO[bytes] = io.BytesIO()
        self._begun = False

    @classmethod
    def begin(cls, path: Path, header: dict[str, Any]) -> Journal:
        """The journal of a new run, in place of an older one as soon as something is added."""
        return cls(path, header)

    @classmethod
    def resume(cls, path: Path) -> Journal | None:
        """The journal of a run that was stopped, None if there is none.

        Raises:
            Problem: there is one, and it cannot be read.
        """
        try:
            with open(path, "rb") as file:
                header = _parsed(file.readline())
                if not header or not isinstance(header.get("seed"), int):
                    return None
                journal = cls(path, header)
                place = file.tell()
                # The last line may be cut short, where the run was killed while writing it.
                while entry := _parsed(line := file.readline()):
                    journal._entries[entry["folder"]] = (entry["fingerprint"], place)
                    place += len(line)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise Problem(f"Cannot read {path}: {error.strerror}.") from error
        journal._open(place)
        return journal

    def _open(self, size: int) -> None:
        self._begun = True
        try:
            self._file = open(self.path, "r+b")  # noqa: SIM115
            self._file.truncate(size)
        except OSError as error:
            raise NotWritten(self.path, error) from error

    @property
    def seed(self) -> int:
        seed: int = self.header["seed"]
        return seed

    def holds(self, folder: str, fingerprint: str) -> bool:
        """Whether this very submission is recorded."""
        return self._entries.get(folder, ("", 0))[0] == fingerprint

    def add(self, recorded: Iterable[tuple[str, str, dict[str, Any]]]) -> None:
        """Note that submissions are recorded; they are on the disk when this returns.

        Args:
            recorded: folder, fingerprint and result of each.
        Raises:
            NotWritten: it cannot be written.
        """
        if not self._begun:
            line = json.dumps(self.header).encode() + b"\n"
            write_whole(self.path, line)
            self._open(len(line))
        places = {}
        try:
            place = self._file.seek(0, os.SEEK_END)
            for folder, fingerprint, result in recorded:
                entry = {"folder": folder, "fingerprint": fingerprint, "result": result}
                line = json.dumps(entry).encode() + b"\n"
                self._file.write(line)
                places[folder] = (fingerprint, place)
                place += len(line)
            self._file.flush()
            os.fsync(self._file.fileno())
        except OSError as error:
            raise NotWritten(self.path, error) from error
        self._entries |= places

    def result(self, folder: str) -> dict[str, Any]:
        """The result of a recorded submission."""
        self._file.seek(self._entries[folder][1])
        result: dict[str, Any] = json.loads(self._file.readline())["result"]
        return result

    def __enter__(self) -> Journal:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        # What is left in its buffer could not be written, and `add` has said so.
        with contextlib.suppress(OSError):
            self._file.close()


def _parsed(line: bytes) -> dict[str, Any] | None:
    """A whole line's object, None for anything else."""
    if not line.endswith(b"\n"):
        return None
    try:
        found = json.loads(line)
    except ValueError:
        return None
    return found if isinstance(found, dict) else None
