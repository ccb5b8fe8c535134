"""From the bytes that came back to a notebook of today's format.

A learner's file is a stranger's: whatever it holds, the answer is a Notebook, or an Unreadable with
a sentence that says why not.
"""

from __future__ import annotations

import json
import re
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from attnlab.ipynb.words import short

MIB = 1024 * 1024
KINDS = ("code", "markdown", "raw")
CHECK = "-check"  # an exercise's check cell is named for its solution cell
STUB = "This exercise is not written yet."  # raised by a solution cell as it is handed out
CELLS = 2000  # a lesson has about a hundred
# Up to the next bracket that is in no string. Possessive, so that nothing is looked at twice.
_TO_BRACKET = re.compile(rb'(?:[^"\[\]{}]++|"(?:[^"\\]++|\\.)*+")*+[\[\]{}]', re.DOTALL)
_NOT_KEPT = re.compile(rb'"(?:outputs|attachments)"\s*:\s*\Z')
_BEGINNINGS = {b"PK\3\4": "a zip", b"%PDF": "a PDF", b"\x1f\x8b": "packed", b"\x89PNG": "a picture"}
_INSTEAD = "Hand in what JupyterLab's *File, Download* gives."
_PAGE = re.compile(r"<(?:!doctype|html|head|body|\?xml|!--)", re.IGNORECASE)
_CONFLICT = re.compile(r"^<{7}(?= |$)", re.MULTILINE)
_WORD = 30  # bytes before and after a letter that is not UTF-8
_KEY = 40  # bytes, enough for one of these


@dataclass(frozen=True, slots=True)
class Sizes:
    """How large a notebook may be.

    Attributes:
        notebook_bytes: size of the file.
        kept_bytes: the same without outputs, which are not looked at.
        lists: lists and objects in the file, which make its parsing expensive.
        code_bytes: source of all code cells together.
    """

    notebook_bytes: int = 64 * MIB
    kept_bytes: int = 10 * MIB
    lists: int = 500_000
    code_bytes: int = MIB


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

    @property
    def is_check(self) -> bool:
        """Whether this is the cell that an exercise's points are for."""
        return self.nbgrader.get("grade") is True

    @property
    def is_solution(self) -> bool:
        """Whether an exercise is answered here."""
        return self.nbgrader.get("solution") is True

    @property
    def is_theirs(self) -> bool:
        """Whether a learner writes here: an answer, or a cell of their own."""
        return not self.grade_id or self.is_solution

    @property
    def is_written(self) -> bool:
        """Whether a solution cell is no longer what was handed out."""
        return STUB not in self.source

    @property
    def exercise(self) -> str:
        """The exercise that a check or solution cell belongs to, '' for others."""
        if self.is_check:
            return self.grade_id.removesuffix(CHECK)
        return self.grade_id if self.is_solution else ""


def read(data: bytes, limits: Sizes = Sizes()) -> list[Cell]:
    """The cells of a notebook.

    Args:
        data: the file.
    Raises:
        Unreadable: it is not a notebook.
    """
    if not data or data.isspace():
        raise Unreadable("The file is empty.")
    text = without_outputs(data, limits).decode("utf-8-sig")
    try:
        notebook = json.loads(text)
    except RecursionError as error:
        raise Unreadable("The file is nested too deeply to be a notebook.") from error
    except ValueError as error:
        why = _not_json(text)
        raise Unreadable(why or f"The file is not JSON, which a notebook is: {error}.") from error
    items = _cells(notebook)
    cells = [cell for cell in map(cell_of, items) if cell is not None]
    if items and not cells:
        raise Unreadable("The file has the form of a notebook, but none of its cells is a cell.")
    code = sum(len(cell.source) for cell in cells if cell.kind == "code")
    if code > limits.code_bytes:
        raise Unreadable(f"The notebook has {code:,} characters of code, too much to be graded.")
    return cells


def in_utf_8(data: bytes) -> bytes:
    """A text file in UTF-8, which it may have been in UTF-16 or UTF-32, as their first bytes say.

    Raises:
        Unreadable: it is in another encoding, or no text.
    """
    encoding = json.detect_encoding(data[:4])
    if not encoding.startswith("utf-8"):
        with suppress(UnicodeError):
            return data.decode(encoding).encode()
    try:
        data.decode()
    except UnicodeDecodeError as error:
        raise Unreadable(_no_text(data) or _no_utf_8(data, error.start)) from error
    return data


def _no_text(data: bytes) -> str:
    """What a file is that begins as no text does; '' where it does not."""
    found = (what for start, what in _BEGINNINGS.items() if data.startswith(start))
    return f"The file is {what}, called a notebook. {_INSTEAD}" if (what := next(found, "")) else ""


def _no_utf_8(data: bytes, at: int) -> str:
    said = f"The file is not UTF-8 text (byte {at:,})."
    if data.lstrip()[:1] != b"{":
        return said
    before = data[max(at - _WORD, 0) : at].decode("cp1252", "replace")
    after = data[at : at + _WORD].decode("cp1252", "replace")
    word = short(re.split(r"[^\w]", before)[-1] + re.split(r"[^\w]", after)[0])
    return (
        f"{said} It has `{word}` there as Windows writes it, in cp1252. Open it in the editor that "
        "saved it, save it as UTF-8, and hand it in again."
    )


