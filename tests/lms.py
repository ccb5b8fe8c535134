"""Packs notebooks as each LMS does, for tests of what comes from them and goes back.

    canvas_zip(path, lesson, [Handed("Ada Lovelace", "1017", {"06-causal-mask.ipynb": data})])

The layouts, and what they follow, are described in `autograder.term.layouts`.
"""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

import yaml

TIME = datetime(2026, 11, 30, 18)
FIRST = 5550  # the first attachment's number


@dataclass(frozen=True)
class Handed:
    """What a person handed in, as an LMS knows it.

    Attributes:
        name: the full one, the family name last.
        id: the LMS's; Gradescope's is the student's own.
        files: by their names.
        number: of Canvas's attachments the first; 0 for the next free one.
        time: in UTC.
    """

    name: str
    id: str
    files: Mapping[str, bytes]
    email: str = ""
    late: bool = False
    number: int = 0
    time: datetime = field(default=TIME)


def canvas_name(name: str) -> str:
    """The name to sort by, as Canvas writes it into a file's name."""
    first, _, last = name.rpartition(" ")
    return re.sub(r"[^\w\u0300-\u036f]", "", f"{last}, {first}".lower())


def canvas_zip(
    path: Path, lesson: str, hand_ins: Iterable[Handed], anonymous: bool = False
) -> Path:
    number = FIRST
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for handed in hand_ins:
            number = handed.number or number
            late = "_LATE" * handed.late
            who = f"{canvas_name(handed.name)}{late}_{handed.id}"
            if anonymous:
                who = f"{late}_anon_{handed.id}".removeprefix("_")
            for name, data in handed.files.items():
                archive.writestr(f"{who}_{number}_{name}", data)
                number += 1
    return path


def moodle_zip(
    path: Path,
    lesson: str,
    hand_ins: Iterable[Handed],
    between: str = "_/",
    made: datetime = TIME,
) -> Path:
    """Args:
    between: `_/` and `/` are folders, of older and newer versions; `_` is flat.
    made: when Moodle made it, which is what it writes as each member's time.
    """
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for handed in hand_ins:
            who = re.sub(r"[&<>\"`|':\\/]", "", handed.name.replace("_", " "))
            for name, data in handed.files.items():
                name = f"{who}_{handed.id}_assignsubmission_file{between}{name}"
                archive.writestr(zipfile.ZipInfo(name, made.timetuple()[:6]), data)
    return path


def gradescope_zip(path: Path, lesson: str, hand_ins: Iterable[Handed]) -> Path:
    home, table = "assignment_77_export", {}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for number, handed in enumerate(hand_ins, 4200):
            table[f"submission_{number}"] = {
                ":submitters": [{":name": handed.name, ":sid": handed.id, ":email": handed.email}],
                ":created_at": handed.time.replace(),  # else YAML refers to one from the other
                ":score": 0.0,
                ":status": "unprocessed",
                ":history": [],
            }
            for name, data in handed.files.items():
                archive.writestr(f"{home}/submission_{number}/{name}", data)
        archive.writestr(f"{home}/submission_metadata.yml", yaml.safe_dump(table))
    return path
