"""Lessons in a browser's Python: Pyodide under Node, with the course as a page has it."""

from __future__ import annotations

import html
import json
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from attnlab.browser.shown import NONE, OTHERS, linked
from attnlab.lessons import exercises_of, lesson, slugs
from attnlab.notebook import check
from attnlab.work import progress
from docs import browser, npm
from tests.answers import Answer, all_answers
from tests.course import ROOT

pytestmark = pytest.mark.slow
NODE = shutil.which("node") or ""
PURE = [slug for slug in slugs() if lesson(slug).stage == browser.STAGE]
ANSWERS = tuple(each for each in all_answers(*PURE) if each.written)
# How cards differ, and why: the browser's Python is 3.14.
NEWER_WORDS = {"float division by zero": "division by zero"}

SETUP = (
    "from attnlab import begin, check, figures, notebook, quiz\n"
    "from attnlab.browser import engine\n"
    "notebook.SECONDS, engine.SECONDS = 0.3, 1\n"
    "begin('01-soft-lookup')"
)
ENDLESS = "def softmax(scores):\n    while True:\n        pass\n\n\ncheck(softmax)"
# A cell, the slug of what stops it, and what is said.
STOPPED = {
    "import numpy": ("no-numpy", "Python alone"),
    "import pandas as pd": ("no-module", "pandas"),
    "open('notes.txt')": ("no-files", "no files of yours"),
    "input('n? ')": ("no-input", "Nobody can type"),
    "x = [0] * 10**10": ("out-of-memory", "▸   1 x = [0] * 10**10"),
    "def f():\n    return f()\n\n\nf()": ("endless-recursion", "▸   2     return f()"),
    "while True:\n    print('no')": ("too-much-output", "65,536 characters"),
    "%timeit 3": ("magic", "Jupyter's own"),
    "import asyncio\nawait asyncio.sleep(0)": ("await", "functions alone"),
    "x = 1\nif x = 1:\n    pass": ("one-equals", "   2 if x ▸= 1:"),
    "print(KEYS)": ("not-run", "the one under “The reference desk” that begins"),
    "print(answer)": ("not-run", "that begins"),
    "print(nothing_like_it)": ("", "NameError: name 'nothing_like_it' is not defined"),
    "y = 0\n\n1 / y": ("", "▸   3 1 / y"),
    "raise SystemExit('bye')": ("", "SystemExit: bye"),
    "class E(Exception):\n    def __str__(self):\n        1 / 0\n\n\nraise E": ("", "not be read"),
}


def code(folder: str, slug: str) -> list[Any]:
    path = ROOT / folder / slug / f"{slug}.ipynb"
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return [
        {**each, "source": "".join(each["source"])} for each in cells if each["cell_type"] == "code"
    ]


SOLVED = {slug: code("solutions", slug) for slug in PURE}
RELEASED = {slug: code("notebooks", slug) for slug in PURE}
[DRAWN] = [each for each in RELEASED[PURE[1]] if "one_matrix_for_two(" in each["source"]]


