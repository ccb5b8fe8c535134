"""The class on disk: one folder a student, as nbgrader wants it, with a note of how it was made."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from pathlib import Path

from .learners import Submission

NOTE = ".demo-class.json"


class NotOurs(Exception):
    """A folder is in the way that may hold somebody's work."""


def refuse_to_overwrite(folder: Path, students: Iterable[str]) -> None:
    """Look before anything is written.

    Raises:
        NotOurs: a student's folder exists, and no demo class made it.
    """
    strangers = [
        student
        for student in students
        if (folder / student).exists() and not (folder / student / NOTE).is_file()
    ]
    if strangers:
        listed = ", ".join(strangers[:5]) + (", …" if len(strangers) > 5 else "")
        raise NotOurs(
            f"{folder} already has {listed}, which no demo class made: nothing was written. "
            "Move those folders away, or write the class elsewhere with --to FOLDER."
        )


def write(folder: Path, submission: Submission, seed: int) -> Path:
    """Write one submission, and say in its student's note what is in it.

    Returns:
        The notebook's path.
    """
    home = folder / submission.student
    note = home / NOTE
    made = json.loads(note.read_text(encoding="utf-8")) if note.exists() else {}
    made[submission.lesson] = {
        "seed": seed,
        "answers": submission.answers,
        "habits": submission.habits,
        "saved by": submission.front_end,
    }
    home.mkdir(parents=True, exist_ok=True)
    _replace(note, json.dumps(made, indent=1, ensure_ascii=False))
    path = home / submission.lesson / f"{submission.lesson}.ipynb"
    path.parent.mkdir(exist_ok=True)
    _replace(path, submission.text)
    return path


def _replace(path: Path, text: str) -> None:
    new = path.with_name(f".{path.name}.new")
    new.write_bytes(text.encode("utf-8"))
    os.replace(new, path)
