"""A quiz in a real JupyterLab: by keyboard, once, and with nothing to peep at."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect

from attnlab import quizzes
from tests.figure_lab import SHOW, THEMES, FigureLab
from tests.lab import Server, chromium_path

pytestmark = [
    pytest.mark.browser,
    pytest.mark.slow,
    pytest.mark.skipif(not chromium_path(), reason="there is no Chromium here: install it"),
]
SLUG = "02-pure-python"
SOURCE = f'from attnlab import begin, quiz\n\nbegin("{SLUG}")\nfigure = quiz("recall")'
FIRST, SECOND = quizzes.of(SLUG)["recall"]


@pytest.fixture(scope="module")
def lab(chromium: Browser, server: Server) -> Iterator[FigureLab]:
    lab = FigureLab(chromium, server, "quiz")
    lab.show(SOURCE)
    yield lab
    lab.close()


def test_a_choice_is_made_by_keyboard_and_answered_once(lab: FigureLab) -> None:
    question = lab.figure.get_by_role("group").first
    wrong, right = question.get_by_role("button").nth(1), question.get_by_role("button").nth(0)
    expect(question).not_to_contain_text("Yes.")
    wrong.focus()
    lab.page.keyboard.press("Enter")
    expect(wrong).to_have_attribute("aria-disabled", "true")
    expect(wrong).to_have_accessible_name(re.compile("✗ your choice$"))
    expect(right).to_contain_text("✓")
    expect(question.locator("[aria-live]")).to_contain_text("Not this one")
    expect(wrong).to_be_focused()
    lab.page.keyboard.press("Shift+Tab")
    lab.page.keyboard.press("Space")
    expect(right).to_have_accessible_name(re.compile("✓$"))
    assert lab.ask("figure.chosen") == "[1, None]"


def test_what_was_chosen_is_there_when_the_cell_runs_again(lab: FigureLab) -> None:
    lab.shown = ""
    lab.show(SOURCE)
    question = lab.figure.get_by_role("group").first
    chosen = question.get_by_role("button").nth(1)
    expect(chosen).to_have_accessible_name(re.compile("✗ your choice$"))


def test_a_double_click_opens_nothing(lab: FigureLab) -> None:
    question = lab.figure.get_by_role("group").nth(1)
    before = lab.page.locator(".jp-Notebook").inner_text()
    question.dblclick(position={"x": 2, "y": 2})
    assert lab.page.locator(".jp-Notebook").inner_text() == before
    assert not re.search(re.escape(SECOND.answers[SECOND.right]), lab.page.content())


@pytest.mark.parametrize("theme", THEMES)
def test_axe_finds_nothing_and_nothing_sticks_out(theme: str, lab: FigureLab) -> None:
    lab.wear(theme)
    assert lab.findings() == []
    assert lab.complaints == []
    assert lab.run(SHOW).evaluate("node => node.scrollWidth <= node.clientWidth")
