"""No command of the Makefile deletes or overwrites a person's file."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.course import BIN, ROOT, copy_to
from tests.home import ANSWER, SLUG, files_under, write

# What a recipe may do to files by itself. A new line here has been thought about: each deletes only
# what make made, or moves what a person left to where it is kept.
REVIEWED = {
    "release": {
        "rm -rf build/release",
        "cp solutions/glossary.md build/release/",
        "mv notebooks $$old",
        "rm -rf notebooks",  # where it is what was just made
        "mv build/release notebooks",
    },
    # authors' own notebooks, which are what this command is for
    "outputs": {"--inplace"},
}
CHANGES = re.compile(
    r"(?:\brm\b|\bmv\b|\bcp\b)[^;&|\\\n]*|--inplace|-delete\b|\bgit (?:clean|checkout|reset)\b"
    r"|(?<![0-9&])>{1,2}\s*(?!/dev/null|&)\S+"
)


def recipes() -> dict[str, str]:
    found: dict[str, str] = {}
    name = ""
    for line in (ROOT / "Makefile").read_text(encoding="utf-8").splitlines():
        if line.startswith("\t"):
            found[name] += f"{line.strip()}\n"
        elif rule := re.match(r"([\w$(). -]+?):(?!=)", line):
            name = rule[1]
            found.setdefault(name, "")
    return found


def test_every_recipe_that_changes_files_by_itself_is_known() -> None:
    found = {
        name: {each.strip() for each in CHANGES.findall(recipe)}
        for name, recipe in recipes().items()
    }
    assert {name: changes for name, changes in found.items() if changes} == REVIEWED


def test_what_a_recipe_changes_is_found() -> None:
    recipe = "rm -rf work\ncmd > notebooks/a\nx >> class/b && git clean -fd\ny >/dev/null 2>&1"
    assert [each.strip() for each in CHANGES.findall(recipe)] == [
        "rm -rf work",
        "> notebooks/a",
        ">> class/b",
        "git clean",
    ]


@pytest.fixture
def course(tmp_path: Path) -> Path:
    """A copy of the course in which somebody has learnt, taught and left things about."""
    root = copy_to(tmp_path)
    ignored = shutil.ignore_patterns("__pycache__", "*.egg-info", ".ipynb_checkpoints")
    for name in ("src", "jupyter", "notebooks", "bundle", "autograder"):
        shutil.copytree(ROOT / name, root / name, ignore=ignored)
    for name in ("README.md", "LICENSE"):
        shutil.copy(ROOT / name, root)
    make(root, "update")
    write(root / "work" / SLUG / f"{SLUG}.ipynb", "softmax", ANSWER)
    write(root / "notebooks" / SLUG / f"{SLUG}.ipynb", "softmax", f"{ANSWER}, too")
    for place in (
        "work/mine.ipynb",
        f"work/{SLUG}/notes.txt",
        "work/my-checks.html",
        f"work/hand-in/{SLUG}/{SLUG}.ipynb",
        f"work/hand-in/{SLUG}.zip",
        "work/glossary.md",
        "notebooks/mine.txt",
        f"notebooks/{SLUG}/{SLUG}-Copy1.ipynb",
        f"class/submitted/ann/{SLUG}/{SLUG}.ipynb",
        "class/grades.csv",
        "dist/mine.txt",
    ):
        (root / place).parent.mkdir(parents=True, exist_ok=True)
        (root / place).write_text(f"a person's {place}")
    return root


def make(root: Path, *arguments: str) -> int:
    done = subprocess.run(
        ["make", "-o", ".venv/.ready", f"BIN={BIN}", *arguments],
        cwd=root,
        env={**os.environ, "PYTHONPATH": f"{root}{os.pathsep}{root / 'src'}"},
        capture_output=True,
        timeout=300,
    )
    return done.returncode


def persons(root: Path) -> set[bytes]:
    """All that is in a person's folders, wherever it is by now."""
    kept = ("work", "notebooks", "class", "build", "dist")
    found = [each for name in kept for each in files_under(root / name).items()]
    # what was released when a lesson was copied is the course's
    return {data for name, data in found if not name.startswith(".attnlab/released/")}


@pytest.mark.slow
@pytest.mark.parametrize(
    "command",
    [
        ["update"],
        ["hand-in", f"LESSON={SLUG}"],
        ["check-mine", f"LESSON={SLUG}"],
        ["demo-class", "STUDENTS=1"],
        ["bundle"],
    ],
    ids=lambda command: command[0],
)
def test_whatever_is_made_what_a_person_left_is_there(command: list[str], course: Path) -> None:
    before = persons(course)
    make(course, *command)
    assert before <= persons(course)


def released(root: Path) -> dict[str, bytes]:
    found = files_under(root / "notebooks")
    return {name: data for name, data in found.items() if ".ipynb_checkpoints" not in name}


@pytest.mark.slow
def test_a_release_makes_what_stands_here_and_an_update_loses_nothing(course: Path) -> None:
    before = persons(course)
    assert make(course, "release") == 0
    assert released(course) == released(ROOT), "make release"
    write(course / "notebooks" / SLUG / f"{SLUG}.ipynb", "softmax-check", "check(softmax)  # new")
    assert make(course, "update") == 0
    assert before <= persons(course)