def few() -> Iterator[Answer]:
    """Of each exercise the first wrong answer and the first right one."""
    for slug in PURE:
        for name in exercises_of(slug):
            mine = [each for each in ANSWERS if each.exercise == name]
            yield next(each for each in mine if each.slug)
            yield next(each for each in mine if not each.slug)


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What a page fetches."""
    folder = tmp_path_factory.mktemp("browser")
    browser.write(folder)
    return folder


def told(files: Path, *groups: Any) -> list[Any]:
    """What `in_pyodide.py` prints."""
    pyodide = npm.part("pyodide")
    if not NODE or pyodide is None:
        pytest.skip("this needs node, and Pyodide, which `python -m docs.npm` fetches")
    tests = ROOT / "tests"
    runner = [NODE, *map(str, (tests / "js" / "pyodide.mjs", pyodide, files, tests))]
    asked = [*runner, str(tests / "in_pyodide.py"), *map(json.dumps, groups)]
    done = subprocess.run(asked, capture_output=True, text=True, timeout=500)
    assert done.returncode == 0, done.stderr[-2000:]
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.fixture(scope="module")
def came(files: Path) -> dict[str, Any]:
    """What came of everything here, in one Python, which takes seconds to load."""
    groups: dict[str, Any] = {}
    for slug in PURE:
        for name, cells in (("solved", SOLVED[slug]), ("released", RELEASED[slug])):
            groups[f"{name} {slug}"] = slug, [(each["id"], each["source"]) for each in cells], []
        groups[f"cards {slug}"] = slug, [], [str(each) for each in few() if each.lesson == slug]
    second = RELEASED[PURE[1]]
    before = [(each["id"], each["source"]) for each in second[: second.index(DRAWN)]]
    drawn = DRAWN["id"], DRAWN["source"]
    edited = [
        *before,
        ("own", "TOKENS = ['a', 'cat', 'sat']"),
        drawn,
        ("own", "figures.live.Roofline()"),
    ]
    groups["edited"] = PURE[1], edited, []
    groups["stopped"] = PURE[0], [("own", SETUP), *(("own", each) for each in STOPPED)], []
    endless = [SETUP, "kept = 3", ENDLESS, "while kept:\n    pass", "kept"]
    groups["endless"] = PURE[0], [("own", each) for each in endless], []
    choose = "from attnlab.browser.engine import choose\nprint(choose('recall', 0, {}))"
    choosing = [SETUP, "quiz('recall')", choose.format(0), choose.format(1)]
    groups["choosing"] = PURE[0], [("own", each) for each in choosing], []
    return dict(zip(groups, told(files, *groups.values()), strict=True))


def notebooks(answers: Sequence[Answer]) -> dict[str, str]:
    """The cards of answers, as the notebook makes them."""
    cards = {}
    for each in answers:
        progress.forget()
        card = check(each.function, name=each.exercise, lesson=each.lesson)
        cards[str(each)] = as_newer(card._repr_mimebundle_()["text/html"])
    return cards


def as_newer(text: str) -> str:
    for words, newer in NEWER_WORDS.items():
        text = text.replace(words, newer)
    return text


def test_a_card_in_the_browser_is_the_notebooks_to_the_character(came: dict[str, Any]) -> None:
    there = dict(card for slug in PURE for card in came[f"cards {slug}"][1])
    assert there == notebooks([*few()])


@pytest.mark.prove
def test_so_is_the_card_of_every_answer_that_is_held(files: Path) -> None:
    names = {slug: [str(each) for each in ANSWERS if each.lesson == slug] for slug in PURE}
    groups: list[Any] = [(slug, [], names[slug]) for slug in PURE]
    there = dict(card for _, cards in told(files, *groups) for card in cards)
    here = notebooks(ANSWERS)
    assert there.keys() == here.keys()
    found = {name for name, card in there.items() if card != here[name]}
    assert not found, {name: (here[name], there[name]) for name in found}


def stored(cell: dict[str, Any]) -> list[str]:
    """What stands below a cell in a notebook, pictures and quizzes by that alone."""
    found = []
    for output in cell["outputs"]:
        data = output.get("data", {})
        made = "".join(data.get("text/html", ""))
        drawn = made and not made.startswith("<section")  # as cards begin
        text = "".join(output.get("text") or data["text/plain"])
        found.append("drawn" if drawn else linked(as_newer(made)) or text)
    return found


def below(done: dict[str, Any]) -> list[str]:
    """The same of a cell that was run in the browser's Python."""
    return [
        "drawn" if each["kind"] in ("figure", "quiz") else each.get("html") or each["text"]
        for each in done["outputs"]
    ]


@pytest.mark.parametrize("slug", PURE)
def test_a_lesson_that_is_solved_looks_as_in_its_notebook(slug: str, came: dict[str, Any]) -> None:
    for cell, done in zip(SOLVED[slug], came[f"solved {slug}"][0], strict=True):
        if "nbval-ignore-output" not in cell["metadata"].get("tags", ()):
            assert below(done) == stored(cell), cell["source"]
        figures = [each for each in done["outputs"] if each["kind"] == "figure"]
        assert {(each["cell"], each["note"]) for each in figures} <= {(cell["id"], "")}


@pytest.mark.parametrize("slug", PURE)
def test_a_lesson_as_handed_out_runs_to_its_end(slug: str, came: dict[str, Any]) -> None:
    cells = came[f"released {slug}"][0]
    assert all(done["ok"] for done in cells)
    said = "".join(each.get("text", "") for done in cells for each in done["outputs"])
    assert "is not written yet. Write it, then run this again." in said


def test_what_stops_a_cell_is_said_in_a_sentence_with_the_line(came: dict[str, Any]) -> None:
    for (source, (slug, said)), done in zip(STOPPED.items(), came["stopped"][0][1:], strict=True):
        last = done["outputs"][-1]
        assert not done["ok"], source
        assert (last["kind"], last["slug"]) == ("error", slug), (source, last["text"])
        assert said in last["text"], (source, last["text"])
        assert html.escape(said) in last["html"], (source, last["html"])


def test_what_does_not_end_is_ended_and_names_stay(came: dict[str, Any]) -> None:
    checked, endless, after = (done["outputs"][0] for done in came["endless"][0][2:])
    assert "</code> of <code>softmax</code>" in checked["html"]
    assert checked["card"]["status"] == "TIMEOUT"
    assert endless["slug"] == "still-running"
    assert "▸   " in endless["text"]
    assert after == {"kind": "text", "text": "3"}


def test_an_edited_input_is_said_below_its_figure(came: dict[str, Any]) -> None:
    moved, unknown = (done["outputs"][-1] for done in came["edited"][0][-2:])
    assert (moved["cell"], moved["note"]) == (DRAWN["id"], OTHERS)
    assert (unknown["cell"], unknown["note"]) == ("", NONE)


def test_a_quiz_answers_once(came: dict[str, Any]) -> None:
    asked, *chosen = (done["outputs"][0] for done in came["choosing"][0][1:])
    first, second = (json.loads(each["text"])["values"] for each in chosen)
    assert asked["values"]["state"]["questions"][0]["chosen"] is None
    assert "A. " in first["state"]["questions"][0]["said"]
    assert (first["problem"], second["problem"][:24]) == ("", "you have chosen already,")
    assert second["state"] == first["state"]
