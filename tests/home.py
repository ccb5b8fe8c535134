"""A small course in a folder of its own, for what a learner does in it every day."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from attnlab.home.check_mine import Run
from attnlab.home.copies import update
from attnlab.work.places import Course
from tests.course import ROOT

SLUG, OTHER = "01-soft-lookup", "02-pure-python"
ANSWER = "def softmax(scores):\n    return scores  # mine"


def make_home(folder: Path, *slugs: str) -> Course:
    """A course with these lessons as they are handed out, and nobody's copies."""
    (folder / "jupyter").mkdir(parents=True)
    (folder / "jupyter" / "lab_config.py").touch()
    for slug in slugs or (SLUG,):
        (folder / "notebooks" / slug).mkdir(parents=True)
        shutil.copy(ROOT / "notebooks" / slug / f"{slug}.ipynb", folder / "notebooks" / slug)
    shutil.copy(ROOT / "notebooks" / "glossary.md", folder / "notebooks")
    return Course(folder)


def make_copies(folder: Path, *slugs: str) -> Course:
    """A course whose lessons have been copied."""
    course = make_home(folder, *slugs)
    updated(course)
    return course


def updated(course: Course) -> list[str]:
    return list(update(course))


def cells_of(path: Path) -> list[dict[str, Any]]:
    found = json.loads(path.read_text(encoding="utf-8"))["cells"]
    assert isinstance(found, list)
    return found


def save(path: Path, cells: list[dict[str, Any]]) -> None:
    """Save a notebook with these cells, as a front end does."""
    notebook = json.loads(path.read_text(encoding="utf-8"))
    notebook["cells"] = cells
    path.write_text(json.dumps(notebook, indent=1), encoding="utf-8")


def label(cell: dict[str, Any]) -> str:
    return str(cell["metadata"].get("nbgrader", {}).get("grade_id", ""))


def source(cell: dict[str, Any]) -> str:
    return "".join(cell["source"])


def find(cells: list[dict[str, Any]], name: str) -> dict[str, Any]:
    """The cell with this label."""
    [found] = [cell for cell in cells if label(cell) == name]
    return found


def write(path: Path, name: str, text: str) -> None:
    """Write into the cell with this label, and save."""
    cells = cells_of(path)
    find(cells, name)["source"] = text
    save(path, cells)


def own(text: str, kind: str = "code", **more: Any) -> dict[str, Any]:
    """A cell that a learner added."""
    cell = {"cell_type": kind, "id": f"own-{abs(hash(text)) % 10**6}", "metadata": {}}
    return {**cell, "source": text, **({"outputs": [], "execution_count": None} | more)}


def files_under(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def listening(found: object, slug: str = "") -> Run:
    """A run in which the small model, or a lesson's own function, shows this of a sentence."""

    def run(folder: Path, data: bytes, tick: Callable[[], None]) -> list[dict[str, Any]]:
        cells: list[dict[str, Any]] = json.loads(data)["cells"]
        mine = f", '{slug}', " in cells[-1]["source"] if slug else len(cells) == 1
        output = {"output_type": "display_data", "data": {"application/json": found}}
        return [*cells[:-1], cells[-1] | {"outputs": [output] if mine else []}]

    return run


def evenly(n: int) -> dict[str, object]:
    """What is shown where each of n words listens to all up to it alike."""
    weights = [[1 / (i + 1) if j <= i else 0.0 for j in range(n)] for i in range(n)]
    return {"weights": weights, "role": "subject", "layer": 2, "head": 3}
