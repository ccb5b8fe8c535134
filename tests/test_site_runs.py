"""Pages whose cells run: lessons and the front page's exercise, from a server, in a browser."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from playwright.sync_api import expect

from attnlab.lessons import slugs
from docs import runs, site
from tests.course import ROOT, is_exercise, read, solution_path, split_solution
from tests.home import make_home, updated
from tests.lab import chromium_path
from tests.running import FRONT, Running, Server, of, served
from tests.test_site import findings
from tests.until import until

if TYPE_CHECKING:
    from playwright.sync_api import Browser

FIRST, SECOND = "01-soft-lookup", "02-pure-python"
PRINTS = "by-hand"  # a cell of the first lesson that needs no other but `setup`
pytestmark = [
    pytest.mark.slow,
    pytest.mark.browser,
    pytest.mark.skipif(not chromium_path(), reason="there is no Chromium here: install it"),
    pytest.mark.skipif(
        bool(runs.missing()), reason=f"{' and '.join(runs.missing())} not here. {runs.MEND}"
    ),
]


@pytest.fixture(scope="module")
def host(built: Path) -> Iterator[Server]:
    with served(built) as host:
        yield host


@pytest.fixture(scope="module")
def lesson(chromium: Browser, host: Server) -> Iterator[Running]:
    """The first lesson, with Python in it, for all who need no page of their own."""
    with chromium.new_context() as context:
        page = Running(context, host, of(FIRST), told=('"seconds": 20', '"seconds": 3'))
        page.run("setup")
        yield page


def answers(slug: str) -> dict[str, str]:
    cells = filter(is_exercise, read(solution_path(slug)).cells)
    return {
        cell.metadata.nbgrader.grade_id: "\n".join(split_solution(cell.source)) for cell in cells
    }


def printed(cell: Any) -> str:
    return "".join(each.text for each in cell.outputs if each.output_type == "stream")


# A lesson ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("slug", [FIRST, pytest.param(SECOND, marks=pytest.mark.prove)])
def test_a_lesson_is_done_from_first_to_last_cell_taken_home_and_graded(
    slug: str, chromium: Browser, host: Server, tmp_path: Path
) -> None:
    with chromium.new_context() as context:
        lesson = Running(context, host, of(slug))
        for name, answer in answers(slug).items():
            lesson.write(name, answer)
        lesson.cell("summary").get_by_role("button", name="Run all above").click()
        expect(lesson.said(lesson.names[-2])).to_contain_text("Done")
        lesson.run("summary")
        for cell in read(solution_path(slug)).cells:
            if cell.cell_type == "code":
                name = cell.metadata.nbgrader.grade_id
                outputs = lesson.outputs(name)
                if "nbval-ignore-output" not in cell.metadata.get("tags", []):
                    expect(outputs.locator(".stream")).to_have_text(
                        [printed(cell)] * bool(printed(cell))
                    )
                expect(outputs.locator(".run-error")).to_have_count(0)
                if name.endswith("-check"):
                    expect(outputs).to_contain_text(f"{name.removesuffix('-check')}: right")
                if name.startswith("quiz-"):
                    expect(outputs.locator(".question button").first).to_be_enabled()
                if name.startswith(("see-the", "touch-")):
                    expect(outputs.locator("figure, img, .attn-figure").first).to_be_visible()
        done = f"{len(answers(slug))} of {len(answers(slug))} exercises"
        expect(lesson.outputs("summary")).to_contain_text(done)
        with lesson.page.expect_download() as download:
            lesson.press("Take it home")
        home = make_home(tmp_path / "course", slug)
        download.value.save_as(home.root / download.value.suggested_filename)
        assert lesson.complaints == []
    mine = home.notebook(slug)
    assert updated(home) == [f"{slug}.ipynb is moved to work/{slug}/{slug}.ipynb: go on there."]
    grade = [sys.executable, *["-m", "autograder", "grade-file", str(mine), "--json=-"]]
    result = json.loads(subprocess.check_output(grade, cwd=ROOT, text=True))
    assert result["score"] == result["max_score"] > 0
    assert result["repaired"] == []


def test_a_quiz_answers_and_keeps_what_was_chosen(lesson: Running) -> None:
    choices = lesson.run("quiz-recall").locator(".question").first.get_by_role("button")
    choices.first.click()
    expect(choices.first).to_contain_text("your choice")
    lesson.reload()
    lesson.run("setup")
    expect(lesson.run("quiz-recall").get_by_text("your choice")).to_have_count(1)


def test_a_cell_is_read_out_left_and_run_by_keyboard(lesson: Running) -> None:
    code = lesson.code(PRINTS)
    lesson.write(PRINTS, "")
    code.focus()
    lesson.page.keyboard.type("for number in range(2):\nprint(number)")  # it indents by itself
    lesson.page.keyboard.press("Shift+Enter")
    expect(lesson.ended(PRINTS)).to_have_text("0\n1\n")
    expect(code).to_have_accessible_description(re.compile("Shift.Enter runs.*Escape, then Tab"))
    lesson.page.keyboard.press("Escape")
    lesson.page.keyboard.press("Tab")
    expect(lesson.cell(PRINTS).get_by_role("button", name="Run Cell")).to_be_focused()
    expect(lesson.said(PRINTS)).to_contain_text("Done in")


BAD = {
    "for i in range(10_000_000):\n    print(i)": "so it was stopped",
    "[0] * 10**10": "memory",
    "'x' * 10**8": "100,000,002 characters",
    "def f(n):\n    return f(n + 1)\n\nf(0)": "nothing ends that",
    "input()": "Nobody can type",
    "import numpy": "Python alone",
    "open('notes.txt')": "no files of yours",
    "for i in range(3)\n    print(i)": "ends with a colon",
    "print(KEYS)": "The reference desk",
}


def test_what_cannot_be_run_is_told_in_a_sentence(lesson: Running) -> None:
    wrong = []
    for source, sentence in BAD.items():
        lesson.write(PRINTS, source)
        told = lesson.run(PRINTS).inner_text()
        if sentence not in told or len(told) > 200_000:
            wrong.append((source, told[:300]))
    assert wrong == []


def test_what_never_ends_is_ended_and_the_cells_above_run_again(lesson: Running) -> None:
    lesson.write("see-record", "above = 7")
    lesson.run("see-record")
    lesson.write(PRINTS, "while True:\n    pass")
    told = lesson.run(PRINTS)
    expect(told).to_contain_text("Ended: it ran for 3 seconds")
    expect(told).to_contain_text("The cells above it run again first")
    lesson.write(PRINTS, "print(above, math.tau)")
    expect(lesson.run(PRINTS)).to_contain_text("7 6.28")
    lesson.write(PRINTS, "while True:\n    pass")
    lesson.code(PRINTS).press("Shift+Enter")
    lesson.cell(PRINTS).get_by_role("button", name="Stop").click()
    expect(lesson.ended(PRINTS)).to_contain_text("Ended, as you asked")


# Nothing leaves the page --------------------------------------------------------------------------

# What a visitor's code may try, in a worker. `told` gathers what came of it.
TRIES = """
const come = (name) => (why) => told(`${name}: ${why?.constructor.name}`);
const attempt = (name, what) => { try { what(); } catch (why) { told(`${name}: ${why.name}`); } };
fetch(A + "/fetch").then(come("fetch"), come("fetch"));
import(A + "/import").then(come("import"), come("import"));
attempt("request", () => {
  const asked = new XMLHttpRequest();
  asked.open("GET", A + "/xhr", false);
  asked.send();
});
attempt("scripts", () => importScripts(A + "/scripts"));
attempt("socket", () => { new WebSocket(A.replace("http", "ws")).onerror = come("socket"); });
attempt("events", () => { new EventSource(A + "/events").onerror = come("events"); });
"""
NAMES = {"fetch", "import", "request", "scripts", "socket", "events"}
NESTED = """
import js
from pyodide.ffi import create_proxy, to_js

