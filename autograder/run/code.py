"""Digests of the code that grades: other code may grade the same notebook otherwise.

What is written in prose, in a lesson or beside the checks, changes pages, and no points.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

import attnlab
import autograder
from attnlab.ipynb.read import Unreadable, read

GRADE_NOTHING = {"figures", "home"}


def digest() -> str:
    """Changes whenever the code of the checks, or of the grader, does."""
    found = hashlib.sha256()
    for path in _modules():
        content = path.read_bytes()
        found.update(f"{path.name} {len(content)}\0".encode())
        found.update(content)
    return found.hexdigest()


def of_notebook(text: str) -> str:
    """Changes whenever a lesson's code, or nbgrader's notes on its cells, do; '' is none."""
    told: object = text
    with suppress(Unreadable):
        cells = read(text.encode())
        told = [[cell.source, cell.nbgrader] for cell in cells if cell.kind == "code"]
    return hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()


def _modules() -> Iterator[Path]:
    """Every module, folder by folder."""
    course, grader = Path(attnlab.__path__[0]), Path(autograder.__path__[0])
    for path in _regular(course.rglob("*.py")):
        if not GRADE_NOTHING & set(path.relative_to(course).with_suffix("").parts):
            yield path
    yield from _regular(grader.rglob("*.py"))


def _regular(paths: Iterable[Path]) -> list[Path]:
    """In order, and without what an editor puts beside a module that it has open."""
    return sorted(path for path in paths if not path.name.startswith(".") and path.is_file())
