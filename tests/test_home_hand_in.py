"""Handing in: looked through first, made as an instructor's class/submitted/ takes it."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from attnlab.home import progress
from attnlab.home.commands import main
from attnlab.home.hand_in import hand_in
from attnlab.home.page import Links, home
from attnlab.home.places import Course, Refused
from autograder.sandbox.limits import Limits
from autograder.submission.lessons import lesson_of
from tests.home import (
    ANSWER,
    OTHER,
    SLUG,
    cells_of,
    find,
    label,
    make_copies,
    make_home,
    own,
    save,
    updated,
    write,
)

EXERCISES = ("hard_lookup", "softmax", "soft_lookup")


@pytest.fixture
def course(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Course:
    course = make_copies(tmp_path, SLUG, OTHER)
    monkeypatch.chdir(course.work)
    return course


def test_the_folder_is_what_the_grader_takes(course: Course) -> None:
    for name in EXERCISES:
        write(course.notebook(SLUG), name, f"{name} = 'mine'")
    said = hand_in(course, SLUG)
    assert said[0].startswith(f"Hand in the folder work/hand-in/{SLUG}/ as it is.")
    assert said[1] == "Every exercise is written, and every cell is whole."
    assert said[2:] == [
        f"Whether it is right as it is saved now, `attnlab check-mine {SLUG}` tells."
    ]
    assert course.handed_in(SLUG).read_bytes() == course.notebook(SLUG).read_bytes()
    assert lesson_of(course.handed_in(SLUG), course.handed_in(SLUG).read_bytes(), Limits()) == SLUG


def test_what_is_not_written_or_not_right_is_said(course: Course) -> None:
    write(course.notebook(SLUG), "softmax", ANSWER)
    progress.note(SLUG, "softmax", "FAIL", 1, 2)
    said = hand_in(course, SLUG)
    assert "Not written yet: `hard_lookup`, `soft_lookup`." in said
    assert "No check of these was right so far: `softmax`." in said


def test_cells_that_are_not_whole_are_said(course: Course) -> None:
    cells = cells_of(course.notebook(SLUG))
    find(cells, "softmax-check")["source"] = "2.0"
    save(course.notebook(SLUG), [cell for cell in cells if label(cell) != "hard_lookup"])
    said = " ".join(hand_in(course, SLUG))
    assert "The cell to write in is gone: `hard_lookup`." in said
    assert "The grader will put right what was changed: softmax-check: source restored." in said


BRACKET = "def softmax(scores):\n    return [score for score in scores"
MAGIC = "%timeit 1\n!ls\nfiles = !ls\nsoftmax?\nawait something()"


def test_a_cell_that_is_no_python_is_named_with_its_line(course: Course) -> None:
    for name in EXERCISES:
        write(course.notebook(SLUG), name, f"{name} = 'mine'")
    write(course.notebook(SLUG), "softmax", BRACKET)
    cells = [own(MAGIC), own("%%bash\nls ("), *cells_of(course.notebook(SLUG))]
    save(course.notebook(SLUG), [*cells, own("\nx = 1\ny = = 2"), own("a (", "markdown")])
    said = hand_in(course, SLUG)
    assert said[1] == (
        "This stops with an error, and what it defines is not there: "
        "`softmax`, line 2 ('[' was never closed), your cell `x = 1`, line 3 (invalid syntax)."
    )
    assert "whole" not in " ".join(said)


def test_nothing_written_is_said_first(course: Course) -> None:
    first, *others = hand_in(course, SLUG)
    assert first == f"Nothing is written in work/{SLUG}/{SLUG}.ipynb yet."
    assert "check-mine" not in " ".join(others)


def test_an_empty_lesson_replaces_no_answers_until_they_are_moved_away(course: Course) -> None:
    path = course.notebook(SLUG)
    write(path, "softmax", ANSWER)
    hand_in(course, SLUG)
    before = course.handed_in(SLUG).read_bytes()
    path.rename(path.with_name("mine.ipynb"))
    updated(course)
    with pytest.raises(Refused) as refused:
        hand_in(course, SLUG)
    assert str(refused.value) == (
        f"Nothing is written in work/{SLUG}/{SLUG}.ipynb yet. Also of this lesson: "
        f"work/{SLUG}/mine.ipynb. To go on there, move it to work/{SLUG}/{SLUG}.ipynb. "
        f"What you made before stays in work/hand-in/{SLUG}/. To hand in the empty lesson, "
        "move that away first."
    )
    assert course.handed_in(SLUG).read_bytes() == before
    shutil.rmtree(course.handed_in(SLUG).parent)
    hand_in(course, SLUG)
    assert course.handed_in(SLUG).read_bytes() == path.read_bytes()


def test_an_empty_lesson_replaces_an_empty_one(course: Course) -> None:
    hand_in(course, SLUG)
    before = course.handed_in(SLUG).read_bytes()
    save(course.notebook(SLUG), [*cells_of(course.notebook(SLUG)), own("A note.", "markdown")])
    hand_in(course, SLUG)
    assert course.handed_in(SLUG).read_bytes() == course.notebook(SLUG).read_bytes() != before


def test_an_answer_in_a_cell_of_ones_own_is_written(course: Course) -> None:
    save(course.notebook(SLUG), [*cells_of(course.notebook(SLUG)), own(ANSWER)])
    assert hand_in(course, SLUG)[0].startswith("Hand in the folder")


def test_long_lists_are_cut(course: Course) -> None:
    cells = cells_of(course.notebook(SLUG))
    save(course.notebook(SLUG), [cell for cell in cells if label(cell) in EXERCISES])
    [line] = [line for line in hand_in(course, SLUG) if "put right" in line]
    assert re.search(r"; and \d+ more\.$", line)
    assert line.count(";") == 5


def test_without_copies_there_is_one_thing_to_do(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    course = make_home(tmp_path / "new")
    for command in (["hand-in", SLUG], ["check-mine"]):
        assert main(["--course", str(course.root), *command]) == 1
        told = capsys.readouterr()
        assert told.out + told.err == (
            "You have no copies of the lessons yet. Run `attnlab update` first.\n"
        )


def test_what_was_made_before_is_kept(course: Course) -> None:
    hand_in(course, SLUG)
    first = course.handed_in(SLUG).read_bytes()
    hand_in(course, SLUG)
    assert not course.backups.exists()
    write(course.notebook(SLUG), "softmax", ANSWER)
    said = hand_in(course, SLUG)
    [kept] = course.backups.iterdir()
    assert kept.name in said[-1]
    assert kept.read_bytes() == first


def test_the_command_says_the_same(course: Course, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["hand-in", SLUG]) == 0
    assert "Hand in the folder" in capsys.readouterr().out
    assert main(["hand-in", "softlookup"]) == 1
    assert "Do you mean 01-soft-lookup?" in capsys.readouterr().err
    course.notebook(SLUG).unlink()
    assert main(["hand-in", SLUG]) == 1
    assert "is not there." in capsys.readouterr().err


def test_the_home_has_a_button_for_each_lesson_that_was_begun(course: Course) -> None:
    progress.note(SLUG, "softmax", "FAIL", 1, 2)
    page = home(course, Links("/user/ann/"), xsrf='<input name="_xsrf">', said=["Done `it`."])
    assert page.count("<form") == 1
    assert '<form method="post" action="/user/ann/attnlab/hand-in"><input name="_xsrf">' in page
    assert f'name="lesson" value="{SLUG}"' in page
    assert "Done <code>it</code>." in page
    assert "<form" not in "".join(re.findall("<details>.*?</details>", page))  # seen at once
