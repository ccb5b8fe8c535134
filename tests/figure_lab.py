"""A figure in a real JupyterLab: one notebook, in which one figure is shown after the other.

lab = FigureLab(chromium, server, "figures")
lab.show("figure = figures.live.Cost(4096, 512, 8, 'float32')")
lab.figure.get_by_label("tokens N").focus()
assert lab.ask("figure.n") == "4096"
"""

from __future__ import annotations

import re

import nbformat
import pytest
from axe_playwright_python.sync_playwright import Axe
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_notebook
from playwright.sync_api import Browser, expect

from attnlab.lessons import slugs
from tests.course import solution_path
from tests.figure_sources import SOURCES
from tests.lab import Lesson, Server
from tests.until import PATIENCE, until

SHOW, AGAIN = "show", "again"
THEMES = ("JupyterLab Light", "JupyterLab Dark")
_THEME = "theme => window.jupyterapp.commands.execute('apputils:change-theme', { theme })"
_HAS_THEME = "theme => document.body.dataset.jpThemeName === theme"
_SPLASH = "#jupyterlab-splash"  # shown while a theme is loaded, and 200 ms longer


# Straight to the kernel, after the frame for which a figure may keep what it sends. The kernel
# answers in turn: by then it has read all that the page has sent, and the page what it sent back.
_ASK = """async ([code, ms]) => {
    await new Promise(requestAnimationFrame);
    const kernel = window.jupyterapp.shell.currentWidget.sessionContext.session.kernel;
    const future = kernel.requestExecute({ code, store_history: false });
    let said = '';
    future.onIOPub = ({ content }) => {
        said += content.text ?? content.data?.['text/plain'] ?? '';
    };
    const late = new Promise((_, refuse) => setTimeout(refuse, ms, new Error('no answer')));
    const { content } = await Promise.race([future.done, late]);
    if (content.status !== 'ok') throw new Error(`${content.ename}: ${content.evalue}`);
    return said.trim();
}"""
_TRAIL = """node => {
    window.trail = [];
    node.addEventListener('focusin', ({ target }) => {
        const name = target.ariaLabel ?? target.textContent;
        if (window.trail.at(-1) !== name) window.trail.push(name);
    });
}"""


def lessons_with(figure: str) -> tuple[str, ...]:
    """Slugs of the lessons that show a figure."""
    shows = f"live.{figure}("
    return tuple(
        slug
        for slug in slugs()
        if shows in solution_path(slug).with_suffix(".py").read_text(encoding="utf-8")
    )


# To be parametrized by: each figure, with the lessons that show it.
FIGURES = {
    name: pytest.param(name, marks=pytest.mark.lessons(*lessons_with(name))) for name in SOURCES
}


def notebook(sources: dict[str, str]) -> NotebookNode:
    """A notebook with a cell of each name."""
    cells = [
        new_code_cell(code, id=name, metadata={"nbgrader": {"grade_id": name}})
        for name, code in sources.items()
    ]
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    return new_notebook(cells=cells, metadata={"kernelspec": kernel})


def showing(source: str) -> str:
    """A cell that makes `figure` and shows it."""
    return f"from attnlab import figures\n\n{source}\nfigure"


class FigureLab(Lesson):
    """A notebook in which a figure can be shown.

    Attributes:
        figure: the figure in the page.
        shown: the code that made it.
    """

    def __init__(self, chromium: Browser, server: Server, name: str) -> None:
        path = server.notebooks / name / f"{name}.ipynb"
        path.parent.mkdir()
        nbformat.write(notebook({SHOW: "", AGAIN: ""}), path)
        super().__init__(chromium, server, name)
        self.figure = self.page.locator(".attn-figure")
        self.shown = ""

    def show(self, source: str) -> None:
        """Make another figure, unless it is this one that is there."""
        if source == self.shown:
            return
        self.complaints.clear()
        self.write(SHOW, showing(source))
        expect(self.figure).to_be_visible()
        self.shown = source

    def ask(self, code: str) -> str:
        """What Python answers to this code."""
        return str(self.page.evaluate(_ASK, [code, 1000 * PATIENCE])).strip()

    def answers(self, code: str, answer: str) -> None:
        """Wait until Python answers so: what the page sends after a moment may be on its way."""
        until(lambda: self.ask(code), answer)

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

    def has_focus(self, name: str | re.Pattern[str]) -> None:
        """Wait until what has this name, which Python may be about to give it, has the focus."""
        expect(self.page.locator(":focus")).to_have_attribute("aria-label", name)

    def focused(self) -> str:
        """The name of what has the focus."""
        return str(self.page.evaluate("document.activeElement.getAttribute('aria-label')"))

    def leave_a_trail(self) -> None:
        """From now on, note what gets the focus in the figure."""
        self.figure.evaluate(_TRAIL)

    def trail(self) -> list[str]:
        """The names of what had the focus since then, one after the other."""
        return [str(name) for name in self.page.evaluate("window.trail")]

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
