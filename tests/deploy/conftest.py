"""`make deploy-test` writes down what it saw, a page for each file of tests, in deploy/tried/."""

from __future__ import annotations

import platform
from collections.abc import Callable, Generator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

TRIED = Path(__file__).resolve().parents[2] / "deploy" / "tried"
HEAD = "# Tried: {name}\n\n{date}, {system}, Python {python}, by `make deploy-test`.\n\n"


@pytest.fixture
def note(request: pytest.FixtureRequest) -> Callable[[str], None]:
    """Add a line to what is written down of this test: a version, a size, what was seen."""
    return lambda line: request.node.user_properties.append(("noted", line))


@pytest.hookimpl(wrapper=True)
def pytest_terminal_summary(terminalreporter: Any) -> Generator[None, Any, Any]:
    pages: dict[str, list[str]] = {}
    for outcome in ("passed", "failed", "skipped"):
        for report in terminalreporter.getreports(outcome):
            path, _, test = report.nodeid.partition("::")
            told = report.when == "call" or outcome == "skipped"
            if told and Path(path).parent.name == "deploy":  # others may have run as well
                name = Path(path).stem.removeprefix("test_")
                noted = [line for key, line in report.user_properties if key == "noted"]
                row = f"- `{test}`: {outcome}, {report.duration:.0f} s"
                pages.setdefault(name, []).append("\n".join([row, *(f"  - {it}" for it in noted)]))
    TRIED.mkdir(parents=True, exist_ok=True)
    for name, rows in pages.items():
        date = datetime.now(UTC).date().isoformat()
        head = HEAD.format(
            name=name,
            date=date,
            system=f"{platform.system()} {platform.machine()}",
            python=platform.python_version(),
        )
        TRIED.joinpath(f"{name}.md").write_text(head + "\n".join(rows) + "\n")
    return (yield)
