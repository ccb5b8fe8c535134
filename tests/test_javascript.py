"""The figures' JavaScript: its pure functions, run by node's own test runner."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from attnlab.figures.live.figure import SHARED, source
from tests.course import ROOT

NODE = shutil.which("node") or ""
LIVE = ROOT / "src" / "attnlab" / "figures" / "live"
FIGURES = sorted(path.stem for path in LIVE.glob("*.mjs") if path.stem not in (*SHARED, "recorded"))
needs_node = pytest.mark.skipif(not NODE, reason="there is no node here: install nodejs")


def of_node(*asked: str | Path) -> str:
    done = subprocess.run([NODE, *asked], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@needs_node
def test_pure_functions() -> None:
    assert "# pass 0" not in of_node("--test", *(ROOT / "tests" / "js").glob("*.test.mjs"))


@needs_node
def test_a_figure_and_what_it_shares_make_one_module(tmp_path: Path) -> None:
    program = "const made = {};\n"
    for name in FIGURES:
        assert "import " not in source(name), "the page has nothing to import from"
        module = tmp_path / f"{name}.mjs"
        module.write_text(source(name), encoding="utf-8")
        program += f"made.{name} = typeof (await import({module.as_uri()!r})).default.render;\n"
    program += "console.log(JSON.stringify(made))"
    made = json.loads(of_node("--input-type=module", "-e", program))
    assert made == dict.fromkeys(FIGURES, "function")
