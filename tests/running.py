"""A page of the site whose cells run, open in a browser that got it from a server.

with served(folder) as server:
    lesson = Running(chromium, server, "notebooks/01-soft-lookup/01-soft-lookup.html")
    lesson.write("softmax", "def softmax(scores): ...")
    expect(lesson.run("softmax-check")).to_contain_text("not right yet")

Playwright's `wait_for_function` evaluates text in the page, which its policy forbids once a cell
has run: ask with `expect`.
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, BrowserContext, Locator, expect

from tests.lab import HERE

FRONT = "index.html"


class Server(ThreadingHTTPServer):
    """What `python -m http.server` is, and what it was asked for."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.asked: list[str] = []
        super().__init__((HERE, 0), partial(_Answer, directory=str(folder)))
        self.address = f"http://{HERE}:{self.server_port}"


class _Answer(SimpleHTTPRequestHandler):
    server: Server

    def log_message(self, *_: Any) -> None:
        self.server.asked.append(self.path)


@contextmanager
def served(folder: Path) -> Iterator[Server]:
    with Server(folder) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


def of(slug: str) -> str:
    return f"notebooks/{slug}/{slug}.html"


class Running:
    """A page whose cells run.

    Attributes:
        complaints: what was written to the browser's console as an error, or not caught.
    """

    def __init__(
        self,
        browser: Browser | BrowserContext,
        server: Server,
        path: str = FRONT,
        *,
        theme: str = "light",
        width: int = 1280,
        told: tuple[str, str] = ("", ""),
        before: str = "",
    ) -> None:
        """Open it.

        Args:
            told: a text in the page's HTML, and what stands there instead.
            before: a script that runs before the page's own.
        """
        self.complaints: list[str] = []
        self.page = browser.new_page()
        self.page.set_viewport_size({"width": width, "height": 844})
        self.page.emulate_media(
            color_scheme="dark" if theme == "dark" else "light", reduced_motion="reduce"
        )
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("console", lambda news: self._note(news.type, news.text, news.location["url"]))
        self.page.on("dialog", lambda dialog: dialog.accept())
        if before:
            self.page.add_init_script(before)
        if told[0]:
            html = (server.folder / path).read_text("utf-8")
            assert told[0] in html
            body = html.replace(*told)
            self.page.route(f"**/{path}", lambda route: route.fulfill(body=body))
        self.page.goto(f"{server.address}/{path}")
        self.ready()

    def _note(self, kind: str, text: str, url: str) -> None:
        if kind == "error" and not url.endswith("favicon.ico"):
            self.complaints.append(text)

    def ready(self) -> None:
        expect(self.page.locator("html[data-runs=ready]")).to_have_count(1)
        about = self.page.locator("#run-about").evaluate("node => node.textContent")
        self.about: dict[str, Any] = json.loads(about)
        self.names: list[str] = [each["name"] for each in self.about["cells"]]

    def reload(self) -> None:
        self.page.reload()
        self.ready()

    @property
    def bar(self) -> Locator:
        return self.page.locator("[data-run]")

    def press(self, name: str) -> None:
        self.page.get_by_role("button", name=name, exact=True).click()

    def cell(self, name: str) -> Locator:
        return self.page.locator("div.run-cell").nth(self.names.index(name))

    def code(self, name: str) -> Locator:
        return self.cell(name).get_by_role("textbox")

    def outputs(self, name: str) -> Locator:
        return self.cell(name).locator(".cell_output")

    def said(self, name: str) -> Locator:
        return self.cell(name).get_by_role("status")

    def write(self, name: str, text: str) -> None:
        self.code(name).fill(text)
        expect(self.cell(name).locator(".prism-code-editor")).to_have_count(1)
        expect(self.code(name)).to_have_value(text)

    def run(self, name: str) -> Locator:
        """Run a cell, by its key; what it gave, once it has ended."""
        self.code(name).press("Shift+Enter")
        return self.ended(name)

    def ended(self, name: str) -> Locator:
        expect(self.said(name)).to_have_text(re.compile(r"[^…]$"))
        expect(self.cell(name)).to_have_attribute("aria-busy", "false")
        return self.outputs(name)