told = []
source = js.Blob.new(to_js(['const A = "ADDRESS"; const told = (it) => postMessage(it);', TRIES]))
worker = js.Worker.new(js.URL.createObjectURL(source))
worker.onmessage = create_proxy(lambda event: told.append(event.data))
"""
DIRECT = """
for name, attempt in {
    "fetch": lambda: js.fetch("ADDRESS/direct").then(*map(create_proxy, [told.append] * 2)),
    "scripts": lambda: js.importScripts("ADDRESS/direct"),
    "code": lambda: js.eval("1"),
    "image": lambda: js.Image.new(),
}.items():
    try:
        attempt()
    except Exception as why:
        print(name, "raised", type(why).__name__)
"""


def test_nothing_that_runs_can_send_or_load_anything(lesson: Running, tmp_path: Path) -> None:
    with served(tmp_path) as other:
        tries = f"const A = '{other.address}';{TRIES}"
        free = lesson.page.context.new_page()  # the same where no policy is: all of it arrives
        free.evaluate(
            "source => { const worker = new Worker(URL.createObjectURL(new Blob([source]))); }",
            tries.replace("told(", "(() => {})("),
        )
        until(lambda: {"/fetch", "/import", "/xhr", "/scripts", "/events"} <= {*other.asked})
        free.close()
        other.asked.clear()
        nested = NESTED.replace("TRIES", repr(TRIES)).replace("ADDRESS", other.address)
        lesson.write(PRINTS, nested)
        lesson.run(PRINTS)
        lesson.write("see-record", "print(sorted(told))")
        for name in NAMES:
            expect(lesson.run("see-record")).to_contain_text(name)
        lesson.write(PRINTS, DIRECT.replace("ADDRESS", other.address))
        expect(lesson.run(PRINTS)).to_have_text(
            re.compile("scripts raised.*code raised.*image raised", re.S)
        )
        lesson.write(PRINTS, "import js\njs.postMessage('x')")  # of no use
        lesson.run(PRINTS)
        assert other.asked == []
    here = lesson.page.evaluate(
        "address => fetch(address).then(() => 'came', () => 'refused')", "/"
    )
    assert here == "refused"


def test_html_of_a_visitors_code_runs_nothing(lesson: Running) -> None:
    lesson.write(
        PRINTS,
        "class Page:\n    def _repr_html_(self):\n"
        '        return \'<p id=mine>mine</p><img src=x onerror="document.title=1">'
        '<script>document.title=2</script><meta http-equiv=refresh content="0;url=/">'
        "<form action=/><button>send</button></form>'\n\nPage()",
    )
    title = lesson.page.title()
    shown = lesson.run(PRINTS)
    expect(shown.locator("#mine")).to_have_text("mine")
    expect(shown.locator("script, meta, form")).to_have_count(0)
    assert lesson.page.title() == title


# The front page -----------------------------------------------------------------------------------


def test_one_press_on_the_front_page_gives_a_card_and_a_mended_answer_another(
    chromium: Browser, host: Server
) -> None:
    host.asked.clear()
    with chromium.new_context() as context:
        page = Running(context, host, theme="dark", width=390)
        assert not [path for path in host.asked if "pyodide" in path or "editor" in path]
        page.press("Run Cell 1: softmax")
        card = page.ended("softmax")
        expect(card).to_contain_text("unstable-softmax")
        expect(page.page.get_by_text("Now mend it")).to_be_visible()
        for theme, width in (("dark", 390), ("light", 1280)):
            page.page.emulate_media(color_scheme=theme)  # type: ignore[arg-type]
            page.page.set_viewport_size({"width": width, "height": 844})
            expect(page.page.locator(f"html[data-theme={theme}]")).to_have_count(1)
            assert page.page.evaluate("document.documentElement.scrollWidth") <= width
            assert findings(page.page) == []
        card.locator("summary").click()
        link = card.get_by_role("link")
        assert (link.get_attribute("href") or "").startswith(
            f"notebooks/{FIRST}/{FIRST}.html#softmax"
        )
        code = page.code("softmax").input_value()
        page.write("softmax", code.replace("math.exp(score)", "math.exp(score - largest)"))
        expect(page.run("softmax")).to_contain_text("softmax: right · 2 of 2 points")
        expect(page.page.get_by_text("That is right")).to_be_visible()
        expect(page.page.get_by_text("Now mend it")).to_be_hidden()
        assert page.complaints == []


def test_from_a_file_it_says_how_to_get_a_server(chromium: Browser, built: Path) -> None:
    page = chromium.new_page()
    page.goto((built / FRONT).as_uri())
    expect(page.locator("[data-run]")).to_contain_text("python -m http.server")
    page.close()


def test_without_the_parts_the_site_is_for_reading_and_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(runs, "missing", lambda: ["pyodide"])
    site.lay_out(tmp_path)
    assert "for want of pyodide. To fetch it: python -m docs.npm" in capsys.readouterr().out
    pages = [
        path.read_text("utf-8") for path in tmp_path.rglob("*") if path.suffix in (".md", ".ipynb")
    ]
    assert len(pages) > len(slugs())
    assert not any("data-run" in page for page in pages)


# What goes wrong on the way -----------------------------------------------------------------------


def test_where_python_cannot_be_had_the_page_says_why(chromium: Browser, host: Server) -> None:
    with chromium.new_context() as context:
        none = "delete globalThis.WebAssembly"
        page = Running(context, host, before=none)
        page.press("Run Cell 1: softmax")
        expect(page.said("softmax")).to_contain_text("has no WebAssembly")
    with chromium.new_context() as context:
        page = Running(context, host)
        context.route("**/python_stdlib.zip", lambda route: route.abort())
        page.press("Run Cell 1: softmax")
        expect(page.said("softmax")).to_contain_text("the network seems to be gone")
        context.unroute("**/python_stdlib.zip")
        context.route("**/python_stdlib.zip", lambda route: route.fulfill(body="another"))
        page.press("Run Cell 1: softmax")
        expect(page.said("softmax")).to_contain_text("a newer version than this page")
        host.asked.clear()
        context.unroute("**/python_stdlib.zip")
        page.press("Run Cell 1: softmax")
        expect(page.ended("softmax")).to_contain_text("unstable-softmax")
        came = [path.rpartition("/")[2] for path in host.asked if "pyodide" in path]
        assert came == ["python_stdlib.zip"]  # what had come before was kept


def test_what_is_written_is_kept_until_it_is_cleared(chromium: Browser, host: Server) -> None:
    with chromium.new_context() as context:
        page, other = Running(context, host, of(FIRST)), Running(context, host, of(FIRST))
        page.write("softmax", "mine = 1")
        expect(other.cell("softmax")).to_contain_text("in another tab")
        page.cell("softmax-check").get_by_role("button", name="New cell").click()
        own = page.page.get_by_role("textbox", name="Your own cell")
        own.fill("check.inputs")
        page.reload()
        expect(own).to_have_value("check.inputs")
        expect(page.code("softmax")).to_have_value("mine = 1")
        page.cell("softmax").get_by_role("button", name="As handed out").click()
        expect(page.code("softmax")).to_have_value(re.compile("def softmax"))
        page.cell("softmax").get_by_role("button", name="As I wrote it").click()
        expect(page.code("softmax")).to_have_value("mine = 1")
        page.page.evaluate(
            """() => {
                const isMine = (name) => localStorage.getItem(name).includes("mine = 1");
                const [name] = Object.keys(localStorage).filter(isMine);
                const older = JSON.stringify({ source: "older = 1", from: "another" });
                localStorage.setItem(name, older);
                localStorage.setItem(`${name}gone`, older);
                localStorage.setItem(`${name}spoilt`, "{");
            }"""
        )
        page.reload()
        expect(page.code("softmax")).to_have_value("older = 1")
        expect(page.cell("softmax")).to_contain_text("The lesson has changed since you wrote this")
        expect(page.bar).to_contain_text("cannot be read any more")
        expect(page.bar.locator("details")).to_contain_text("older = 1")
        page.press("Clear what I wrote")
        expect(page.bar).to_contain_text("What you wrote is deleted")
        page.reload()
        assert (
            page.page.evaluate("Object.keys(localStorage).filter(n => n.startsWith('attnlab'))")
            == []
        )


def test_without_a_storage_it_says_so_and_goes_on(chromium: Browser, host: Server) -> None:
    off = "Object.defineProperty(window, 'localStorage', {get() { throw new Error('off'); }})"
    with chromium.new_context() as context:
        page = Running(context, host, before=off)
        page.write("softmax", "x = 1")
        expect(page.bar).to_contain_text("keeps nothing for this page")