def _not_json(text: str) -> str:
    """What a text is that is no JSON, where that can be told; else ''."""
    if _PAGE.match(text.lstrip()):
        return f"The file is a web page, saved under a notebook's name. {_INSTEAD}"
    if found := _CONFLICT.search(text):
        line = text.count("\n", 0, found.start()) + 1
        return (
            f"Git wrote two versions into the file, from line {line:,} on, `{found[0]}`. Keep one "
            "of the two, delete the lines of `<`, `=` and `>`, and hand it in again."
        )
    return _no_text(text[:8].encode())


def without_outputs(data: bytes, limits: Sizes) -> bytes:
    """A file that can be parsed: of a heavy one, what is left without outputs and attachments.

    Raises:
        Unreadable: it is too large, no text, or something that large is not JSON.
    """
    if len(data) > limits.notebook_bytes:
        raise Unreadable(too_large(len(data), limits.notebook_bytes))
    data = in_utf_8(data)
    if len(data) <= limits.kept_bytes and data.count(b"[") + data.count(b"{") <= limits.lists:
        return data
    kept: list[memoryview] = []
    since = at = depth = lists = 0
    dropped_at = 0  # depth of what is being dropped
    while found := _TO_BRACKET.match(data, at):
        at = found.end()
        if data[at - 1] in b"[{":
            depth, lists = depth + 1, lists + 1
            if lists > limits.lists:
                raise Unreadable(
                    f"The file has more than {limits.lists:,} lists and objects. Clear its "
                    "outputs, save it, and hand it in again."
                )
            if not dropped_at and _NOT_KEPT.search(data, max(at - 1 - _KEY, 0), at - 1):
                kept += memoryview(data)[since : at - 1], memoryview(b"null")
                dropped_at = depth
        else:
            if dropped_at == depth:
                since, dropped_at = at, 0
            depth -= 1
    if depth:
        raise Unreadable("The file is not JSON, which a notebook is: a part of it is missing.")
    kept.append(memoryview(data)[since:])
    left = sum(map(len, kept))
    if left > limits.kept_bytes:
        raise Unreadable(
            f"Without its outputs the file has {left / MIB:.1f} MB; a notebook of up to "
            f"{limits.kept_bytes / MIB:g} MB is graded. Take large texts out of its cells, save "
            "it, and hand it in again."
        )
    return b"".join(kept)


def too_large(size: int, most: int) -> str:
    """The sentence for a file that is not read at all."""
    said = f"The file has {size / MIB:.1f} MB; one of up to {most / MIB:g} MB is read."
    return f"{said} If it is a notebook, clear its outputs and save it again."


def _cells(notebook: Any) -> list[Any]:
    """The cells of a notebook, as nbformat 4 has them."""
    if not isinstance(notebook, dict):
        raise Unreadable("The file is JSON, but not a notebook.")
    version = notebook.get("nbformat")
    if type(version) is not int:
        raise Unreadable("The file is JSON, but not a notebook: it has no `nbformat`.")
    if version > 4 or version < 1:
        said = short(str(version))
        raise Unreadable(f"The notebook is of nbformat {said}; 4 is the newest that there is.")
    sheets = [notebook] if version in (1, 4) else notebook.get("worksheets")
    lists = [sheet.get("cells") for sheet in _dicts(sheets)]
    cells = [cell for found in lists if isinstance(found, list) for cell in found]
    if not any(isinstance(found, list) for found in lists):
        raise Unreadable("The notebook has no list of cells.")
    if len(cells) > CELLS:
        raise Unreadable(f"The notebook has {len(cells):,} cells; up to {CELLS:,} are graded.")
    if version == 4:
        return cells
    return [_converted(cell) if isinstance(cell, dict) else cell for cell in cells]


def _dicts(items: Any) -> list[dict[str, Any]]:
    return [item for item in items if isinstance(item, dict)] if isinstance(items, list) else []


def _converted(old: dict[str, Any]) -> dict[str, Any]:
    """A cell of nbformat 1 to 3 as one of nbformat 4."""
    kind = old.get("cell_type")
    source = next((old[key] for key in ("input", "code", "text", "source") if key in old), "")
    if isinstance(source, list):
        lines = [line for line in source if isinstance(line, str)]
        source = ("" if lines and lines[0].endswith(("\n", "\r")) else "\n").join(lines)
    if kind == "heading":
        level = old.get("level")
        hashes = "#" * (level if type(level) is int and 0 < level < 7 else 1)
        source = f"{hashes} {' '.join(_text(source).splitlines())}"
    if kind in ("heading", "html", "text"):
        kind = "markdown"
    return {"cell_type": kind, "source": source, "metadata": old.get("metadata")}


def cell_of(item: Any) -> Cell | None:
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
