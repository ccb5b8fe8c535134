"""The figures' JavaScript: its pure functions, run by node's own test runner."""

from __future__ import annotations

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


@needs_node
@pytest.mark.parametrize("path", sorted((ROOT / "tests" / "js").glob("*.test.mjs")), ids=str)
def test_pure_functions_of(path: Path) -> None:
    done = subprocess.run([NODE, "--test", path], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "# pass 0" not in done.stdout


@needs_node
@pytest.mark.parametrize("name", FIGURES)
def test_a_figure_and_what_it_shares_make_one_module(name: str, tmp_path: Path) -> None:
    module = tmp_path / "figure.mjs"
    module.write_text(source(name), encoding="utf-8")
    program = f"import figure from {module.as_uri()!r}; console.log(typeof figure.render)"
    done = subprocess.run(
        [NODE, "--input-type=module", "-e", program], capture_output=True, text=True, timeout=60
    )
    assert done.stdout.strip() == "function", done.stderr
    assert "import " not in source(name), "the page has nothing to import from"
