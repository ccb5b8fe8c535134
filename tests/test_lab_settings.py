"""JupyterLab as the course opens it the first time, and that it stays as its reader leaves it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from traitlets.config import Config

from tests.course import ROOT


def configured(course: Path) -> Config:
    """What lab_config.py sets, in a course's folder."""
    path = course / "jupyter" / "lab_config.py"
    settings = Config()
    exec(path.read_text(encoding="utf-8"), {"get_config": lambda: settings, "__file__": str(path)})
    return settings


@pytest.fixture
def course(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("JUPYTERLAB_WORKSPACES_DIR", "ATTNLAB_COURSE"):
        monkeypatch.delenv(name, raising=False)
    shutil.copytree(ROOT / "jupyter", tmp_path / "jupyter")
    return tmp_path


def test_the_file_browser_is_closed_at_first_and_then_as_it_was_left(course: Path) -> None:
    places = Path(configured(course).LabApp.workspaces_dir)
    [first] = places.iterdir()
    workspace = json.loads(first.read_text(encoding="utf-8"))
    assert workspace["data"]["layout-restorer:data"]["left"]["collapsed"] is True
    first.write_text("{}", encoding="utf-8")
    configured(course)
    assert first.read_text(encoding="utf-8") == "{}"


def test_where_workspaces_lie_elsewhere_nothing_is_written(
    course: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JUPYTERLAB_WORKSPACES_DIR", str(course / "elsewhere"))
    assert "workspaces_dir" not in configured(course).LabApp
    assert list((course / "work").iterdir()) == []


def test_prose_is_narrow_by_a_style_sheet_that_is_there(course: Path) -> None:
    settings = configured(course)
    [folder] = settings.ServerApp.tornado_settings["static_custom_path"]
    assert settings.LabApp.custom_css
    assert "max-width: 75ch" in Path(folder, "custom.css").read_text(encoding="utf-8")
