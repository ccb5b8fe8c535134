"""All of a learner's own lessons at once: run as they are, none written to, all cards on a page."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from attnlab.checks.card import Card
from attnlab.home import check_mine
from attnlab.home.check_mine import (
    WARNING,
    Checked,
    Run,
    Stopped,
    check_all,
    run_in_kernel,
    write_page,
)
from attnlab.home.commands import main
from attnlab.ipynb.words import POLICY
from attnlab.notebook import check_function
from attnlab.work.places import Course
from tests.course import tells
from tests.home import (
    ANSWER,
    OTHER,
    SLUG,
    cells_of,
    files_under,
    find,
    label,
    make_copies,
    own,
    save,
    write,
)
from tests.test_feedback import HOSTILE, Page


@pytest.fixture
def course(tmp_path: Path) -> Course:
    course = make_copies(tmp_path, SLUG, OTHER)
    write(course.notebook(SLUG), "softmax", ANSWER)
    return course


def shown(folder: Path, data: bytes, tick: Callable[[], None]) -> list[dict[str, Any]]:
    """A notebook after it ran, as far as its checks go: one has a card, one raised, one is mute."""
    card = {"text/plain": "1.5", "text/html": "<section>softmax: not right yet</section>"}
    outputs = {
        "softmax-check": [{"output_type": "execute_result", "data": card}],
        "hard_lookup-check": [{"output_type": "error", "ename": "NameError", "evalue": "<a>"}],
    }
    tick()
    return [cell | {"outputs": outputs.get(label(cell), [])} for cell in json.loads(data)["cells"]]


def showing(data: object, name: str = "softmax-check") -> Run:
    """A run in which one check shows this."""

    def run(folder: Path, notebook: bytes, tick: Callable[[], None]) -> list[dict[str, Any]]:
        cells: list[dict[str, Any]] = json.loads(notebook)["cells"]
        found = {"output_type": "display_data", "data": data}
        return [cell | {"outputs": [found]} for cell in cells if label(cell) == name]

    return run


def test_cards_and_points_are_those_of_the_checks(course: Course) -> None:
    [found] = check_all(course, [SLUG], shown)
    assert found.said == "1.5 of 6 points."
    assert found.cards == (
        "<p>The cell of the check stopped: <code>NameError: &lt;a&gt;</code></p>",
        "<section>softmax: not right yet</section>",
        "<p><code>soft_lookup</code> showed no card.</p>",
    )


def test_a_lesson_that_is_not_begun_is_not_run(course: Course) -> None:
    [found] = check_all(course, [OTHER], shown)
    assert tells(found.said, "No exercise", "written")


def test_a_lesson_that_is_answered_in_a_cell_of_ones_own_is_run(course: Course) -> None:
    save(course.notebook(OTHER), [*cells_of(course.notebook(OTHER)), own("def matmul(a, b): ...")])
    [found] = check_all(course, [OTHER], shown)
    assert found.cards


def test_broken_and_missing_notebooks_are_told_of(course: Course) -> None:
    course.notebook(SLUG).write_text("no")
    course.notebook(OTHER).unlink()
    broken, missing = check_all(course, [SLUG, OTHER], shown)
    assert "not JSON" in broken.said
    assert tells(missing.said, "not there", "`attnlab update`")


def test_a_kernel_that_dies_is_told_of(course: Course) -> None:
    def dies(folder: Path, data: bytes, tick: Callable[[], None]) -> list[dict[str, Any]]:
        raise Stopped("It died.")

    write(course.notebook(SLUG), "softmax-check", "2.0")
    [found] = check_all(course, [SLUG], dies)
    assert tells(found.said, "It died.", "not the course's", "`softmax-check` (edited).")


def test_the_page_replaces_its_own_and_keeps_what_a_person_put_there(course: Course) -> None:
    course.checks.write_text("a person's")
    for card in ("<p>first</p>", "<p>second</p>"):
        path = write_page(course, [Checked(SLUG, (card,), 1, 2)])
    page = path.read_text(encoding="utf-8")
    assert "<p>second</p>" in page
    assert "1 of 2 points" in page
    [kept] = course.backups.iterdir()
    assert kept.read_text() == "a person's"


def test_the_page_tells_when_how_much_and_leads_on(course: Course) -> None:
    done = Checked(SLUG, ("<p>card</p>",), 1, 2)
    found = [done, *check_all(course, [OTHER], shown)]
    page = write_page(course, found).read_text(encoding="utf-8")
    assert re.search(
        r"1 of 2 points in the lessons that were run, \d{4}-\d\d-\d\d, \d\d:\d\d", page
    )
    assert 'href="../attnlab"' in page
    assert f'<h2><a href="../lab/tree/{SLUG}/{SLUG}.ipynb">01 Soft lookup</a></h2>' in page
    assert "<h2>" not in page.partition("</h2>")[2]
    assert "Nothing is written yet in <a " in page


# said first ---------------------------------------------------------------------------------------


def graded(name: str, **more: Any) -> dict[str, Any]:
    """A check cell that the course has not."""
    note = {"grade": True, "grade_id": name, "points": 9, "locked": True, "solution": False}
    return own("6.0") | {"metadata": {"nbgrader": note | more}}


def test_that_code_runs_here_and_which_checks_are_not_the_courses_is_said_first(
    course: Course, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    cells = cells_of(course.notebook(SLUG))
    find(cells, "softmax-check")["source"] = "print(6)"
    find(cells, "hard_lookup-check")["metadata"]["nbgrader"]["grade"] = False
    find(cells, "soft_lookup-check")["source"] = "\ncheck(soft_lookup)  \n"  # no change at all
    save(course.notebook(SLUG), [*cells, graded("extra-check"), graded("\x1b[2J<b>-check")])
    said: list[str] = []

    def run(folder: Path, data: bytes, tick: Callable[[], None]) -> list[dict[str, Any]]:
        said.append(capsys.readouterr().out)
        return []

    monkeypatch.setattr(check_mine, "run_in_kernel", run)
    assert main(["--course", str(course.root), "check-mine"]) == 0
    assert said == [
        f"{WARNING}\n{SLUG}: Check cells that are not the course's: `hard_lookup-check` (edited), "
        "`softmax-check` (edited), `extra-check` (added), `\\x1b[2J<b>-check` (added).\n"
    ]
    page = course.checks.read_text(encoding="utf-8")
    assert "`softmax-check` (edited)" in page
    assert "<b>" not in page


def test_the_courses_own_checks_are_not_told_of(
    course: Course, capsys: pytest.CaptureFixture[str]
) -> None:
    write(course.notebook(SLUG), "softmax", "from __future__ import nothing")
    assert list(check_mine.told_first(course, [SLUG, OTHER])) == [WARNING]


# whatever a check shows ---------------------------------------------------------------------------


WORSE = [
    "</section></main></body><h1>All right",
    "<p style='position:fixed;background:url(//elsewhere)'>",
    "<meta http-equiv=refresh content='0;url=//elsewhere'>",
    "<form action=//elsewhere><button>",
    "<details open ontoggle=alert(1)>",
    "<svg><p><style><a id='</style><img src=x onerror=alert(1)>'>",
    "<!--><script>alert(1)</script>-->",
    "<iframe srcdoc='<script>alert(1)</script>'>",
    "\ud800\x00\x1b[2J<object data=//elsewhere>",
]
TAGS = {"html", "head", "meta", "title", "style", "body", "header", "h1", "h2", "p", "a", "em"}
TAGS |= {"main", "section", "strong", "code", "span", "details", "summary", "ul", "li"}
NAMES = {"lang", "charset", "http-equiv", "content", "name", "class", "href", "style"}
NAMES |= {"aria-label", "aria-hidden", "role"}


def page_of(course: Course, run: Run) -> str:
    write_page(course, list(check_all(course, [SLUG], run)))
    return course.checks.read_text(encoding="utf-8")


@pytest.mark.parametrize("text", [*HOSTILE, *WORSE])
@pytest.mark.parametrize("form", ["card", "error", "name", "problem"])
def test_whatever_a_check_shows_does_nothing_on_the_page(
    form: str, text: str, course: Course
) -> None:
    def raises(folder: Path, data: bytes, tick: Callable[[], None]) -> list[dict[str, Any]]:
        cells = [cell for cell in json.loads(data)["cells"] if label(cell) == "softmax-check"]
        error = {"output_type": "error", "ename": text, "evalue": text, "traceback": [text]}
        return [cell | {"outputs": [error]} for cell in cells]

    def stops(folder: Path, data: bytes, tick: Callable[[], None]) -> list[dict[str, Any]]:
        raise Stopped(text)

    save(course.notebook(SLUG), [*cells_of(course.notebook(SLUG)), graded(f"{text}-check")])
    runs = {"card": showing({"text/html": text}), "error": raises, "problem": stops}
    page = page_of(course, runs.get(form, showing({}, f"{text}-check")))
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]", page)
    read = Page(page)
    assert {tag for tag, _ in read.elements} <= TAGS
    assert {name for _, given in read.elements for name in given} <= NAMES
    assert all(given.get("href", "../").startswith("../") for _, given in read.elements)
    assert not any(re.search(r"url|position", given.get("style", "")) for _, given in read.elements)
    assert read.comments == []
    assert len([tag for tag, _ in read.elements if tag in ("h1", "style", "main")]) == 3


def test_the_page_has_the_policy_of_the_feedback_pages(course: Course) -> None:
    head = page_of(course, shown).partition("<title>")[0]
    assert POLICY in head
    assert "default-src 'none'" in POLICY


def test_a_real_card_is_shown_as_it_is(course: Course) -> None:
    card: Card = check_function(lambda scores: scores, name="softmax", lesson=SLUG)
    html = card._repr_mimebundle_()["text/html"]
    [found] = next(check_all(course, [SLUG], showing({"text/html": html}))).cards
    tidy = re.sub(r' href="#[^"]*"|;background:[^"]*', "", html)  # to a heading of the notebook
    assert found.replace(';"', '"') == tidy.replace("&#x27;", "'").replace("&quot;", '"')


def test_a_card_without_end_is_not_shown(course: Course) -> None:
    [found] = next(check_all(course, [SLUG], showing({"text/html": "<p>" * 10**6}))).cards
    assert tells(found, "<p>", "too long", "</p>")


@pytest.mark.parametrize("data", [None, [], "text/html", {"text/html": ["<b>"]}, {"text/html": 5}])
def test_what_is_no_output_is_no_card(data: object, course: Course) -> None:
    assert len(next(check_all(course, [SLUG], showing(data))).cards) == 1


def test_points_are_the_courses_and_no_more(course: Course) -> None:
    cells = cells_of(course.notebook(SLUG))
    softmax = find(cells, "softmax-check")
    softmax["metadata"]["nbgrader"]["points"] = "many"
    forged = {"outputs": [{"output_type": "display_data", "data": {"text/html": "6"}}]}
    cells += [graded("extra-check"), graded("said-check") | forged | {"cell_type": "markdown"}]
    save(course.notebook(SLUG), [*cells, {**softmax, "id": "again"}])

    def run(folder: Path, data: bytes, tick: Callable[[], None]) -> list[dict[str, Any]]:
        all_right = {"text/plain": "900.0", "text/html": "<p>right</p>"}
        return [
            cell | {"outputs": [{"output_type": "execute_result", "data": all_right}]}
            for cell in json.loads(data)["cells"]
        ]

    found = next(check_all(course, [SLUG], run))
    assert (found.score, found.points, len(found.cards)) == (6, 6, 4)


def test_a_notebook_that_jupyter_cannot_take_is_told_of(course: Course) -> None:
    save(course.notebook(SLUG), [*cells_of(course.notebook(SLUG)), {"cell_type": 5}, 7])  # type: ignore[list-item]
    assert "could not be run to its end" in next(check_all(course, [SLUG])).said


def test_no_such_lesson_is_said(course: Course, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--course", str(course.root), "check-mine", "6"]) == 1
    assert "Do you mean 06-causal-mask?" in capsys.readouterr().err


@pytest.mark.slow
def test_a_real_kernel_runs_it_and_writes_no_notebook(
    course: Course, capfd: pytest.CaptureFixture[str]
) -> None:
    before = files_under(course.work)
    assert main(["--course", str(course.root), "check-mine", SLUG, OTHER]) == 0
    told = capfd.readouterr()
    assert f"{SLUG}: " in told.out
    assert f"\nNothing is written yet in {OTHER}.\n" in told.out
    assert "WARNING" not in told.err  # of a kernel's
    after = files_under(course.work)
    page = after.pop(course.checks.name).decode()
    assert page.count("<section") == 3
    assert "softmax: not right yet" in page
    noted = after.pop(".attnlab/progress.jsonl").decode().splitlines()
    assert json.loads(noted[0])["status"] == "BEGUN"
    assert after == before


def test_what_is_nested_too_deeply_is_no_card(course: Course) -> None:
    [found] = check_all(course, [SLUG], showing({"text/html": "<p>" * 6000}))
    assert tells(found.cards[0], "too long", "card")


@pytest.mark.slow
def test_what_is_printed_for_ever_fills_no_memory(tmp_path: Path) -> None:
    html = "from IPython.display import HTML, display\n"
    sources = [
        "for _ in range(10_000): print('x' * 1000)",
        f"{html}for at in range(100): display(HTML(str(at)))",
        f"{html}display(HTML('x' * 2_000_000), HTML('a card'))",
        "raise ValueError('x' * 1_000_000)",
    ]
    empty: dict[str, object] = {"cell_type": "code", "metadata": {}, "outputs": []}
    cells = [{**empty, "source": source, "execution_count": None} for source in sources]
    data = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 4}
    ran = run_in_kernel(tmp_path, json.dumps(data).encode(), lambda: None)
    printed, shown, last, [raised] = (cell["outputs"] for cell in ran)
    assert printed == []
    assert len(shown) == 20
    assert [output["data"]["text/html"] for output in last] == ["a card"]
    assert len(str(raised)) < 3000
