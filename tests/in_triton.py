"""Lesson 13's kernel as a reader runs it: its cells, in a process of their own on a CPU.

Triton asks once, when it is imported, whether to interpret. It reads a kernel's source from a file.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.course import code_cells, grading, read, solution_path

SLUG = "13-gpu-sdpa"
BLANK = re.compile(r"^.*# your line, instead of this one$", re.MULTILINE)
_CELLS = ("setup", "attend", "is_fair", "triton", "launch", "compare-kernel")


def line() -> str:
    """What is missing in the lesson's kernel, as the lesson tells it under a hint."""
    prose = "\n".join(
        c.source for c in read(solution_path(SLUG)).cells if c.cell_type == "markdown"
    )
    [found] = re.findall(r"<summary>The line</summary>\n\n```\n(.+)\n```", prose)
    return str(found)


def kernel(written: str = "") -> str:
    """The lesson's cell with the kernel, as it is handed out or with the line that is missing."""
    [cell] = [c.source for c in code_cells(read(solution_path(SLUG))) if "def forward(" in c.source]
    if written:
        cell, blanks = BLANK.subn(written, cell)
        assert blanks == 1
    return str(cell)


def compared(written: str = "", first: str = "", on_gpu: bool = False) -> str:
    """What the cell that compares prints.

    Args:
        written: stands where the blank is.
        first: run before all cells.
        on_gpu: on a GPU, and not in the interpreter.
    """
    notebook = read(solution_path(SLUG))
    cells = {grading(c).get("grade_id"): c.source for c in code_cells(notebook)}
    parts = [cells[name] for name in _CELLS]
    return run("\n".join([first, *parts[:4], kernel(written), *parts[4:]]), interpret=not on_gpu)


def run(code: str, interpret: bool = True) -> str:
    """What a process prints that runs this code from a file."""
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder, "cells.py")
        script.write_text(code, encoding="utf-8")
        done = subprocess.run(
            [sys.executable, str(script)],
            env=os.environ | {"TRITON_INTERPRET": str(int(interpret))},
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
    assert done.returncode == 0, done.stderr
    return done.stdout
