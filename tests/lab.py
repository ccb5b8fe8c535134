"""A real JupyterLab in a real browser, for tests that do what a learner does.

with jupyterlab(folder) as server, browser() as chromium:
    shutil.copytree(ROOT / "notebooks" / "01-soft-lookup", server.notebooks / "01-soft-lookup")
    lesson = Lesson(chromium, server, "01-soft-lookup")
    expect(lesson.run("softmax-check")).to_contain_text("not written yet")

Every question to a page waits for its answer: `expect` and `wait_for_function` ask again and again,
and `until` does so for what they cannot see.
"""

from __future__ import annotations

import os
import secrets
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.error import URLError
from urllib.parse import urlsplit

from playwright.sync_api import Browser, BrowserContext, Locator, expect, sync_playwright

from tests.course import ROOT
from tests.until import PATIENCE

HERE = "127.0.0.1"
expect.set_options(timeout=1000 * PATIENCE)
CHROMIUM_FLAGS = [
    "--no-sandbox",  # its own needs privileges that a container's root has not
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-quic",
    "--no-first-run",
    "--no-proxy-server",
]


def chromium_path() -> str:
    """Where Chromium or Chrome is, '' if there is none."""
    names = ("chromium", "chromium-browser", "google-chrome")
    return next((path for path in map(shutil.which, names) if path), "")


@dataclass(frozen=True)
class Server:
    """A JupyterLab that answers at an address of this machine, and the folder that it shows."""

    port: int
    token: str
    notebooks: Path

    def address(self, path: str) -> str:
        return f"http://{HERE}:{self.port}{path}?token={self.token}"


def free_port() -> int:
    with socket.create_server((HERE, 0)) as taken:
        return int(taken.getsockname()[1])


