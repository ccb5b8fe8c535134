"""Handing in: looked through first, one zip that an LMS and the grader take; or the exchange."""

from __future__ import annotations

import io
import os
import re
import shutil
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from nbgrader.utils import notebook_hash

from attnlab.home.commands import main
from attnlab.home.exchange import returned
from attnlab.home.hand_in import hand_in
from attnlab.home.page import Links, home
from attnlab.ipynb.read import Unreadable, read
from attnlab.ipynb.which import is_of
from attnlab.ipynb.zipped import unzipped, zipped
from attnlab.work import progress
from attnlab.work.places import Course, Refused
from autograder.sandbox.limits import Limits
from autograder.submission import handed_in as submitting
from tests.course import tells
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


def made(course: Course) -> bytes:
    """The notebook in what was made to hand in."""
    return unzipped(course.handed_in(SLUG).read_bytes(), f"{SLUG}/{SLUG}.ipynb")


def test_the_zip_is_what_the_grader_takes(course: Course, tmp_path: Path) -> None:
    for name in EXERCISES:
        write(course.notebook(SLUG), name, f"{name} = 'mine'")
    said = hand_in(course, SLUG)
    first, whole, last = said
    assert tells(first, "Hand in", f"work/hand-in/{SLUG}.zip")
    assert tells(whole, "written", "whole")
    assert tells(last, f"`attnlab check-mine {SLUG}`")
    assert made(course) == course.notebook(SLUG).read_bytes()
    place = tmp_path / "submitted" / "ann" / SLUG
    place.mkdir(parents=True)
    shutil.copy(course.handed_in(SLUG), place)
    found = submitting.found(tmp_path / "submitted", "ann", SLUG, Limits())
    assert isinstance(found.content, bytes)
    assert is_of(read(found.content), read(course.notebook(SLUG).read_bytes()))


def test_the_same_is_the_same_file_and_an_older_version_s_folder_stays(course: Course) -> None:
    older = course.hand_ins / SLUG / f"{SLUG}.ipynb"
    older.parent.mkdir(parents=True)
    older.write_text("mine")
    hand_in(course, SLUG)
    first = course.handed_in(SLUG).read_bytes()
    course.handed_in(SLUG).unlink()
    hand_in(course, SLUG)
    assert course.handed_in(SLUG).read_bytes() == first
    assert older.read_text() == "mine"


def test_what_is_not_written_or_not_right_is_said(course: Course) -> None:
    write(course.notebook(SLUG), "softmax", ANSWER)
    progress.note(SLUG, "softmax", "FAIL", 1, 2)
    said = hand_in(course, SLUG)
    assert tells(
        " ".join(said), "Not written", "`hard_lookup`, `soft_lookup`.", "right", "`softmax`."
    )


def test_cells_that_are_not_whole_are_said(course: Course) -> None:
    cells = cells_of(course.notebook(SLUG))
    find(cells, "softmax-check")["source"] = "2.0"
    save(course.notebook(SLUG), [cell for cell in cells if label(cell) != "hard_lookup"])
    said = " ".join(hand_in(course, SLUG))
    assert tells(said, "gone: `hard_lookup`", "softmax-check")


BRACKET = "def softmax(scores):\n    return [score for score in scores"
MAGIC = "%timeit 1\n!ls\nfiles = !ls\nsoftmax?\nawait something()"


def test_a_cell_that_is_no_python_is_named_with_its_line(course: Course) -> None:
    for name in EXERCISES:
        write(course.notebook(SLUG), name, f"{name} = 'mine'")
    write(course.notebook(SLUG), "softmax", BRACKET)
    cells = [own(MAGIC), own("%%bash\nls ("), *cells_of(course.notebook(SLUG))]
    save(course.notebook(SLUG), [*cells, own("\nx = 1\ny = = 2"), own("a (", "markdown")])
    said = hand_in(course, SLUG)
    assert tells(
        said[1],
        *("not Python", "`softmax`, line 2", "▸[score for score in scores`", "never closed"),
        *("your cell `x = 1`, line 3", "`y = ▸= 2`", "invalid syntax"),
    )
    assert "whole" not in " ".join(said)


@pytest.mark.parametrize("added", [".json", ".txt"])
def test_a_notebook_to_whose_name_a_browser_added_is_found(course: Course, added: str) -> None:
    path = course.notebook(SLUG)
    path.rename(path.with_name(f"{path.name}{added}"))
    with pytest.raises(Refused, match=rf"Also of this lesson: work/{SLUG}/{SLUG}.ipynb{added}\."):
        hand_in(course, SLUG)


def test_nothing_written_is_said_first(course: Course) -> None:
    first, *others = hand_in(course, SLUG)
    assert tells(first, "Nothing", f"work/{SLUG}/{SLUG}.ipynb")
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
    own, mine = f"work/{SLUG}/{SLUG}.ipynb", f"work/{SLUG}/mine.ipynb."
    made_before = f"work/hand-in/{SLUG}.zip"
    said = str(refused.value)
    assert tells(said, "Nothing", own, mine, "move it", own, "stays", made_before, "move that away")
    assert course.handed_in(SLUG).read_bytes() == before
    course.handed_in(SLUG).unlink()
    hand_in(course, SLUG)
    assert made(course) == path.read_bytes()


