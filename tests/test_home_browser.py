"""The course home in a real JupyterLab and a real browser: on a desk and on a phone."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Literal
from urllib.request import Request, urlopen

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect

from attnlab.home.check_mine import Checked, write_page
from attnlab.ipynb.zipped import unzipped
from attnlab.work.places import Course
from tests.course import ROOT
from tests.lab import HERE, Lesson, Server, chromium_path
from tests.until import PATIENCE

pytestmark = [
    pytest.mark.browser,
    pytest.mark.slow,
    pytest.mark.skipif(not chromium_path(), reason="there is no Chromium here: install it"),
]
LESSON = "01-soft-lookup"
SUMMARY = "import attnlab\nattnlab.summary()"


@pytest.fixture(scope="module")
def working(server: Server) -> Server:
    """A learner who is in the middle of the first lesson."""
    folder = server.notebooks / LESSON
    if not folder.exists():
        shutil.copytree(ROOT / "notebooks" / LESSON, folder)
    (server.notebooks / ".attnlab").mkdir(exist_ok=True)
    line = {"v": 1, "when": "", "lesson": LESSON, "exercise": "hard_lookup", "status": "PASS"}
    line |= {"score": 1.0, "points": 1.0, "mistake": ""}
    path = server.notebooks / ".attnlab" / "progress.jsonl"
    path.write_text(json.dumps(line) + "\n", encoding="utf-8")
    return server


@pytest.fixture
def page(chromium: Browser) -> Iterator[Page]:
    page = chromium.new_page()
    page.set_default_timeout(1000 * PATIENCE)
    yield page
    page.close()


THEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("theme", THEMES)
def test_the_home_fits_and_is_accessible(
    theme: Literal["light", "dark"], width: int, page: Page, working: Server
) -> None:
    elsewhere: list[str] = []
    page.on("request", lambda request: elsewhere.append(request.url))
    page.set_viewport_size({"width": width, "height": 900})
    page.emulate_media(color_scheme=theme)
    page.goto(working.address("/attnlab"))
    expect(page.get_by_text("So far 1 of ")).to_be_visible()
    expect(page.get_by_role("link", name="Continue")).to_be_focused()
    expect(page.get_by_role("link", name="Soft lookup")).to_have_count(1)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    found = Axe().run(page).response["violations"]
    assert [each["help"] for each in found] == []
    assert [url for url in elsewhere if HERE not in url] == []


@pytest.mark.parametrize(("width", "opens"), [(1280, "/lab/tree/"), (390, "/notebooks/")])
def test_one_key_opens_what_comes_next(width: int, opens: str, page: Page, working: Server) -> None:
    page.set_viewport_size({"width": width, "height": 900})
    page.goto(working.address("/attnlab"))
    expect(page.get_by_role("link", name="Continue")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(f"{opens}{LESSON}/{LESSON}.ipynb"))
    expect(page.locator(".jp-MarkdownOutput h1").first).to_contain_text("01")


def test_the_button_makes_what_is_handed_in(page: Page, working: Server) -> None:
    page.goto(working.address("/attnlab"))
    page.get_by_role("button", name="Hand in lesson 01").click()
    said = page.get_by_role("status")
    expect(said).to_contain_text(f"Hand in the file work/hand-in/{LESSON}.zip as it is.")
    expect(said).to_contain_text("Not written yet: ")
    made = (working.notebooks / "hand-in" / f"{LESSON}.zip").read_bytes()
    mine = f"{LESSON}/{LESSON}.ipynb"
    assert unzipped(made, mine) == (working.notebooks / LESSON / f"{LESSON}.ipynb").read_bytes()
    with page.expect_download() as downloaded:
        said.get_by_role("link", name=f"Download {LESSON}.zip").click()
    assert downloaded.value.suggested_filename == f"{LESSON}.zip"
    assert downloaded.value.path().read_bytes() == made


@pytest.mark.parametrize("name", [LESSON, "99-more", "02-pure-python"])
def test_a_download_asks_who_is_there_and_follows_no_link(
    name: str, page: Page, working: Server, tmp_path: Path
) -> None:
    address = f"http://{HERE}:{working.port}/attnlab/hand-in/{name}.zip"
    with urlopen(Request(address), timeout=PATIENCE) as answer:
        assert "/login" in answer.url
    (tmp_path / "secret").write_text("somebody else's")
    made = working.notebooks / "hand-in" / f"{name}.zip"
    made.parent.mkdir(exist_ok=True)
    made.unlink(missing_ok=True)
    if name == LESSON:
        made.symlink_to(tmp_path / "secret")
    found = page.request.get(working.address(f"/attnlab/hand-in/{name}.zip"))
    made.unlink(missing_ok=True)
    assert found.status == 404
    assert "somebody else" not in found.text()


@pytest.mark.parametrize("theme", THEMES)
def test_a_page_to_keep_is_made_from_the_home_accessible_and_one_sheet(
    theme: Literal["light", "dark"], page: Page, working: Server
) -> None:
    page.set_viewport_size({"width": 390, "height": 900})
    page.emulate_media(color_scheme=theme)
    page.goto(working.address("/attnlab"))
    page.get_by_label("A sentence").fill("the dgos run")
    page.get_by_label("A name").fill("Ann")
    page.keyboard.press("Enter")
    said = page.get_by_role("status")
    expect(said).to_contain_text("does not know “dgos”")
    expect(page.get_by_label("A sentence")).to_have_value("the dgos run")
    page.get_by_label("A sentence").fill("the king behind the dogs")
    page.get_by_role("button", name="Make the page").click()
    expect(said).to_contain_text("Your page is work/keepsake.html")
    said.get_by_role("link", name="The page that you made").click()
    expect(page.get_by_role("heading", name="My attention")).to_be_visible()
    expect(page.get_by_text("Ann, 2")).to_be_visible()
    expect(page.get_by_role("img")).to_have_attribute(
        "aria-label", re.compile("“dogs” listens most to “king”")
    )
    for width in (390, 1280):
        page.set_viewport_size({"width": width, "height": 900})
        assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert [each["help"] for each in Axe().run(page).response["violations"]] == []
    assert len(re.findall(rb"/Type /Page\b", page.pdf(prefer_css_page_size=True))) == 1


def test_the_page_of_all_checks_is_found_from_the_home_and_leads_back(
    page: Page, working: Server
) -> None:
    write_page(Course(working.notebooks.parent, working.notebooks), [Checked(LESSON, (), 1, 6)])
    page.goto(working.address("/attnlab"))
    page.get_by_role("link", name="My checks").click()
    expect(page.get_by_text("1 of 6 points in the lessons that were run")).to_be_visible()
    expect(page.get_by_role("link", name="01 Soft lookup")).to_have_attribute(
        "href", f"../lab/tree/{LESSON}/{LESSON}.ipynb"
    )
    page.get_by_role("link", name="Course home").click()
    expect(page.get_by_role("heading", name="Lessons")).to_be_visible()


def test_the_home_opens_first_and_asks_who_is_there(page: Page, working: Server) -> None:
    page.goto(working.address("/"))
    expect(page).to_have_url(re.compile("/attnlab"))
    stranger = Request(f"http://{HERE}:{working.port}/attnlab")
    with urlopen(stranger, timeout=PATIENCE) as answer:
        assert "/login" in answer.url


def test_what_is_checked_shows_at_home_and_the_summary_leads_there(
    chromium: Browser, page: Page, working: Server
) -> None:
    lesson = Lesson(chromium, working, LESSON)
    try:
        lesson.run("setup")
        lesson.write("hard_lookup", SUMMARY)
        shown = lesson.go_to(lesson.index("hard_lookup"))
        expect(shown.get_by_label("Summary of lesson 01")).to_contain_text("1 of 3 exercises")
        lesson.write("softmax", "def softmax(scores):\n    return scores")
        expect(lesson.run("softmax-check")).to_contain_text("not right yet")
        shown = lesson.go_to(lesson.index("hard_lookup"))
        with lesson.page.expect_popup() as opened:
            shown.get_by_role("link", name="Course home").click()
        home = opened.value
        expect(home.get_by_role("heading", name="Lessons")).to_be_visible()
        expect(home.locator(".lesson.next")).to_contain_text("Soft lookup")
        home.locator(".lesson.next summary").click()
        expect(home.get_by_text("softmax: not right yet")).to_be_visible()
        home.close()
    finally:
        lesson.close()
