"""The course's files, as the tests see them."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import nbformat
import pytest
from nbformat import NotebookNode
from nbformat.v4 import new_markdown_cell

from attnlab import quizzes
from attnlab.lessons import slugs
from attnlab.quizzes import Question
from tests.waits import waits

ROOT = Path(__file__).resolve().parent.parent
BIN = Path(sys.executable).parent
SLUGS = list(slugs())
BEGIN, END = "BEGIN SOLUTION", "END SOLUTION"
GIVEN = ("attend", "heads", "modules")  # locked cells with what earlier lessons ask for

# Lessons that train for minutes, and what cuts them short where only their end is looked at. What
# their solutions store is compared by `make prove`.
SHORT = {
    "10-training": """
from attnlab.lessons.training.figures import Watch
Watch.__iter__ = lambda self: iter(range(3))
""",
    "12-shortcuts": """
import torch
from attnlab.lessons.shortcuts import tasks
tasks.learn = lambda reader, task, seed: tasks.share_right(reader, task, torch.Generator())
""",
}

# What `make release` and nbgrader read.
_FILES = ("Makefile", "pyproject.toml", "constraints.txt", "nbgrader_config.py", "solutions")


def solution_path(slug: str) -> Path:
    return ROOT / "solutions" / slug / f"{slug}.ipynb"


def released_path(slug: str) -> Path:
    return ROOT / "notebooks" / slug / f"{slug}.ipynb"


def read(path: Path) -> NotebookNode:
    return nbformat.read(path, as_version=4)


def code_cells(notebook: NotebookNode) -> list[NotebookNode]:
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def grading(cell: NotebookNode) -> NotebookNode:
    """A cell's nbgrader metadata, empty if it has none."""
    return cell.metadata.get("nbgrader", NotebookNode())


def is_exercise(cell: NotebookNode) -> bool:
    return cell.cell_type == "code" and grading(cell).get("solution", False)


def is_check(cell: NotebookNode) -> bool:
    return bool(grading(cell).get("grade", False))


def split_solution(source: str) -> tuple[str, str]:
    """A solution cell's public part and its solution; without markers all of it is solution."""
    if BEGIN not in source:
        return "", source
    public: list[str] = []
    solution: list[str] = []
    inside = False
    for line in source.splitlines():
        if BEGIN in line or END in line:
            inside = BEGIN in line
        else:
            (solution if inside else public).append(line)
    return "\n".join(public), "\n".join(solution)


OPTIONAL = "Optional: "  # begins the heading of a section that can be left out


def minutes(notebook: NotebookNode) -> tuple[float, float]:
    """How long a released notebook takes, and how long what is optional in it.

    160 words or 8 lines of code a minute, each exercise as long as it says at most, and what cells
    keep one waiting. A word has a letter; a line of code is no comment. Of a quiz all words count,
    as if they stood there.
    """
    core, optional = _parts(notebook)
    waiting = waits().get(_slug(notebook), {})
    return _minutes(core, waiting), _minutes(optional, waiting)


def own_share(notebook: NotebookNode) -> float:
    """How much of the minutes, without waiting, are the learner's own: exercises and guesses."""
    core, _ = _parts(notebook)
    asked = quizzes.of(_slug(notebook))
    guesses = [cell for cell in notebook.cells if cell.source.startswith('quiz("predict')]
    guessing = _minutes([_with_words(cell, asked) for cell in guesses], {})
    return (own_minutes(core) + guessing) / _minutes(core, {})


def _slug(notebook: NotebookNode) -> str:
    code = "\n".join(cell.source for cell in code_cells(notebook))
    [slug] = re.findall(r'^begin\("(.+)"\)$', code, re.MULTILINE)
    return str(slug)


def _parts(notebook: NotebookNode) -> tuple[list[NotebookNode], list[NotebookNode]]:
    """Cells as they read, those that are optional apart."""
    asked = quizzes.of(_slug(notebook))
    parts: tuple[list[NotebookNode], list[NotebookNode]] = ([], [])
    optional = False
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            for head in re.findall(r"^## (.+)$", cell.source, re.MULTILINE):
                optional = head.startswith(OPTIONAL)
        parts[optional].append(_with_words(cell, asked))
    return parts


QUIZ = re.compile(r'quiz\("(.+)"\)')


def _with_words(cell: NotebookNode, quizzes_of: Mapping[str, Sequence[Question]]) -> NotebookNode:
    """A cell as it reads: for a quiz, Markdown with its questions, choices and answers."""
    title = QUIZ.fullmatch(cell.source)
    if not title:
        return cell
    asked = quizzes_of[title[1]]
    said = (" ".join([each.asked, *each.choices, *each.answers]) for each in asked)
    return new_markdown_cell("\n\n".join(said))


def _minutes(cells: list[NotebookNode], waiting: Mapping[str, float]) -> float:
    words, lines, seconds = 0, 0, 0.0
    for cell in cells:
        if cell.cell_type == "markdown":
            prose = re.sub(r"<[^>]+>", " ", cell.source)
            words += sum(any(map(str.isalpha, word)) for word in prose.split())
        else:
            code = map(str.strip, cell.source.splitlines())
            lines += sum(bool(line) and not line.startswith("#") for line in code)
            seconds += waiting.get(grading(cell).get("grade_id", ""), 0.0)
    return words / 160 + lines / 8 + seconds / 60 + own_minutes(cells)


def own_minutes(cells: list[NotebookNode]) -> int:
    """How long the exercises in these cells take, as they say at most."""
    prose = "\n".join(cell.source for cell in cells if cell.cell_type == "markdown")
    return sum(map(int, re.findall(r"^difficulty .*?(\d+) min", prose, re.MULTILINE)))


def headings(notebook: NotebookNode) -> Iterator[tuple[int, str]]:
    """Level and text of each Markdown heading, in order."""
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            prose = re.sub(r"^(```|~~~).*?^\1", "", cell.source, flags=re.DOTALL | re.MULTILINE)
            for marks, text in re.findall(r"^(#{1,6}) +(.+)$", prose, flags=re.MULTILINE):
                yield len(marks), text


def copy_to(folder: Path) -> Path:
    """A copy of what releases and nbgrader work on, so that they change nothing here."""
    ignored = shutil.ignore_patterns(".ipynb_checkpoints", "__pycache__")
    for name in _FILES:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, folder / name, ignore=ignored)
        else:
            shutil.copy(source, folder / name)
    return folder


def tells(said: str, *facts: object) -> bool:
    """Whether these stand in a text in this order, whatever words are between."""
    return re.search(".*?".join(re.escape(str(fact)) for fact in facts), said, re.S) is not None


def fail_for(told: Iterable[str]) -> None:
    """Fail the test for these reasons, a line each, if there are any."""
    if reasons := list(told):
        pytest.fail("\n".join(reasons), pytrace=False)


def run(*command: str, cwd: Path = ROOT) -> str:
    """Standard output of one of the environment's commands, which has to succeed."""
    done = subprocess.run(
        [str(BIN / command[0]), *command[1:]],
        cwd=cwd,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=300,
        env={**os.environ, "PYTHONWARNINGS": "ignore"},
    )
    assert done.returncode == 0, f"{' '.join(command)}\n{done.stdout}\n{done.stderr}"
    return done.stdout