def _wait_for(address: str, process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline and process.poll() is None:
        try:
            urllib.request.urlopen(address, timeout=5).close()
            return
        except (URLError, ConnectionError, TimeoutError):
            time.sleep(0.2)
    raise RuntimeError(f"JupyterLab did not start:\n{log.read_text(encoding='utf-8')}")


@contextmanager
def jupyterlab(scratch: Path) -> Iterator[Server]:
    """JupyterLab with the course's own settings and nobody's personal ones.

    Args:
        scratch: an empty folder, for its notebooks, settings, log and state.
    """
    server = Server(free_port(), secrets.token_hex(16), scratch / "notebooks")
    server.notebooks.mkdir()
    log = scratch / "jupyterlab.log"
    personal = {
        "JUPYTER_CONFIG_DIR": str(scratch / "config"),
        "JUPYTER_RUNTIME_DIR": str(scratch / "runtime"),
        "JUPYTERLAB_SETTINGS_DIR": str(scratch / "settings"),
        "JUPYTERLAB_WORKSPACES_DIR": str(scratch / "workspaces"),
        "IPYTHONDIR": str(scratch / "ipython"),
    }
    command = [
        *(sys.executable, "-m", "jupyterlab", "--no-browser"),
        f"--config={ROOT / 'jupyter' / 'lab_config.py'}",
        f"--ServerApp.root_dir={server.notebooks}",
        f"--ServerApp.ip={HERE}",
        f"--ServerApp.port={server.port}",
        "--ServerApp.port_retries=0",
        f"--IdentityProvider.token={server.token}",
        "--LabApp.expose_app_in_browser=True",  # to find cells by their grade_id
    ]
    with open(log, "wb") as output:
        process = subprocess.Popen(
            command, stdout=output, stderr=output, env={**os.environ, **personal}
        )
        try:
            _wait_for(server.address("/api/status"), process, log)
            yield server
        finally:
            process.terminate()
            try:
                process.wait(timeout=PATIENCE)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


@contextmanager
def browser() -> Iterator[Browser]:
    """Chromium without a window."""
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(
            executable_path=chromium_path(), args=CHROMIUM_FLAGS, headless=True
        )
        yield chromium
        chromium.close()


# Cells are found through JupyterLab's own model: those far from view need not be in the page.
_READY = """() => {
    const panel = window.jupyterapp?.shell.currentWidget;
    const cells = panel?.content?.model?.cells?.length;
    return cells && panel.content.widgets.length === cells
        && panel.sessionContext?.session?.kernel?.status === 'idle';
}"""
_FIND = """grade_id => {
    const cells = window.jupyterapp.shell.currentWidget.content.widgets;
    return cells.findIndex(cell => cell.model.getMetadata('nbgrader')?.grade_id === grade_id);
}"""
_ACTIVATE = """async index => {
    const notebook = window.jupyterapp.shell.currentWidget.content;
    notebook.mode = 'command';
    notebook.activeCellIndex = index;
    await notebook.scrollToItem(index, 'center');
    notebook.node.focus();
}"""
_FORGET = """index => {
    const cell = window.jupyterapp.shell.currentWidget.content.widgets[index];
    cell.model.executionCount = null;
}"""
_HAS_RUN = """index => {
    const cell = window.jupyterapp.shell.currentWidget.content.widgets[index];
    return cell.model.executionState === 'idle' && cell.model.executionCount !== null;
}"""
_SOURCE = """([index, source]) =>
    window.jupyterapp.shell.currentWidget.content.widgets[index].model.sharedModel.getSource()
        === source"""
_STOP = "window.jupyterapp.shell.currentWidget.sessionContext.shutdown()"
_SOURCES = """() => window.jupyterapp.shell.currentWidget.content.widgets.map(
    cell => [cell.model.type, cell.model.sharedModel.getSource()])"""


class Lesson:
    """A notebook, open in JupyterLab, and what the page complained of.

    Attributes:
        complaints: errors that were written to the browser's console or not caught.
        elsewhere: addresses asked for that are not on this machine.
    """

    def __init__(self, chromium: Browser | BrowserContext, server: Server, slug: str) -> None:
        self.complaints: list[str] = []
        self.elsewhere: list[str] = []
        self.page = chromium.new_page()
        self.page.set_viewport_size({"width": 1280, "height": 900})
        self.page.set_default_timeout(1000 * PATIENCE)
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on(
            "console",
            lambda message: (
                self.complaints.append(message.text) if message.type == "error" else None
            ),
        )
        self.page.on("request", lambda request: self._note(request.url))
        self.page.on("websocket", lambda channel: self._note(channel.url))
        self.page.goto(server.address(f"/lab/workspaces/{slug}/tree/{slug}/{slug}.ipynb"))
        self.page.wait_for_function(_READY)

    def reload(self) -> None:
        """Open the page again, as after a night."""
        self.page.reload()
        self.page.wait_for_function(_READY)

    def stop(self) -> None:
        """Stop the notebook's kernel."""
        self.page.evaluate(_STOP)

    def close(self) -> None:
        """Stop its kernel and close the page."""
        self.stop()
        self.page.close()

    def _note(self, url: str) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("data", "blob") and parts.hostname not in (HERE, "localhost"):
            self.elsewhere.append(url)

    def sources(self) -> list[tuple[str, str]]:
        """Type and source of each cell."""
        return [(kind, source) for kind, source in self.page.evaluate(_SOURCES)]

    def index(self, grade_id: str) -> int:
        found = int(self.page.evaluate(_FIND, grade_id))
        assert found >= 0, f"there is no cell {grade_id}"
        return found

    def go_to(self, index: int) -> Locator:
        """Make a cell the active one, in command mode, and bring it into view."""
        self.page.evaluate(_ACTIVATE, index)
        cell = self.page.locator(f".jp-Notebook .jp-Cell[data-windowed-list-index='{index}']")
        cell.wait_for()
        return cell

    def run_at(self, index: int) -> Locator:
        """Run a cell as a learner does, by keyboard, and wait until it has run."""
        cell = self.go_to(index)
        self.page.evaluate(_FORGET, index)
        self.page.keyboard.press("Control+Enter")
        self.page.wait_for_function(_HAS_RUN, arg=index)
        return cell

    def run(self, grade_id: str) -> Locator:
        """Run a cell and return its output."""
        return self.run_at(self.index(grade_id)).locator(".jp-OutputArea-output").first

    def write(self, grade_id: str, source: str) -> None:
        """Replace what a cell holds, and run it."""
        index = self.index(grade_id)
        self.go_to(index).locator(".cm-content").click()
        self.page.keyboard.press("Control+a")
        self.page.keyboard.insert_text(source)
        self.page.wait_for_function(_SOURCE, arg=[index, source])
        self.page.keyboard.press("Escape")
        self.run_at(index)
