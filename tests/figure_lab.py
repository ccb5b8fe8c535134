"""A figure in a real JupyterLab: one notebook with the figure, and a cell to ask Python in.

with figure_labs(scratch) as open_lab:
    lab = open_lab("who-listens", SOURCE)
    lab.figure.locator("[role=gridcell]").first.focus()
    assert lab.ask("figure.row") == "0"
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import nbformat
from axe_playwright_python.sync_playwright import Axe
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_notebook
from playwright.sync_api import Browser, expect

from tests.lab import Lesson, Server, browser, jupyterlab

SHOW, ASK = "show", "ask"
THEMES = ("JupyterLab Light", "JupyterLab Dark")
_THEME = "theme => window.jupyterapp.commands.execute('apputils:change-theme', { theme })"
_HAS_THEME = "theme => document.body.dataset.jpThemeName === theme"
_SPLASH = "#jupyterlab-splash"  # shown while a theme is loaded, and 200 ms longer


def notebook(source: str) -> NotebookNode:
    """A notebook whose first cell makes `figure` and shows it."""
    cells = [
        new_code_cell(code, id=name, metadata={"nbgrader": {"grade_id": name}})
        for name, code in ((SHOW, f"from attnlab import figures\n\n{source}\nfigure"), (ASK, ""))
    ]
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    return new_notebook(cells=cells, metadata={"kernelspec": kernel})


class FigureLab(Lesson):
    """A notebook with one figure, which has been run.

    Attributes:
        figure: the figure in the page.
    """

    def __init__(self, chromium: Browser, server: Server, name: str) -> None:
        super().__init__(chromium, server, name)
        self.run(SHOW)
        self.figure = self.page.locator(".attn-figure")
        self.figure.wait_for()

    def ask(self, code: str) -> str:
        """What a cell with this code shows."""
        self.write(ASK, code)
        cell = self.go_to(self.index(ASK))
        shown = cell.locator(".jp-OutputArea-output")
        text = shown.first.inner_text() if shown.count() else ""
        self.go_to(self.index(SHOW))
        return text.strip()

    def wear(self, theme: str) -> None:
        """Change JupyterLab's theme, unless it is this one, and wait until it is all there.

        A change that follows within 200 ms makes JupyterLab take its splash away twice, which is an
        error in the page: "The node to be removed is not a child of this node."
        """
        if self.page.evaluate(_HAS_THEME, theme):
            return
        self.page.evaluate(_THEME, theme)
        self.page.wait_for_function(_HAS_THEME, arg=theme)
        self.page.locator(_SPLASH).wait_for(state="detached")

    def has_focus(self, name: str) -> None:
        """Wait until what has this name, which Python may be about to give it, has the focus."""
        expect(self.page.locator(":focus")).to_have_attribute("aria-label", name)

    def focused(self) -> str:
        """The name of what has the focus."""
        return str(self.page.evaluate("document.activeElement.getAttribute('aria-label')"))

    def warnings(self) -> str:
        """What the figure's cell wrote to stderr."""
        written = self.page.locator("[data-mime-type='application/vnd.jupyter.stderr']")
        return "".join(written.all_inner_texts())

    def findings(self) -> list[str]:
        """What axe holds to be serious or critical in the figure."""
        found = Axe().run(self.page, context=".attn-figure").response["violations"]
        return [
            f"{finding['id']}: {node['html'][:200]}"
            for finding in found
            if finding["impact"] in ("serious", "critical")
            for node in finding["nodes"]
        ]


Opener = Callable[[str, str], FigureLab]


@contextmanager
def figure_labs(scratch: Path) -> Iterator[Opener]:
    """A JupyterLab in which notebooks with figures can be opened.

    Args:
        scratch: an empty folder.
    """
    notebooks = scratch / "notebooks"
    with browser() as chromium:
        notebooks.mkdir()
        with jupyterlab(notebooks, scratch) as server:

            def open_lab(name: str, source: str) -> FigureLab:
                folder = notebooks / name
                folder.mkdir()
                nbformat.write(notebook(source), folder / f"{name}.ipynb")
                return FigureLab(chromium, server, name)

            yield open_lab
