"""Pages whose cells run: what the site writes beside them, and what each is told.

A lesson of stage `pure` needs Pyodide's core, an editor (`docs.npm`), and the course with its
recorded cases (`docs.browser`). All lies in _static/run/, beside the modules that are ours. A page
is told the size and hash of each part, so that one that is not of this build is noticed.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import re
import shutil
from functools import cache
from pathlib import Path
from typing import Any

from attnlab.figures.live.quiz import Quiz
from attnlab.lessons import Lesson
from docs import browser, npm

HERE = Path(__file__).resolve().parent
PARTS = ("pyodide", "prism-code-editor")
SECONDS = 20  # until a page ends what does not heed the engine's own limits
PYODIDE = (
    "pyodide.mjs",
    "pyodide.asm.mjs",
    "pyodide.asm.wasm",
    "python_stdlib.zip",
    "pyodide-lock.json",
)
EDITOR = (
    "index.js",
    "extensions/commands/index.js",
    "languages/python.js",
    "prism/languages/python.js",
)
_IMPORTED = re.compile(r'(?:from|import)\s*"(\.[^"]+)"')
_JSON = re.compile("<(?=[/!])")
# A note is read out with an editor; the first is a lesson's, the second the front page's.
KEYS = "Shift+Enter runs a cell; Escape, then Tab, leaves its editor."
LESSON = (
    f"The cells run in this page. {KEYS} Python, {{megabytes}} MB, is loaded at your first Run. "
    "What you write is kept in your browser, and nothing of it leaves this page."
)
FRONT = f"It runs in this page, and nothing that you write leaves your browser. {KEYS}"
MEND = "To fetch it: python -m docs.npm"
STILL = "With JavaScript, the cells of this page run in it."


def missing() -> list[str]:
    """What the pages cannot run without and is not there."""
    return [name for name in PARTS if npm.part(name) is None]


def runs(about: Lesson) -> bool:
    """Whether a lesson is done in its page."""
    return about.stage == browser.STAGE


def write(folder: Path) -> None:
    """Write all parts into _static/run/, where our own modules are already."""
    pyodide, editor = map(npm.part, PARTS)
    assert pyodide, "somebody asks `missing` before"
    assert editor
    (folder / "pyodide").mkdir(parents=True)
    for name in PYODIDE:
        shutil.copyfile(pyodide / name, folder / "pyodide" / name)
    for path in _modules(*(editor / "dist" / name for name in EDITOR)):
        _copy(path, folder / "editor" / path.relative_to(editor / "dist"))
    _copy(editor / "dist" / "layout.css", folder / "editor" / "layout.css")
    for name, home in (("pyodide", pyodide / "README.md"), ("editor", editor / "LICENSE")):
        _copy(home, folder / name / home.name)
    (folder / "quiz.mjs").write_text(Quiz._esm, encoding="utf-8")
    (folder / "quiz.css").write_text(Quiz._css, encoding="utf-8")
    browser.write(folder)


def _modules(*paths: Path) -> set[Path]:
    """Modules, and what they import, and so on."""
    found: set[Path] = set()
    waiting = [path.resolve() for path in paths]
    while waiting:
        path = waiting.pop()
        if path not in found:
            found.add(path)
            named = _IMPORTED.findall(path.read_text(encoding="utf-8"))
            waiting += [(path.parent / name).resolve() for name in named]
    return found


def _copy(path: Path, to: Path) -> None:
    to.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(path, to)


def told_lesson(folder: Path, slug: str, notebook: dict[str, Any]) -> str:
    """What a lesson's page is told, as HTML for its top.

    Args:
        folder: _static/run/ with all parts.
    """
    cells = [
        {"id": cell["id"], "name": cell["metadata"]["nbgrader"]["grade_id"]}
        for cell in notebook["cells"]
        if cell["cell_type"] == "code"
    ]
    handed_out = HERE.parent / "notebooks" / slug / f"{slug}.ipynb"
    download = f"../../download/{slug}.ipynb"  # beside _static/run/
    parts = _parts(folder, slug, [path.name for path in sorted((folder / slug).glob("*.json"))])
    packed = sum(_packed(folder / name) for name in parts)
    parts[download] = _told(handed_out)
    about = {
        "page": slug,
        "lesson": slug,
        "cells": cells,
        "parts": parts,
        "notebook": download,
        "says": LESSON.format(megabytes=round(packed / 1e6)),
    }
    return _html(about)


def told_front(folder: Path, slug: str, exercise: str) -> str:
    """What the front page is told: one cell, with an exercise of a lesson."""
    about = {
        "page": "front",
        "lesson": slug,
        "read": f"notebooks/{slug}/{slug}.html",
        "cells": [{"id": exercise, "name": exercise}],
        "parts": _parts(folder, slug, ["lesson.json", f"{exercise}.json"]),
        "says": FRONT,
    }
    return _html(about)


def _parts(folder: Path, slug: str, names: list[str]) -> dict[str, dict[str, Any]]:
    """Size and hash of each part that a page loads."""
    wanted = [
        "worker.mjs",
        "clock.mjs",
        "quiz.mjs",
        *(f"pyodide/{name}" for name in PYODIDE),
        "course.zip",
    ]
    wanted += [f"{slug}/{name}" for name in names]
    return {name: _told(folder / name) for name in wanted}


@cache
def _told(path: Path) -> dict[str, Any]:
    data = path.read_bytes()
    digest = base64.b64encode(hashlib.sha256(data).digest()).decode()
    return {"bytes": len(data), "hash": f"sha256-{digest}"}


@cache
def _packed(path: Path) -> int:
    """Bytes as a server sends them, compressed."""
    return len(gzip.compress(path.read_bytes(), 6))


def _html(about: dict[str, Any]) -> str:
    about = {**about, "seconds": SECONDS}
    text = _JSON.sub(r"\\u003c", json.dumps(about, ensure_ascii=False))
    return (
        f'<div class="run-bar" data-run>{STILL}</div>\n'
        f'<script type="application/json" id="run-about">{text}</script>\n'
    )
