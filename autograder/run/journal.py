"""What was graded of a lesson: by which run, when, and with which result. It only grows.

A file of JSON lines. One without a "result" begins a run, or tells that its summary was printed;
one with it is a submission, added *after* its scores and its files were written. Each says by
itself all that is known, so that it can be read without this code, years later:

    lesson, seed, released, code   what was asked, and digests of its code and of what graded it
    begun, keep, at                when the run began; which hand-in counts; when this was graded
    folder, fingerprint            whose it is, and a digest of what was handed in
    handed_in, result              when, in UTC; and what `--json` writes
    stands, earlier                false where the one before it counts; that one's score, if more
    lost                           by exercise, the claims that earned less than they are worth

A submission without a line may or may not have been recorded; grading it again with the same seed
records the same.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from types import MappingProxyType
from typing import Any, BinaryIO
from unicodedata import normalize

from attnlab.ipynb.files import NotWritten, write_whole
from attnlab.ipynb.handed_in import in_nfc
from autograder.pages.summary import Worse
from autograder.submission.results import Past, outcome

NAME, SUMMARY = "journal.jsonl", "summary.txt"  # of a lesson, in its folder below class/runs
Line = dict[str, Any]
_Kinds = Mapping[str, Any]
_LINE: _Kinds = {  # what a line may say, and in which form
    **dict.fromkeys(("lesson", "released", "code", "begun", "at", "folder", "fingerprint"), str),
    **{"seed": int, "keep": str | None, "result": dict, "handed_in": str | None, "stands": bool},
    **{"earlier": int | float | None, "lost": dict | None, "told": str},
}
_RESULT: _Kinds = {
    **dict.fromkeys(("student", "status", "message"), str),
    **{"score": int | float, "max_score": int | float},
    **dict.fromkeys(("exercises", "flags", "repaired"), list),
}
_EXERCISE: _Kinds = {
    **dict.fromkeys(("name", "status", "message"), str),
    **{"score": int | float, "max_score": int | float, "diagnosis": str | None},
}


@dataclass(frozen=True, slots=True)
class _Entry:
    """Where the line of a submission is, and what is asked of it most."""

    begun: str
    fingerprint: str
    seed: int
    stands: bool
    place: int


class Journal:
    """A lesson's journal, open for one run; a context manager.

    Attributes:
        path: the file.
        header: what the whole run has in common: 'lesson', 'seed', and what else it was begun with.
        seed: of the cases of what is graded from now on.
    Raises:
        NotWritten: the file cannot be opened.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.header: Line = {}
        self.seed = 0
        self._headers: list[Line] = []
        self._entries: dict[str, list[_Entry]] = {}
        # By run: the size of the file each time that its summary was printed.
        self._told: dict[str, list[int]] = {}
        self._begun = True  # whether the run's own line is written
        self._file: BinaryIO | None = None
        try:
            if path.exists():
                self._read(self._open())
        except OSError as error:
            raise NotWritten(path, error) from error

    @classmethod
    def begin(cls, path: Path, header: Line) -> Journal:
        """The journal, with a new run in it as soon as something is added."""
        journal = cls(path)
        journal.header, journal.seed, journal._begun = header, header["seed"], False
        return journal

    @classmethod
    def resume(cls, path: Path, whole: bool = True) -> Journal | None:
        """The journal, to go on with the last run in it; None if there is none.

        Once its summary was printed, pages went out, and their learners know its cases, from what
        their code has raised: whoever hands in after that has others.

        Args:
            whole: of a whole class alone.
        """
        journal = cls(path)
        for header in reversed(journal._headers):
            if header.get("whole", True) or not whole:
                journal.header, journal.seed = header, header["seed"]
                if times := len(journal._told.get(header.get("begun", ""), ())):
                    digest = hashlib.sha256(f"{journal.seed} {times}".encode()).digest()
                    journal.seed = int.from_bytes(digest[:8], "big") >> 1
                return journal
        journal.close()
        return None

    def _open(self) -> BinaryIO:
        if self._file is None:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._file = open(self.path, "a+b")  # noqa: SIM115
        return self._file

    def _read(self, file: BinaryIO) -> None:
        file.seek(0)
        place = 0
        for data, line in lines(file):
            if line:
                self._note(place, line)
            place += len(data)
        file.truncate(place)  # a last line that was cut short, by a kill

    def _note(self, place: int, line: Line) -> None:
        if "result" in line:
            stands, seed = line.get("stands", True), line.get("seed", 0)
            entry = _Entry(line["begun"], line["fingerprint"], seed, stands, place)
            self._entries.setdefault(line["folder"], []).append(entry)
        elif "told" in line:
            self._told.setdefault(line["begun"], []).append(place)
        else:
            self._headers.append(line)

    @property
    def folders(self) -> list[str]:
        """Whoever has a line, in order."""
        return sorted(self._entries)

    def holds(self, folder: str, fingerprint: str) -> bool:
        """Whether this run has recorded this very submission, and no other run anything since."""
        last = [(each.begun, each.fingerprint) for each in self._entries.get(folder, [])[-1:]]
        return last == [(self.header.get("begun"), fingerprint)]

    def seed_of(self, folder: str, fingerprint: str) -> int:
        """The seed of a submission's cases: what this run has recorded keeps its own."""
        for each in self._entries.get(folder, ()):
            if (each.begun, each.fingerprint) == (self.header.get("begun"), fingerprint):
                return each.seed
        return self.seed

    def past(self, folder: str, fingerprint: str) -> Past:
        """What was recorded of a student's hand-ins, this very one and the one before it."""
        standing = [entry for entry in self._entries.get(folder, ()) if entry.stands]
        others = [entry for entry in standing if entry.fingerprint != fingerprint]
        again = before = handed_in = None
        if standing and standing[-1].fingerprint == fingerprint:
            again = self._at(standing[-1])["result"]
        if others:
            line = self._at(others[-1])
            before, handed_in = line["result"], line.get("handed_in")
        return Past(again, before, datetime.fromisoformat(handed_in) if handed_in else None)

    def add(self, recorded: Iterable[Line]) -> None:
        """Note that submissions are recorded; they are on the disk when this returns.

        Args:
            recorded: 'folder', 'fingerprint' and 'result' of each, and what else is to be told.
        Raises:
            NotWritten: it cannot be written.
        """
        self._write([{**self.header, "at": now(), **line} for line in recorded])

    def tell(self) -> None:
        """Note that the run's summary was printed."""
        if self._begun:
            self._write([{**self.header, "told": now()}])

    def _write(self, added: list[Line]) -> None:
        if not self._begun:
            added, self._begun = [self.header, *added], True
        try:
            file = self._open()
            place = file.seek(0, os.SEEK_END)
            places = []
            for line in added:
                data = json.dumps(line).encode() + b"\n"
                file.write(data)
                places.append(place)
                place += len(data)
            file.flush()
            os.fsync(file.fileno())
        except OSError as error:
            raise NotWritten(self.path, error) from error
        for where, line in zip(places, added, strict=True):
            self._note(where, line)

    def result(self, folder: str) -> Line:
        """The result that stands of a student's submissions."""
        standing = [entry for entry in self._entries[folder] if entry.stands]
        result: Line = self._at((standing or self._entries[folder])[-1])["result"]
        return result

    def latest(self, folder: str) -> Line:
        """The last line on a student."""
        return self._at(self._entries[folder][-1])

    def worse(self, folders: Iterable[str]) -> dict[str, Worse]:
        """Whose last hand-in comes to less than the one before it, by the student's name."""
        found = {}
        for line in map(self.latest, folders):
            if line.get("earlier") is not None:
                result = line["result"]
                said = result["message"] if result["status"] == "INVALID" else ""
                told = Worse(result["score"], line["earlier"], line["stands"], said)
                found[result["student"]] = told
        return found

    def is_as_told(self, folder: str) -> bool:
        """Whether an earlier summary has told the same of a student."""
        *before, last = self._entries[folder]
        told = [entry for entry in before if entry.place < self._when_told(entry)]
        if last.place < self._when_told(last):
            return True
        if not told or told[-1].fingerprint != last.fingerprint:
            return False
        return outcome(self._at(told[-1])["result"]) == outcome(self._at(last)["result"])

    def _when_told(self, entry: _Entry) -> int:
        return max(self._told.get(entry.begun, [0]))

    def _at(self, entry: _Entry) -> Line:
        file = self._open()
        file.seek(entry.place)
        line: Line = json.loads(file.readline())
        return line

    def __enter__(self) -> Journal:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        # What is left in its buffer could not be written, and `add` has said so.
        with contextlib.suppress(OSError):
            if self._file:
                self._file.close()


