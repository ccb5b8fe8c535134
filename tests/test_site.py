"""The web site: whole, without answers, and in a browser as it is read."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING
from urllib.parse import unquote, urldefrag, urlsplit

import pytest
from axe_playwright_python.sync_playwright import Axe
from bs4 import BeautifulSoup
from playwright.sync_api import expect

from attnlab.asking import KEPT
from attnlab.figures.live.fallback import MOVES
from attnlab.figures.live.recording import marked
from attnlab.lessons import lesson, slugs
from attnlab.lessons.soft_lookup.opening import opening
from attnlab.published import PUBLISHED_AT, Places
from docs import frame, runs, site
from tests.course import ROOT, read, released_path
from tests.lab import chromium_path
from tests.test_release import given_away, telling_lines

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

SLUGS = slugs()
WIDTHS = {"light": 1280, "dark": 390}  # what fits, does so in either
MARKS = {path.stem for path in site.RECORDINGS.glob("*.json")}
pytestmark = pytest.mark.slow
no_chromium = pytest.mark.skipif(
    not chromium_path(), reason="there is no Chromium here: install it"
)


@pytest.fixture(scope="module")
def pages(built: Path) -> dict[Path, BeautifulSoup]:
    return {
        path: BeautifulSoup(path.read_text(encoding="utf-8"), "html.parser")
        for path in built.rglob("*.html")
        if "_static" not in path.parts
    }


def of(slug: str) -> Path:
    return Path("notebooks", slug, f"{slug}.html")


def test_every_link_and_every_heading_it_names_is_there(pages: dict[Path, BeautifulSoup]) -> None:
    names = {path: {node["id"] for node in page.select("[id]")} for path, page in pages.items()}
    lost = []
    for path, page in pages.items():
        for node in page.select("[href]:not([rel=canonical]), [src]"):
            address = str(node.get("href") or node.get("src"))
            scheme = urlsplit(address).scheme
            assert scheme in ("", "data") or node.name == "a", f"{path.name} loads {address}"
            if scheme:
                continue
            place, name = map(unquote, urldefrag(address))
            to = (path.parent / place.partition("?")[0]).resolve() if place else path
            if not to.is_file() or (name and to in names and name not in names[to]):
                lost.append(f"{path.name}: {address}")
    assert lost == []


def test_each_page_says_what_it_is_and_what_can_be_done_there(
    built: Path, pages: dict[Path, BeautifulSoup]
) -> None:
    told = {}
    for path, page in pages.items():
        if path.name not in ("search.html", "genindex.html"):
            [about] = page.select("meta[name=description]")
            assert page.title
            told[path] = (page.title.text, about["content"])
            assert 20 < len(str(about["content"])) < 200, path
            [icon] = page.select("link[rel=icon]")
            assert (path.parent / str(icon["href"])).is_file()
            assert not page.select("meta[property^='og:'], [rel=canonical]") or PUBLISHED_AT.site
            empty = [head for head in page.select("table.table thead") if not head.text.strip()]
            assert empty == [], path
    assert len(set(told.values())) == len(told) > len(SLUGS)
    for slug in SLUGS:
        page = pages[built / of(slug)]
        assert len(page.select(".prev-next-area .right-next")) == 2, "at the top and the bottom"
        here = page.get_text()
        for sentence in (MOVES, KEPT, *([] if runs.runs(lesson(slug)) else [site.RUN.strip()])):
            assert sentence not in here, slug
        assert ("Here you read" in here) is not runs.runs(lesson(slug)), slug


def test_a_lesson_is_light_at_first(built: Path) -> None:
    assert (built / of(SLUGS[0])).stat().st_size < 1_000_000


def test_a_shared_link_shows_a_picture_where_the_site_has_an_address() -> None:
    def tags(address: str) -> BeautifulSoup:
        settings = SimpleNamespace(html_baseurl=address, html_title="attnlab", project="attnlab")
        context = {"metatags": "", "title": 'a <b> & "c"'}
        frame.tell(SimpleNamespace(config=settings), "index", "", context, None)  # type: ignore[arg-type]
        return BeautifulSoup(context["metatags"], "html.parser")

    assert [tag["name"] for tag in tags("")("meta")] == ["description"]
    found = {tag.get("property"): tag["content"] for tag in tags("https://example.org/a/")("meta")}
    assert found["og:url"] == "https://example.org/a/"
    assert found["og:image"] == "https://example.org/a/_static/lesson.png"
    assert found["og:title"] == 'a <b> & "c"'
    assert found["og:description"] == frame.COVER


def test_the_cover_shows_a_card_a_figure_and_mathematics_at_once(
    built: Path, pages: dict[Path, BeautifulSoup]
) -> None:
    cover = pages[built / "index.html"]
    [card] = cover.select(".cell.front .cell_output")
    assert "unstable-softmax" in card.text
    assert cover.select("[data-recording]")
    assert cover.select("table.table math msqrt")
    assert not cover.select("script[src*=mathjax]")
    menu = [link.text.strip() for link in cover.select(".bd-header .nav-link.nav-internal")]
    assert list(dict.fromkeys(menu)) == ["Lessons", "Glossary", "Guides"]


def test_pages_have_their_lessons_and_give_no_more_away(
    built: Path, pages: dict[Path, BeautifulSoup]
) -> None:
    telling = set().union(*map(telling_lines, SLUGS))
    for slug in SLUGS:
        page, released = pages[built / of(slug)], read(released_path(slug))
        for script in page("script"):
            script.extract()
        text = "\n".join(cell.source for cell in released.cells)
        assert given_away(telling, page.get_text()) <= given_away(telling, text), slug
        folded = [node for node in page.select("details") if not node.find_parent(class_="output")]
        assert len(folded) == text.count("<details>"), slug
        code = [cell for cell in released.cells if cell.cell_type == "code"]
        assert len(page.select("div.cell_input")) == len(code), slug
        assert page.select("div.cell_output"), slug
        assert (built / "download" / f"{slug}.ipynb").read_bytes() == released_path(
            slug
        ).read_bytes()


def test_every_figure_is_recorded_and_no_recording_is_left_over() -> None:
    found = {
        marked("".join(output.get("data", {}).get("text/html", "")))
        for slug in SLUGS
        for cell in json.loads((ROOT / "solutions" / slug / f"{slug}.ipynb").read_text())["cells"]
        for output in cell.get("outputs", [])
    }
    assert found - {""} == MARKS


def test_colab_is_offered_where_the_repository_is_known() -> None:
    ours = Places("attnlab", "https://example.org/", "someone/course")
    first = site.page(lesson(SLUGS[0]), ours)["cells"][0]["source"]
    address = (
        f"https://colab.research.google.com/github/someone/course/blob/main/notebooks/{SLUGS[0]}"
    )
    assert f"[Open it in Colab]({address}/{SLUGS[0]}.ipynb)" in first
    assert "Colab" not in site.page(lesson(SLUGS[0]), Places())["cells"][0]["source"]
    assert "uv tool install" in site.cover([], ours)
    assert "uv tool install" not in site.cover([], Places())
    with pytest.raises(site.NotBuilt, match="half filled in"):
        site.build(Path("nowhere"), Places("attnlab"))


def test_a_lesson_without_stored_outputs_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    slug = SLUGS[0]
    for folder in ("notebooks", "solutions"):
        path = tmp_path / folder / slug / f"{slug}.ipynb"
        path.parent.mkdir(parents=True)
        shutil.copyfile(released_path(slug), path)
    monkeypatch.setattr(site, "ROOT", tmp_path)
    with pytest.raises(site.NotBuilt, match=f"no stored outputs.*make outputs LESSON={slug}"):
        site.page(lesson(slug))


def test_a_figure_without_a_recording_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(site, "RECORDINGS", tmp_path)
    with pytest.raises(site.NotBuilt, match=r"was not recorded: .*\. Run: make outputs"):
        site.page(lesson(SLUGS[0]))


# In a browser, from files -------------------------------------------------------------------------


# Files may not be fetched; and a list of what is right would take as long again.
AUDIT = {"preload": False, "resultTypes": ["violations"]}


@contextmanager
def opened(
    chromium: Browser, path: Path, theme: str = "light", width: int = 1280, query: str = ""
) -> Iterator[Page]:
    """A page, that may ask for files alone, and say nothing in the console."""
    page = chromium.new_page(
        viewport={"width": width, "height": 844},
        color_scheme="dark" if theme == "dark" else "light",
        reduced_motion="reduce",
    )
    said: list[str] = []
    page.on("request", lambda request: said.append(f"asked for {request.url}"))
    page.on("pageerror", lambda error: said.append(f"error {error}"))
    page.on("console", lambda news: said.append(f"{news.type} {news.text}"))
    page.goto(f"{path.as_uri()}{query}")
    page.wait_for_function("() => !window.MathJax || MathJax.startup?.promise")
    page.evaluate("() => window.MathJax?.startup.promise")
    yield page
    page.close()
    allowed = ("asked for file://", "asked for data:", "log [PST]")  # what the theme says of itself
    assert [line for line in said if not line.startswith(allowed)] == []


def findings(page: Page) -> list[str]:
    """What axe holds to be serious or critical."""
    return [
        f"{finding['id']}: {node['html'][:160]}"
        for finding in Axe().run(page, options=AUDIT).response["violations"]
        if finding["impact"] in ("serious", "critical")
        for node in finding["nodes"]
    ]


# Tables of pages that are wider than what they stand in; those of figures are scrolled.
CUT = """() => [...document.querySelectorAll("table.table")]
  .filter((table) => table.scrollWidth > table.closest(".bd-article").clientWidth)
  .map((table) => table.innerText.slice(0, 80))"""
PAGES: dict[str, str | Path] = {
    "cover": "index.html",
    "lesson": of("06-causal-mask"),
}  # the others: `make prove`
OTHERS: dict[str, str | Path] = {
    "glossary": "notebooks/glossary.html",
    **{slug[:2]: of(slug) for slug in SLUGS},
}


@pytest.mark.browser
@no_chromium
@pytest.mark.parametrize("theme", WIDTHS)
@pytest.mark.parametrize(
    "name", [*PAGES, *(pytest.param(name, marks=pytest.mark.prove) for name in OTHERS)]
)
def test_a_page_is_accessible_and_fits(
    name: str, theme: str, chromium: Browser, built: Path
) -> None:
    with opened(chromium, built / {**PAGES, **OTHERS}[name], theme, WIDTHS[theme]) as page:
        assert page.evaluate("document.documentElement.scrollWidth") <= WIDTHS[theme]
        assert page.locator("mjx-merror").count() == 0
        for recorded in page.locator("[data-recording]").all():
            recorded.scroll_into_view_if_needed()  # it plays when it comes near
            expect(recorded.locator(".attn-figure")).to_be_visible()
        assert page.evaluate(CUT) == []
        assert findings(page) == []


@pytest.mark.browser
@no_chromium
def test_search_works_from_a_file(chromium: Browser, built: Path) -> None:
    with opened(chromium, built / "search.html", query="?q=softmax") as page:
        page.locator("#search-results li a").first.wait_for(timeout=20_000)
        assert page.locator("#search-results li a").count() > 3


@pytest.mark.browser
@no_chromium
def test_the_covers_figure_moves_and_changes_colour_with_the_theme(
    chromium: Browser, built: Path
) -> None:
    with opened(chromium, built / "index.html") as page:
        page.locator(".attn-figure input[type=range]").press("End")
        expect(page.locator(".attn-figure .told")).to_have_text(
            opening().state["frames"][-1]["told"]
        )
        colour = "getComputedStyle(document.querySelector('.attn-figure path[stroke^=var]')).stroke"
        light = page.evaluate(colour)
        page.evaluate("document.documentElement.dataset.theme = 'dark'")
        page.wait_for_function(f"light => {colour} !== light", arg=light)
