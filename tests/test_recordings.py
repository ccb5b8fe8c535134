"""Figures that move without Python: recorded by Python, played in a notebook and in any page."""

from __future__ import annotations

import base64
import functools
import gzip
import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import nbformat
import pytest
from bs4 import BeautifulSoup
from playwright.sync_api import expect

from attnlab import figures
from attnlab.figures import live
from attnlab.figures.live.figure import Figure
from attnlab.figures.live.recording import keep, marked, moving, recorded, replay
from tests.figure_sources import SOURCES

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

RECORDED = sorted(set(SOURCES) - {"Quiz"})  # a quiz keeps its answers to itself until one is chosen


def made(name: str) -> Figure:
    found: dict[str, Any] = {"figures": figures}
    exec(SOURCES[name], found)
    return found["figure"]


@functools.cache
def recording_of(name: str) -> tuple[Figure, dict[str, Any]]:
    """A figure that was recorded, and its recording, for all that is asked of them."""
    figure = made(name)
    return figure, recorded(figure)


@pytest.mark.parametrize("name", RECORDED)
def test_a_recording_has_each_state_of_each_control(name: str) -> None:
    figure, recording = recording_of(name)
    assert figure.state == made(name).state
    recording = json.loads(json.dumps(recording, allow_nan=False))
    assert recording["figure"] == name
    played, inputs = replay(recording), recording["inputs"]
    assert (played.summary(), played.fallback()) == (recording["summary"], recording["fallback"])
    for control, values in (figure.controls() or {}).items():
        assert all(any(each[control] == value for each in inputs) for value in values)
    for asked in (inputs[0], inputs[len(inputs) // 2], inputs[-1]):
        figure.change(**asked)
        played.change(**asked)
        assert played.state.keys() == figure.state.keys()
        assert played.state.get("told") == figure.state.get("told")


@pytest.mark.parametrize("name", sorted(set(SOURCES) - set(RECORDED)))
def test_what_keeps_its_answers_is_not_recorded(name: str, tmp_path: Path) -> None:
    figure = made(name)
    with pytest.raises(ValueError, match="it runs in a notebook"):
        recorded(figure)
    keep(figure, tmp_path)
    assert not [*tmp_path.iterdir()]


def test_what_was_not_recorded_is_refused() -> None:
    played = replay(recorded(live.Race(4)))
    played.distance = 9
    with pytest.raises(ValueError, match="distance = 99, when = before was not recorded"):
        played.distance = 99


@pytest.mark.parametrize(
    ("change", "said"),
    [({"shown": None}, "shown is missing"), ({"figure": "Nothing"}, "no figure Nothing")],
)
def test_what_is_no_recording_is_refused(change: dict[str, Any], said: str) -> None:
    recording = {**recorded(live.Race(4)), **change}
    with pytest.raises(ValueError, match=said):
        replay({name: part for name, part in recording.items() if part is not None})


def test_a_recording_is_found_by_the_mark_of_its_still_figure(tmp_path: Path) -> None:
    figure = live.Race(4)
    keep(figure, tmp_path)
    (found,) = tmp_path.iterdir()
    assert found.name == f"{marked(figure.fallback())}.json"
    assert json.loads(found.read_text())["figure"] == "Race"
    assert marked("<p>no figure</p>") == ""


def test_words_of_a_learner_end_no_script() -> None:
    words = ["</script><script>alert(1)</script>", "<!--<script>"]
    page = moving(recorded(live.WhoListens([[1, 0], [0.5, 0.5]], words)))
    assert "<!--" not in page
    data, module = BeautifulSoup(page, "html.parser")("script")
    told = json.loads(gzip.decompress(base64.b64decode(data.text)))
    assert told["shown"][0]["state"]["queries"] == words
    assert "alert(1)" not in module.text


# In a page, opened as a file ----------------------------------------------------------------------


@pytest.fixture(scope="module")
def page(chromium: Browser, tmp_path_factory: pytest.TempPathFactory) -> Page:
    file = tmp_path_factory.mktemp("page") / "figures.html"
    shown = {name: moving(recording_of(name)[1]) for name in RECORDED}
    parts = [f'<section id="{name}">{each}</section>' for name, each in shown.items()]
    file.write_text(f"<!doctype html><meta charset=utf-8>{''.join(parts)}", encoding="utf-8")
    page = chromium.new_page()
    page.on("pageerror", lambda error: pytest.fail(str(error)))
    page.goto(file.as_uri())
    for name in RECORDED:  # each plays when it comes near
        page.locator(f"#{name}").scroll_into_view_if_needed()
        page.locator(f"#{name} .attn-figure").wait_for()
    return page


def shown(page: Page, name: str) -> str:
    return page.locator(f"#{name}").inner_html()


# For each figure, what moves it, and a key.
MOVES = {
    "ByHand": ("[role=switch]", " "),
    "Heads": ("[role=option][aria-selected=true]", "ArrowRight"),
    "MaskPainter": ("button >> nth=0", "Enter"),
    "Slopes": ("[role=gridcell][tabindex='0']", "ArrowRight"),
    "SoftLookup": ("[role=slider]", "ArrowRight"),
    "WhoListens": ("[role=gridcell][tabindex='0']", "ArrowDown"),
}


@pytest.mark.browser
@pytest.mark.slow
@pytest.mark.parametrize("name", RECORDED)
def test_a_recorded_figure_moves_by_key_without_python(page: Page, name: str) -> None:
    selector, key = MOVES.get(name, ("input[type=range]", "ArrowRight"))
    before = shown(page, name)
    page.locator(f"#{name} {selector}").first.press(key)
    page.wait_for_function(
        "([name, before]) => document.getElementById(name).innerHTML !== before", arg=[name, before]
    )
    assert page.locator(f"#{name} .problem").inner_text() == ""
    is_whole = name == "Film"  # what it holds is all that there is
    assert ("A recording" in page.locator(f"#{name}").inner_text()) != is_whole


@pytest.mark.browser
@pytest.mark.slow
def test_what_was_not_recorded_says_where_it_answers(page: Page) -> None:
    page.locator("#MaskPainter [role=gridcell][tabindex='0']").first.press("Enter")
    problem = page.locator("#MaskPainter .problem")
    assert problem.inner_text() == "this was not recorded; it answers in the notebook"
    page.locator("#MaskPainter button >> nth=1").press("Enter")
    page.wait_for_function("() => !document.querySelector('#MaskPainter .problem').textContent")


@pytest.mark.browser
@pytest.mark.slow
def test_an_export_moves(chromium: Browser, tmp_path: Path) -> None:
    source = "from attnlab import figures\n\nfigures.live.Race(4)"
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source)])
    nbformat.write(notebook, tmp_path / "one.ipynb")
    step = "--HTMLExporter.preprocessors=attnlab.figures.live.exported.Moving"
    command = [sys.executable, "-m", "nbconvert", "--to", "html", "--execute", step, "one.ipynb"]
    subprocess.run(command, cwd=tmp_path, check=True, timeout=120, capture_output=True)
    page = chromium.new_page()
    page.goto(
        (tmp_path / "one.html").as_uri(), wait_until="domcontentloaded"
    )  # it asks for MathJax
    told = page.locator(".attn-figure .told")
    assert told.inner_text().startswith("Distance 4.")
    page.locator(".attn-figure input[type=range]").press("ArrowRight")
    expect(told).to_contain_text("Distance 5.")
    page.close()