def lines(file: BinaryIO) -> Iterator[tuple[bytes, Line | None]]:
    """Each whole line, and what it says; None for what is damaged."""
    run: Line = {}
    for data in file:
        if not data.endswith(b"\n"):
            return
        line = _parsed(data)
        if line and "folder" in line:
            # An older journal leaves out what the run's own line has said.
            line = {"begun": "", **run, **line}
        elif line:
            run = line
        yield data, line


def now() -> str:
    """The time, with its zone."""
    return datetime.now().astimezone().isoformat(timespec="seconds")


def forget(path: Path, student: str) -> int:
    """Remove a student's lines, and what is damaged and has the name; how many there were.

    Raises:
        NotWritten: the file could not be replaced; it is as it was.
    """
    spelled = (normalize(form, student) for form in ("NFC", "NFD"))
    names = [json.dumps(name)[1:-1].encode() for name in spelled]
    whole, kept, removed = path.read_bytes(), [], 0
    for data, line in lines(io.BytesIO(whole)):
        theirs = any(map(data.__contains__, names)) if line is None else is_of(line, student)
        removed += theirs
        if not theirs:
            kept.append(data)
    if (left := b"".join(kept)) != whole:  # without a line that was cut short, whoever's it was
        write_whole(path, left)
    return removed


def is_of(line: Line, student: str) -> bool:
    """Whether a line is on a student, named in NFC: by the folder's name, or by the one shown."""
    names = (line["folder"], line["result"]["student"]) if "result" in line else ()
    return student in map(in_nfc, names)


def _parsed(data: bytes) -> Line | None:
    """A line's object, None for anything else."""
    try:
        found = json.loads(data)
    except (ValueError, RecursionError):
        return None
    if not _has(found, {}, _LINE):
        return None
    if {"folder", "fingerprint", "result"} <= found.keys():
        is_whole = _has(found["result"], _RESULT) and all(
            _has(item, _EXERCISE) for item in found["result"]["exercises"]
        )
        return found if is_whole and _is_time(found.get("handed_in")) else None
    return found if "seed" in found and ("begun" in found or "told" not in found) else None


def _has(found: object, needed: _Kinds, others: _Kinds = MappingProxyType({})) -> bool:
    """Whether something is an object with these values, and has others in this form alone."""
    return (
        isinstance(found, dict)
        and needed.keys() <= found.keys()
        and all(isinstance(found[key], kind) for key, kind in needed.items())
        and all(isinstance(found[key], kind) for key, kind in others.items() if key in found)
    )


def _is_time(text: str | None) -> bool:
    try:
        return text is None or bool(datetime.fromisoformat(text))
    except ValueError:
        return False
