"""A learner's first quarter of an hour, in a real JupyterLab and a real browser."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect

from tests.course import ROOT
from tests.lab import Lesson, Server, chromium_path

pytestmark = [
    pytest.mark.browser,
    pytest.mark.slow,
    pytest.mark.skipif(not chromium_path(), reason="there is no Chromium here: install it"),
]
LESSON = "01-soft-lookup"
GLOSSARY = "glossary.md"
TABS_TO_A_HINT = 12  # at most, from its cell; a cell's toolbar and heading come first

UNSTABLE = """import math

def softmax(scores):
    if not scores or max(scores) == -math.inf:
        raise ValueError("no scores")
    powers = [math.exp(score) for score in scores]
    return [power / sum(powers) for power in powers]
"""
STABLE = UNSTABLE.replace("math.exp(score)", "math.exp(score - max(scores))")


@pytest.fixture(scope="module")
def lesson(chromium: Browser, server: Server) -> Iterator[Lesson]:
    """Lesson 01 as it was released, its cells before the first exercise run."""
    shutil.copytree(ROOT / "notebooks" / LESSON, server.notebooks / LESSON)
    opened = Lesson(chromium, server, LESSON)
    first = opened.index("hard_lookup")
    for index, (kind, _) in enumerate(opened.sources()[:first]):
        if kind == "code":
            opened.run_at(index)
    yield opened
    opened.close()


def test_an_unwritten_exercise_says_so_kindly(lesson: Lesson) -> None:
    lesson.run("softmax")
    card = lesson.run("softmax-check")
    expect(card).to_contain_text("softmax: not written yet · 0 of 2 points")


def test_a_wrong_answer_is_named(lesson: Lesson) -> None:
    lesson.write("softmax", UNSTABLE)
    card = lesson.run("softmax-check")
    expect(card).to_contain_text("softmax: not right yet")
    expect(card).to_contain_text("unstable-softmax")


def test_the_right_answer_passes(lesson: Lesson) -> None:
    lesson.write("softmax", STABLE)
    expect(lesson.run("softmax-check")).to_contain_text("softmax: right · 2 of 2 points")


@pytest.mark.parametrize("key", ["Enter", "Space"])
def test_a_hint_opens_by_keyboard(lesson: Lesson, key: str) -> None:
    hints = [index for index, (_, source) in enumerate(lesson.sources()) if "<details" in source]
    cell = lesson.go_to(hints[0])
    hint = cell.locator("details").first
    expect(hint).not_to_have_attribute("open", re.compile(".*"))
    for _ in range(TABS_TO_A_HINT):
        lesson.page.keyboard.press("Tab")
        if hint.locator("summary").first.evaluate("it => it === document.activeElement"):
            break
    lesson.page.keyboard.press(key)
    expect(hint).to_have_attribute("open", re.compile(".*"))
    lesson.page.keyboard.press(key)
    expect(hint).not_to_have_attribute("open", re.compile(".*"))


def test_the_page_complains_of_nothing_and_stays_on_this_machine(lesson: Lesson) -> None:
    assert lesson.complaints == []
    assert lesson.elsewhere == []


def test_the_glossary_opens_as_a_page_to_read(chromium: Browser, server: Server) -> None:
    shutil.copy(ROOT / "notebooks" / GLOSSARY, server.notebooks)
    page = chromium.new_page()
    page.goto(server.address(f"/lab/workspaces/glossary/tree/{GLOSSARY}"))
    expect(page.locator(".jp-MarkdownViewer h1")).to_contain_text("Glossary")
    page.close()


def test_jupyterlab_starts_without_a_warning(server: Server) -> None:
    log = server.notebooks.parent / "jupyterlab.log"
    assert "Warning" not in log.read_text(encoding="utf-8")
