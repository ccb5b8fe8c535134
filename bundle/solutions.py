"""The solutions as one file, for people who learn alone: `attnlab.solution` shows them."""

from __future__ import annotations

import json
import re
from pathlib import Path

from attnlab.ipynb.read import Cell, read
from attnlab.lessons import slugs

_MARK = re.compile(r"^\s*### (BEGIN|END) SOLUTION\n?", re.MULTILINE)
_IDEA = re.compile(
    r"<details><summary>Hint 1[^<]*</summary>(.*?)(?:<details>|</details>)", re.DOTALL
)


def solutions(folder: Path) -> bytes:
    """The file: for each exercise the authors' own answer, and its idea, in the first hint's words.

    Args:
        folder: solutions/.
    """
    found = {slug: _of(read((folder / slug / f"{slug}.ipynb").read_bytes())) for slug in slugs()}
    text = json.dumps({"v": 1, "solutions": found}, ensure_ascii=False, indent=1)
    return f"{text}\n".encode()


def _of(cells: list[Cell]) -> dict[str, dict[str, str]]:
    told: dict[str, dict[str, str]] = {}
    idea = ""
    for cell in cells:
        if hint := _IDEA.search(cell.source):
            idea = hint[1].strip()
        if cell.is_solution:
            told[cell.grade_id] = {"code": _MARK.sub("", cell.source).strip(), "why": idea}
            idea = ""
    return told
