"""From the bytes that came back to a notebook of today's format.

A learner's file is a stranger's: whatever it holds, the answer is a Notebook, or an Unreadable with
a sentence that says why not.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from autograder.limits import Limits

KINDS = ("code", "markdown", "raw")
CELLS = 2000  # a lesson has about a hundred


class Unreadable(Exception):
    """There is no notebook to grade; the sentence says why."""


@dataclass(slots=True)
class Cell:
    """One cell.

    Attributes:
        kind: 'code', 'markdown' or 'raw'.
        metadata: nbgrader's and others', as it came.
        id: Jupyter's, '' before nbformat 4.5.
    """

    kind: str
    source: str
    metadata: dict[str, Any] = field(default_factory=dict)
    id: str = ""

    @property
    def nbgrader(self) -> dict[str, Any]:
        found = self.metadata.get("nbgrader")
        return found if isinstance(found, dict) else {}

    @property
    def grade_id(self) -> str:
        """nbgrader's name for the cell, '' for a learner's own."""
        found = self.nbgrader.get("grade_id")
        return found if isinstance(found, str) else ""


def read(data: bytes, limits: Limits) -> list[Cell]:
    """The cells of a notebook.

    Args:
        data: the file.
    Raises:
        Unreadable: it is not a notebook.
    """
    if not data.strip():
        raise Unreadable("The file is empty.")
    if len(data) > limits.notebook_bytes:
        raise Unreadable(too_large(len(data), limits))
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise Unreadable(f"The file is not UTF-8 text (byte {error.start:,}).") from error
    try:
        notebook = json.loads(text)
    except RecursionError as error:
        raise Unreadable("The file is nested too deeply to be a notebook.") from error
    except ValueError as error:
        raise Unreadable(f"The file is not JSON, which a notebook is: {error}.") from error
    items = _cells(_today(notebook))
    cells = [cell for cell in map(_cell, items) if cell is not None]
    if items and not cells:
        raise Unreadable("The file has the form of a notebook, but none of its cells is a cell.")
    code = sum(len(cell.source) for cell in cells if cell.kind == "code")
    if code > limits.code_bytes:
        raise Unreadable(f"The notebook has {code:,} characters of code, too much to be graded.")
    return cells


def too_large(size: int, limits: Limits) -> str:
    """The sentence for a file that is not opened at all."""
    allowed = limits.notebook_bytes / 2**20
    return (
        f"The file has {size / 2**20:.1f} MB; a notebook of up to {allowed:g} MB is graded. "
        "Clearing its outputs makes it smaller."
    )


def _today(notebook: Any) -> dict[str, Any]:
    """A notebook of nbformat 4."""
    if not isinstance(notebook, dict):
        raise Unreadable("The file is JSON, but not a notebook.")
    version = notebook.get("nbformat")
    if type(version) is not int:
        raise Unreadable("The file is JSON, but not a notebook: it has no `nbformat`.")
    if version > 4 or version < 1:
        raise Unreadable(f"The notebook is of nbformat {version}; 4 is the newest that there is.")
    if version == 4:
        return notebook
    import nbformat  # it takes a second to import, and few notebooks are so old

    _pruned(notebook)
    try:
        converted = dict(nbformat.reads(json.dumps(notebook), as_version=4))
        for cell in converted["cells"]:
            cell.pop("id", None)  # made up, and another one each time
        return converted
    except (Exception, RecursionError) as error:  # the converter trusts what it reads
        raise Unreadable(
            f"The notebook is of nbformat {version} and cannot be converted to 4: "
            f"{type(error).__name__}."
        ) from error


def _pruned(notebook: dict[str, Any]) -> None:
    """Take from an old notebook what is not needed and could make its conversion long."""
    worksheets = notebook.get("worksheets")
    sheets = [notebook, *(worksheets if isinstance(worksheets, list) else ())]
    lists = [sheet.get("cells") for sheet in sheets if isinstance(sheet, dict)]
    cells = [cell for found in lists if isinstance(found, list) for cell in found]
    _not_too_many(cells)
    for cell in cells:
        if isinstance(cell, dict):
            cell.pop("outputs", None)
            if cell.get("cell_type") == "code":
                cell["outputs"] = []
            if cell.get("level") not in range(1, 7):  # of a heading: as many hashes
                cell.pop("level", None)


def _not_too_many(cells: list[Any]) -> None:
    if len(cells) > CELLS:
        raise Unreadable(f"The notebook has {len(cells):,} cells; up to {CELLS:,} are graded.")


def _cells(notebook: dict[str, Any]) -> list[Any]:
    cells = notebook.get("cells")
    if not isinstance(cells, list):
        raise Unreadable("The notebook has no list of cells.")
    _not_too_many(cells)
    return cells


def _cell(item: Any) -> Cell | None:
    """A cell, or None where it is not one."""
    if not isinstance(item, dict) or item.get("cell_type") not in KINDS:
        return None
    metadata, found = item.get("metadata"), item.get("id")
    return Cell(
        item["cell_type"],
        _text(item.get("source")),
        metadata if isinstance(metadata, dict) else {},
        found if isinstance(found, str) and 0 < len(found) <= 64 else "",
    )


def _text(source: Any) -> str:
    """A cell's source: text, or a list of lines."""
    if isinstance(source, list):
        source = "".join(line for line in source if isinstance(line, str))
    if not isinstance(source, str):
        return ""
    plain = source.replace("\r\n", "\n").replace("\r", "\n")
    return plain.encode("utf-8", "replace").decode()  # a lone surrogate could not be written
