"""What all tests share: in CI a skipped test is a failed one.

On a person's machine a test is skipped, with its reason, where there is no browser or no way to cut
the network off. A new machine of CI that lacks them would pass without having tested much.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

IN_CI = bool(os.environ.get("CI"))


def _not_skipped(report: Any) -> Any:
    if IN_CI and report.skipped and not hasattr(report, "wasxfail"):
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longrepr
        report.outcome = "failed"
        report.longrepr = f"{reason}\nIn CI a skipped test is a failure."
    return report


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, Any, Any]:
    return _not_skipped((yield))


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[None, Any, Any]:
    return _not_skipped((yield))


@pytest.fixture(scope="session")
def empty_course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from tests.small_class import make_course  # with nbgrader, for few tests

    return make_course(tmp_path_factory.mktemp("course"))


@pytest.fixture
def course(empty_course: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A course that nobody has handed anything in to; the current folder."""
    folder = Path(shutil.copytree(empty_course, tmp_path / "course"))
    monkeypatch.chdir(folder)
    return folder
