"""What comes back when a notebook is opened again, in JupyterLab and Notebook."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator

import nbformat
import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from attnlab import quizzes
from attnlab.asking import KEPT
from attnlab.figures.live.fallback import MOVES
from tests.course import ROOT
from tests.figure_lab import notebook, showing
from tests.lab import Lesson, Server, chromium_path

pytestmark = [
    pytest.mark.browser,
    pytest.mark.slow,
    pytest.mark.skipif(not chromium_path(), reason="there is no Chromium here: install it"),
]
NAME, COPY = "reload", "again"
SLUG = "03-numpy"
FIGURE, QUIZ = "figure", "quiz"
CELLS = {
    FIGURE: showing("figure = figures.live.Race(4)"),
    QUIZ: f'from attnlab import begin, quiz\n\nbegin("{SLUG}")\nquiz("check yourself")',
}
ASKED = quizzes.of(SLUG)["check yourself"][0]
WRONG = 1 if ASKED.right == 0 else 0
_MODEL = "window.jupyterapp.shell.currentWidget.context.model"
_SAVE = "window.jupyterapp.shell.currentWidget.context.save()"
_RESTART = "window.jupyterapp.shell.currentWidget.sessionContext.session.kernel.restart()"


def slider(page: Page) -> Locator:
    return page.get_by_role("slider", name="distance")


def opened(page: Page, *, distance: str) -> None:
    """The figure and the quiz are there, alive and as they were left."""
    expect(slider(page)).to_have_value(distance)
    chosen = page.locator(".question").first.get_by_role("button").nth(WRONG)
    expect(chosen).to_have_accessible_name(re.compile("✗ your choice$"))
    expect(page.locator(".question").first).to_contain_text("✓")
    expect(page.locator("figure")).to_have_count(0)


def still(page: Page) -> None:
    """Stills are there, which say where they move, and what was chosen."""
    expect(page.locator("figcaption")).to_have_text([MOVES, KEPT])
    expect(page.locator("figure").nth(1)).to_contain_text("✗ your choice")
    expect(page.locator(".jp-Notebook")).not_to_contain_text("Error displaying widget")


@pytest.fixture(scope="module")
def lesson(chromium: Browser, server: Server) -> Iterator[Lesson]:
    """A notebook with a figure that was moved and a quiz that was answered, saved."""
    (server.notebooks / ".attnlab").mkdir(exist_ok=True)
    made = notebook(CELLS)
    released = ROOT / "notebooks" / SLUG / f"{SLUG}.ipynb"
    made.metadata = nbformat.read(released, nbformat.NO_CONVERT).metadata
    folder = server.notebooks / NAME
    folder.mkdir()
    nbformat.write(made, folder / f"{NAME}.ipynb")
    lesson = Lesson(chromium, server, NAME)
    assert lesson.page.evaluate(f"{_MODEL}.dirty") is False
    lesson.run(FIGURE)
    slider(lesson.page).focus()
    lesson.page.keyboard.press("ArrowRight")
    lesson.run(QUIZ)
    lesson.page.locator(".question").first.get_by_role("button").nth(WRONG).click()
    opened(lesson.page, distance="5")
    lesson.page.evaluate(_SAVE)
    yield lesson
    lesson.close()


def test_with_its_kernel_all_comes_back_and_answers(lesson: Lesson) -> None:
    lesson.reload()
    opened(lesson.page, distance="5")
    assert lesson.page.evaluate(f"{_MODEL}.dirty") is False
    slider(lesson.page).focus()
    lesson.page.keyboard.press("ArrowRight")
    expect(lesson.page.locator(".attn-figure .told").first).to_contain_text("6")


def test_a_page_of_notebook_beside_it_shows_the_same_and_no_menu_of_instructors(
    chromium: Browser, lesson: Lesson, server: Server
) -> None:
    page = chromium.new_page()
    page.goto(server.address(f"/notebooks/{NAME}/{NAME}.ipynb"))
    opened(page, distance="6")
    expect(page.locator(".lm-MenuBar-itemLabel").first).to_be_visible()
    assert "Nbgrader" not in page.locator(".lm-MenuBar").first.inner_text()
    page.reload()
    opened(page, distance="6")
    slider(page).press("ArrowRight")
    expect(slider(lesson.page)).to_have_value("7")
    page.close()


def test_a_copy_has_stills(chromium: Browser, lesson: Lesson, server: Server) -> None:
    (server.notebooks / COPY).mkdir()
    shutil.copy(
        server.notebooks / NAME / f"{NAME}.ipynb", server.notebooks / COPY / f"{COPY}.ipynb"
    )
    copy = Lesson(chromium, server, COPY)
    still(copy.page)
    copy.close()


def test_after_a_restart_a_figure_says_so_and_is_still_when_opened_again(lesson: Lesson) -> None:
    lesson.page.evaluate(_RESTART)
    expect(lesson.page.locator(".attn-figure .restarted").first).to_be_visible()
    lesson.reload()
    still(lesson.page)
    lesson.run(FIGURE)
    expect(slider(lesson.page)).to_have_value("4")