def test_an_empty_lesson_replaces_an_empty_one(course: Course) -> None:
    hand_in(course, SLUG)
    before = made(course)
    save(course.notebook(SLUG), [*cells_of(course.notebook(SLUG)), own("A note.", "markdown")])
    hand_in(course, SLUG)
    assert made(course) == course.notebook(SLUG).read_bytes() != before


def test_an_answer_in_a_cell_of_ones_own_is_written(course: Course) -> None:
    save(course.notebook(SLUG), [*cells_of(course.notebook(SLUG)), own(ANSWER)])
    assert hand_in(course, SLUG)[0].startswith("Hand in the file")


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
        assert tells(told.out + told.err, "no copies", "`attnlab update`")
        assert (told.out + told.err).count("\n") == 1


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
    assert "Hand in the file" in capsys.readouterr().out
    assert main(["hand-in", "softlookup"]) == 1
    assert "Do you mean 01-soft-lookup?" in capsys.readouterr().err
    course.notebook(SLUG).unlink()
    assert main(["hand-in", SLUG]) == 1
    assert "is not there." in capsys.readouterr().err


def test_the_home_has_a_button_for_each_lesson_that_was_begun(course: Course) -> None:
    progress.note(SLUG, "softmax", "FAIL", 1, 2)
    page = home(course, Links("/user/ann/"), xsrf='<input name="_xsrf">', said=["Done `it`."])
    assert page.count('action="/user/ann/attnlab/hand-in"') == 1
    assert '<form method="post" action="/user/ann/attnlab/hand-in"><input name="_xsrf">' in page
    assert f'name="lesson" value="{SLUG}"' in page
    assert "Done <code>it</code>." in page
    assert "<form" not in "".join(re.findall("<details>.*?</details>", page))  # seen at once
    assert "download" not in page.partition("<body>")[2].replace("to download", "")
    hand_in(course, SLUG)
    address = f"/user/ann/attnlab/hand-in/{SLUG}.zip"
    assert f'<a href="{address}" download>' in home(course, Links("/user/ann/"))


def packed(method: int, flags: int = 0, damaged: bool = False) -> bytes:
    """A zip that has the notebook, packed in a way of its own."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", min(method, zipfile.ZIP_LZMA)) as archive:
        archive.writestr(f"{SLUG}/{SLUG}.ipynb", b"{}" * 50)
    data = bytearray(made.getvalue())
    for begins, at in ((b"PK\3\4", 6), (b"PK\1\2", 8)):
        start = data.index(begins) + at
        data[start] |= flags
        data[start + 2] = method
    if damaged:
        first = data.index(b".ipynb") + len(".ipynb")
        data[first : first + 4] = bytes(4)
    return bytes(data)


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "no zip, or cut short"),
        (b"PK", "no zip, or cut short"),
        (zipped({"other": b"1"}), "There is no"),
        (zipped({"x": b""})[:-5], "no zip, or cut short"),
        (packed(zipfile.ZIP_BZIP2), "packed in a way that is not read"),
        (packed(zipfile.ZIP_LZMA), "packed in a way that is not read"),
        (packed(zipfile.ZIP_BZIP2, damaged=True), "packed in a way that is not read"),
        (packed(zipfile.ZIP_LZMA, damaged=True), "packed in a way that is not read"),
        (packed(99), "packed in a way that is not read"),
        (packed(zipfile.ZIP_DEFLATED, flags=1), "It needs a password"),
        (packed(zipfile.ZIP_DEFLATED, damaged=True), "damaged in its zip"),
    ],
)  # fmt: skip
def test_a_zip_that_has_not_the_notebook_is_theirs_all_the_same(
    data: bytes, said: str, course: Course
) -> None:
    with pytest.raises(Unreadable, match=said):
        unzipped(data, f"{SLUG}/{SLUG}.ipynb")
    course.hand_ins.mkdir()
    course.handed_in(SLUG).write_bytes(data)
    with pytest.raises(Refused, match="What you made before stays in"):
        hand_in(course, SLUG)
    assert course.handed_in(SLUG).read_bytes() == data


# nbgrader's exchange ----------------------------------------------------------------------------


@pytest.fixture
def exchange(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An exchange that has released the lesson, and Jupyter's settings that name it."""
    root = tmp_path / "exchange"
    for folder in ("inbound", f"outbound/{SLUG}"):
        (root / "attention" / folder).mkdir(parents=True)
    root.chmod(0o777)
    settings = tmp_path / "settings"
    settings.mkdir()
    (settings / "nbgrader_config.py").write_text(
        "c = get_config()\n"
        "c.CourseDirectory.course_id = 'attention'\n"
        f"c.Exchange.root = {str(root)!r}\n"
        f"c.Exchange.cache = {str(tmp_path / 'cache')!r}\n"
    )
    monkeypatch.setenv("JUPYTER_CONFIG_DIR", str(settings))
    return root


