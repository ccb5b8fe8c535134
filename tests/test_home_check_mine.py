"""All of a learner's own lessons at once: run as they are, none written to, all cards on a page."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from attnlab.home.check_mine import Checked, Stopped, check_all, write_page
from attnlab.home.commands import main
from attnlab.home.places import Course
from tests.home import ANSWER, SLUG, cells_of, files_under, label, make_home, updated, write

OTHER = "02-pure-python"


@pytest.fixture
def course(tmp_path: Path) -> Course:
    course = make_home(tmp_path, SLUG, OTHER)
    updated(course)
    write(course.notebook(SLUG), "softmax", ANSWER)
    return course


def shown(path: Path, tick: Callable[[], None]) -> list[dict[str, Any]]:
    """A notebook after it ran, as far as its checks go: one has a card, one raised, one is mute."""
    data = {"text/plain": "1.5", "text/html": "<section>softmax: not right yet</section>"}
    outputs = {
        "softmax-check": [{"output_type": "execute_result", "data": data}],
        "hard_lookup-check": [{"output_type": "error", "ename": "NameError", "evalue": "<a>"}],
    }
    tick()
    return [cell | {"outputs": outputs.get(label(cell), [])} for cell in cells_of(path)]


def test_cards_and_points_are_those_of_the_checks(course: Course) -> None:
    [found] = check_all(course, [SLUG], shown)
    assert found.said == "1.5 of 6 points"
    assert found.cards == (
        "<p>The cell of the check stopped: <code>NameError: &lt;a&gt;</code></p>",
        "<section>softmax: not right yet</section>",
        "<p><code>soft_lookup</code> showed no card.</p>",
    )


def test_a_lesson_that_is_not_begun_is_not_run(course: Course) -> None:
    [found] = check_all(course, [OTHER], shown)
    assert found.said == "No exercise is written yet."


def test_broken_and_missing_notebooks_are_told_of(course: Course) -> None:
    course.notebook(SLUG).write_text("no")
    course.notebook(OTHER).unlink()
    broken, missing = check_all(course, [SLUG, OTHER], shown)
    assert "not JSON" in broken.said
    assert "is not there. For a fresh copy: `attnlab update`." in missing.said


def test_a_kernel_that_dies_is_told_of(course: Course) -> None:
    def dies(path: Path, tick: Callable[[], None]) -> list[dict[str, Any]]:
        raise Stopped("It died.")

    [found] = check_all(course, [SLUG], dies)
    assert found.said == "It died."


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
