"""What all tests share: which is chosen by what, who runs which, and what is told at the end.

In CI a skipped test is a failed one. On a person's machine a test is skipped, with its reason,
where there is no browser or no way to cut the network off. A new machine of CI that lacks them
would pass without having tested much.
"""

from __future__ import annotations

import os
import re
from collections.abc import Generator, Iterator
from contextlib import ExitStack
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from xdist.scheduler import LoadScopeScheduling

from attnlab import begun
from attnlab.lessons import slugs
from attnlab.work import progress

if TYPE_CHECKING:
    from playwright.sync_api import Browser

    from tests.figure_lab import FigureLab
    from tests.lab import Server

# Threads that wait for each other on a busy machine cost minutes. Kernels inherit this.
os.environ.setdefault("OMP_NUM_THREADS", "1")  # read as PyTorch loads

BROWSER = "browser"
_OPEN = pytest.StashKey[ExitStack]()
IN_CI = bool(os.environ.get("CI"))
_PART = re.compile("|".join(slugs()))
ROOT = Path(__file__).resolve().parent.parent


def pytest_configure(config: pytest.Config) -> None:
    """Stop at a slip in the registry: each file of tests would stumble over it."""
    from tests.registry import in_the_way

    if not hasattr(config, "workerinput") and (slips := in_the_way()):
        raise pytest.UsageError("\n".join(slips))


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


@cache
def _text(path: str) -> str:
    return (ROOT / path).read_text("utf-8") if path.startswith("tests/") else ""


def unit(nodeid: str) -> str:
    """Tests that one worker runs: all in the browser, those of a file, or of a lesson in it.

    What a file makes once for all its lessons is made by one worker.
    """
    path, _, test = nodeid.partition("::")
    if "mark.browser" in _text(path):
        return BROWSER
    part = None if 'scope="module")' in _text(path) else _PART.search(test)
    return f"{path} {part[0]}" if part else path


class _ByUnit(LoadScopeScheduling):
    def _split_scope(self, nodeid: str) -> str:
        return unit(nodeid)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> LoadScopeScheduling:
    config.option.loadscopereorder = False  # by the number of tests; they come in our order
    return _ByUnit(config, log)


@pytest.hookimpl(tryfirst=True)  # -k and -m choose afterwards
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    from tests.course import SHORT

    for item in items:
        if item.path.suffix == ".ipynb":
            item.add_marker("prove" if item.path.stem in SHORT else "slow")
        for mark in item.iter_markers("lessons"):
            item.extra_keyword_matches.update(mark.args)
    slow = {unit(item.nodeid) for item in items if item.get_closest_marker("slow")}
    # What takes long comes first, so that none is left over; in front of all the longest.
    items.sort(key=lambda item: (unit(item.nodeid) != BROWSER, unit(item.nodeid) not in slow))


def pytest_runtest_setup(item: pytest.Item) -> None:
    """The browser has the thread's event loop: it closes before a test that may need one."""
    if unit(item.nodeid) != BROWSER and _OPEN in item.config.stash:
        item.config.stash[_OPEN].close()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    reports = [
        report
        for outcome in ("passed", "failed")
        for report in terminalreporter.getreports(outcome)
        if report.when == "call"
    ]
    told = [mark for each in reports for name, mark in each.user_properties if name == "mark"]
    if told:
        from tests.answers.tally import Mark, as_text, rows  # with PyTorch

        marks = [Mark(*mark) for mark in told]
        terminalreporter.section("answers")
        terminalreporter.write_line(as_text(rows(sorted(marks, key=lambda mark: mark.lesson))))


@pytest.fixture(autouse=True)
def _a_kernel_of_its_own() -> Iterator[None]:
    """Each test begins as a kernel does: in no lesson and no course, with nothing noted."""
    kept = begun.slug, progress._unwritten, progress._begun, progress._works
    begun.slug, progress._unwritten, progress._begun, progress._works = "", [], set(), []
    yield
    begun.slug, progress._unwritten, progress._begun, progress._works = kept


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """The JupyterLab of this worker."""
    from tests.lab import jupyterlab

    with jupyterlab(tmp_path_factory.mktemp("lab")) as server:
        yield server


@pytest.fixture(scope="session")
def _opened(request: pytest.FixtureRequest, server: Server) -> Iterator[ExitStack]:
    """What is open while tests in the browser run, which follow each other; Lab ends after it."""
    opened = request.config.stash[_OPEN] = ExitStack()
    yield opened
    opened.close()


@pytest.fixture(scope="session")
def chromium(_opened: ExitStack) -> Browser:
    """The browser of all tests that drive one."""
    from tests.lab import browser

    return _opened.enter_context(browser())


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the web site, as `make site` writes it."""
    from docs import site

    return site.build(tmp_path_factory.mktemp("site") / "site").parent


@pytest.fixture(scope="session")
def figures(_opened: ExitStack, chromium: Browser, server: Server) -> FigureLab:
    """The notebook in which figures are shown; page and kernel are the same for all of them."""
    from tests.figure_lab import FigureLab

    lab = FigureLab(chromium, server, "figures")
    _opened.callback(lab.close)
    return lab


@pytest.fixture(scope="session")
def empty_course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from tests.small_class import make_course  # with nbgrader, for few tests

    return make_course(tmp_path_factory.mktemp("course"))


@pytest.fixture
def course(empty_course: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A course that nobody has handed anything in to; the current folder."""
    from tests import gradebooks

    folder = gradebooks.copy(empty_course, tmp_path / "course")
    monkeypatch.chdir(folder)
    return folder