def test_where_there_is_an_exchange_the_lesson_is_submitted_to_it(
    exchange: Path, course: Course
) -> None:
    write(course.notebook(SLUG), "softmax", ANSWER)
    (course.work / SLUG / "notes.txt").write_text("mine")
    said = hand_in(course, SLUG)
    zip_path = f"work/hand-in/{SLUG}.zip"
    assert tells(said[0], "Submitted", "exchange", "course attention", "2", "copy", zip_path)
    [submitted] = (exchange / "attention" / "inbound").iterdir()
    assert f"+{SLUG}+" in submitted.name
    there = {path.name for path in submitted.iterdir()}
    assert there == {f"{SLUG}.ipynb", "timestamp.txt", "submission_secret.txt"}
    mine = course.notebook(SLUG).read_bytes()
    assert (submitted / f"{SLUG}.ipynb").read_bytes() == mine == made(course)


def test_an_exchange_that_does_not_take_it_is_said_and_there_is_the_zip(
    exchange: Path, course: Course
) -> None:
    shutil.rmtree(exchange / "attention" / "outbound")
    write(course.notebook(SLUG), "softmax", ANSWER)
    first, *_ = hand_in(course, SLUG)
    zip_path = f"work/hand-in/{SLUG}.zip"
    assert tells(first, "not submitted", "Assignment not found: ", "Hand in", zip_path)
    assert made(course) == course.notebook(SLUG).read_bytes()


def test_settings_that_are_broken_are_said(exchange: Path, course: Course, tmp_path: Path) -> None:
    (tmp_path / "settings" / "nbgrader_config.py").write_text("1 / 0")
    write(course.notebook(SLUG), "softmax", ANSWER)
    assert "its settings stop with ZeroDivisionError" in hand_in(course, SLUG)[0]


def no_folder(exchange: Path) -> None:
    shutil.rmtree(exchange)


def no_course(exchange: Path) -> None:
    path = exchange.parent / "settings" / "nbgrader_config.py"
    path.write_text(path.read_text().replace("'attention'", "''"))


@pytest.mark.parametrize("undo", [no_folder, no_course], ids=lambda undo: undo.__name__)
def test_an_exchange_that_is_not_there_is_none(
    undo: Callable[[Path], None], exchange: Path, course: Course
) -> None:
    undo(exchange)
    write(course.notebook(SLUG), "softmax", ANSWER)
    assert hand_in(course, SLUG)[0].startswith("Hand in the file")


def test_an_exchange_that_may_not_be_written_to_is_said(
    exchange: Path, course: Course, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "access", lambda path, mode: Path(path) != exchange)  # root may always
    write(course.notebook(SLUG), "softmax", ANSWER)
    facts = (exchange, "not be written to", "Hand in", f"work/hand-in/{SLUG}.zip")
    assert tells(hand_in(course, SLUG)[0], "not submitted", *facts)


def released(exchange: Path, page: bytes) -> Path:
    """Put a page about the only hand-in where nbgrader releases it."""
    [submitted] = (exchange / "attention" / "inbound").iterdir()
    secret = (submitted / "submission_secret.txt").read_text()
    path = exchange / "attention" / "feedback" / f"{notebook_hash(secret=secret, notebook_id=SLUG)}"
    path.parent.mkdir(exist_ok=True)
    path = path.with_suffix(".html")
    path.write_bytes(page)
    return path


def test_the_home_links_to_the_page_that_came_back(exchange: Path, course: Course) -> None:
    assert returned() == {}
    write(course.notebook(SLUG), "softmax", ANSWER)
    progress.note(SLUG, "softmax", "FAIL", 1, 2)
    hand_in(course, SLUG)
    (exchange / "attention" / "feedback").mkdir()
    assert returned() == {}
    path = released(exchange, b"<p>Well done.</p>")
    assert returned() == {SLUG: path}
    assert f'href="/user/ann/attnlab/returned/{SLUG}"' in home(
        course, Links("/user/ann/"), back=returned()
    )
    assert "/returned/" not in home(course, Links("/user/ann/"))


def test_what_nbgrader_cannot_read_of_ones_own_brings_nothing_back(
    exchange: Path, course: Course, tmp_path: Path
) -> None:
    (exchange / "attention" / "feedback").mkdir()
    (tmp_path / "cache" / "attention" / f"a+b+{SLUG}+2026-01-01 00:00:00 UTC").mkdir(parents=True)
    assert returned() == {}


def test_without_nbgrader_there_is_no_exchange(
    exchange: Path, course: Course, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "nbgrader.exchange", None)
    write(course.notebook(SLUG), "softmax", ANSWER)
    assert hand_in(course, SLUG)[0].startswith("Hand in the file")
