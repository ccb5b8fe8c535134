"""What lies in work/ may be anything: nobody waits for it, and no link is written through."""

from __future__ import annotations

import ast
import errno
import json
import os
import socket
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

import attnlab
from attnlab.home import doctor
from attnlab.home.check_mine import Checked, check_all, write_page
from attnlab.home.copies import update
from attnlab.home.hand_in import hand_in
from attnlab.home.keepsake import keep
from attnlab.home.page import Links, home
from attnlab.home.report import report
from attnlab.ipynb.files import NotWritten
from attnlab.ipynb.read import Unreadable
from attnlab.ipynb.zipped import unzipped
from attnlab.work import progress
from attnlab.work.places import Course, Refused
from autograder.sandbox.limits import Limits
from autograder.submission import handed_in
from tests.course import ROOT, tells
from tests.home import (
    ANSWER,
    SLUG,
    cells_of,
    evenly,
    files_under,
    find,
    listening,
    make_copies,
    own,
    save,
    source,
    updated,
    write,
)

pytestmark = pytest.mark.timeout(60)  # of a pipe that somebody waits for

NOTEBOOK = f"{SLUG}/{SLUG}.ipynb"


@pytest.fixture
def course(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Course:
    """A course whose learner has written something, handed it in and had it checked."""
    course = make_copies(tmp_path / "course")
    write(course.notebook(SLUG), "softmax", ANSWER)
    monkeypatch.chdir(course.work)
    progress.note(SLUG, "softmax", "FAIL", 1, 2)
    hand_in(course, SLUG)
    write_page(course, [])
    return course


def release_again(course: Course) -> None:
    path = course.released / NOTEBOOK
    save(path, [*cells_of(path), own("# Newer", "markdown")])


# whatever is in a file's place -------------------------------------------------------------------


def pipe(path: Path) -> None:
    os.mkfifo(path)


def folder(path: Path) -> None:
    path.mkdir()


def device(path: Path) -> None:
    path.symlink_to("/dev/null")  # of /dev/zero, there would be no end


def linked_pipe(path: Path) -> None:
    os.mkfifo(path.with_name("a pipe"))
    path.symlink_to("a pipe")


def plug(path: Path) -> None:
    here = os.getcwd()
    os.chdir(path.parent)  # a socket's path has to be short
    try:
        socket.socket(socket.AF_UNIX).bind(path.name)
    finally:
        os.chdir(here)


def huge(path: Path) -> None:
    with open(path, "wb") as file:
        file.truncate(Limits().notebook_bytes + 1)


ODD: dict[Callable[[Path], None], str] = {
    pipe: "is a named pipe, not a file.",
    folder: "is a folder, not a file.",
    device: "is a link, which is not followed.",
    linked_pipe: "is a link, which is not followed.",
    plug: "is a socket, not a file.",
    huge: "The file has 64.0 MB; one of up to 64 MB is read.",
}
odd = pytest.mark.parametrize("make", ODD, ids=lambda make: make.__name__)


def put(course: Course, place: str, make: Callable[[Path], None]) -> str:
    """Put something into a file's place; what is told of it."""
    path = course.work / place
    path.unlink(missing_ok=True)
    make(path)
    return ODD[make]


@odd
def test_a_lesson_that_is_no_file_is_told_of_alike_by_all(
    make: Callable[[Path], None], course: Course
) -> None:
    said = put(course, NOTEBOOK, make)
    assert "Soft lookup" in home(course, Links())
    with pytest.raises(Refused) as refused:
        hand_in(course, SLUG)
    told = [str(refused.value), next(check_all(course, [SLUG])).said, *updated(course)]
    told += [found.what for found in doctor.lessons(course) if NOTEBOOK in found.what]
    assert len(told) == 4
    for line in told:
        assert f"work/{NOTEBOOK} cannot be read: " in line
        assert said in line
        assert f"Older ones of yours: work/hand-in/{SLUG}.zip" in line


@odd
def test_a_notebook_of_another_name_that_is_no_file_is_passed_over(
    make: Callable[[Path], None], course: Course
) -> None:
    put(course, f"{SLUG}/mine.ipynb", make)
    course.notebook(SLUG).unlink()
    with pytest.raises(Refused, match=r"is not there\. For a fresh copy: `attnlab update`\."):
        hand_in(course, SLUG)
    assert tells(" ".join(updated(course)), f"work/{NOTEBOOK}", "gone", "fresh")


@odd
def test_progress_that_is_no_file_is_told_of_and_what_a_check_finds_is_remembered(
    make: Callable[[Path], None], course: Course
) -> None:
    said = put(course, ".attnlab/progress.jsonl", make).rstrip(".")
    assert said in home(course, Links())
    assert said in next(doctor.progress(course)).what
    if make is not huge:
        assert not progress.note(SLUG, "softmax", "PASS", 2, 2)
        assert [record.status for record in progress.here().records] == ["PASS"]


@odd
def test_what_was_made_before_and_is_no_file_is_not_replaced(
    make: Callable[[Path], None], course: Course
) -> None:
    said = put(course, f"hand-in/{SLUG}.zip", make)
    with pytest.raises(Refused) as refused:
        hand_in(course, SLUG)
    assert f"work/hand-in/{SLUG}.zip cannot be read: " in str(refused.value)
    assert said in str(refused.value)
    said = put(course, "my-checks.html", make)
    with pytest.raises(NotWritten, match=said.rstrip(".")):
        write_page(course, [])


@odd
def test_a_glossary_that_is_no_file_is_left_and_told_of(
    make: Callable[[Path], None], course: Course
) -> None:
    said = put(course, "glossary.md", make)
    [line] = updated(course)
    assert line.startswith("Left as it is: work/glossary.md cannot be read: ")
    assert said in line


@odd
def test_a_release_that_is_no_file_is_an_unknown_one(
    make: Callable[[Path], None], course: Course
) -> None:
    put(course, f".attnlab/released/{NOTEBOOK}", make)
    release_again(course)
    with suppress(NotWritten):  # through a link, or over a folder
        updated(course)
    now = cells_of(course.notebook(SLUG))
    assert source(find(now, "softmax")) == ANSWER
    assert "# Newer" in map(source, now)


def test_solutions_that_are_linked_or_too_large_are_not_read(course: Course) -> None:
    good = json.dumps({"solutions": {SLUG: {"softmax": {"code": "", "why": ""}}}})
    path, other = course.work / "solutions.json", course.root / "elsewhere.json"
    other.write_text(good)
    path.symlink_to(other)
    assert tells(str(attnlab.solution("softmax", SLUG)), "no solution", "softmax")
    path.unlink()
    path.write_text(good + " " * Limits().notebook_bytes)
    assert tells(str(attnlab.solution("softmax", SLUG)), "no solution", "softmax")


def test_a_file_that_may_not_be_read_is_told_of(
    course: Course, monkeypatch: pytest.MonkeyPatch
) -> None:
    open_ = os.open

    def refused(path: str | Path, flags: int, mode: int = 0o777) -> int:
        if course.work in Path(path).parents:
            raise PermissionError(errno.EACCES, "Permission denied")
        return open_(path, flags, mode)

    monkeypatch.setattr(os, "open", refused)  # root may read anything
    assert tells(home(course, Links()), "progress.jsonl", "Permission denied")
    with pytest.raises(Refused, match=f"{NOTEBOOK} cannot be read: Permission denied"):
        hand_in(course, SLUG)


def linked(path: Path) -> None:
    path.symlink_to("../glossary.md")


@pytest.mark.parametrize("make", [pipe, linked], ids=lambda make: make.__name__)
def test_what_is_put_there_in_the_moment_of_opening_is_not_read(
    make: Callable[[Path], None], course: Course, monkeypatch: pytest.MonkeyPatch
) -> None:
    course.notebook(SLUG).unlink()
    make(course.notebook(SLUG))
    before = os.stat(course.work / "glossary.md")
    monkeypatch.setattr(Path, "stat", lambda path: before)
    monkeypatch.setattr(os.path, "islink", lambda path: False)
    with pytest.raises(Unreadable):
        course.read(course.notebook(SLUG))


def test_an_old_folder_with_the_name_of_a_part_is_in_nobodys_way(course: Course) -> None:
    part = course.work / "hand-in" / f".{SLUG}.zip.x.part"
    part.mkdir()
    os.utime(part, (0, 0))
    write(course.notebook(SLUG), "softmax", f"{ANSWER}, newer")
    hand_in(course, SLUG)
    made = unzipped(course.handed_in(SLUG).read_bytes(), NOTEBOOK)
    assert made == course.notebook(SLUG).read_bytes()


@pytest.mark.parametrize("place", ["hand-in", "backups"])
def test_a_pipe_in_the_place_of_a_folder_is_to_be_moved_away(place: str, course: Course) -> None:
    write(course.notebook(SLUG), "softmax", f"{ANSWER}, newer")
    if place == "hand-in":
        (course.work / place).rename(course.work / "away")
    pipe(course.work / place)
    with pytest.raises(NotWritten, match="A file is in the place of a folder"):
        hand_in(course, SLUG)


@pytest.mark.parametrize("make", [pipe, folder, huge], ids=lambda make: make.__name__)
def test_the_grader_and_the_home_say_the_same_of_a_file(
    make: Callable[[Path], None], course: Course, tmp_path: Path
) -> None:
    put(course, NOTEBOOK, make)
    with pytest.raises(Unreadable) as found:
        course.read(course.notebook(SLUG))
    (tmp_path / "submitted").mkdir()
    course.work.rename(tmp_path / "submitted" / "ann")
    graded = handed_in.found(tmp_path / "submitted", "ann", SLUG, Limits())
    assert str(graded.content) == str(found.value)


# what it is called -------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [b"\x1b[2J", b"\xff", b"a\nb", "\u202e".encode()])
def test_names_and_texts_of_any_kind_can_be_printed_and_shown(name: bytes, course: Course) -> None:
    text = os.fsdecode(name)
    course.notebook(SLUG).rename(course.work / f"{text}.ipynb")
    with pytest.raises(Refused, match=r"Also of this lesson: work/\S+\.ipynb\.") as refused:
        hand_in(course, SLUG)
    line = {"v": 1, "when": "", "lesson": SLUG, "exercise": "softmax", "status": "FAIL"}
    line |= {"score": 1, "points": 2, "mistake": text, "why": text}
    course.progress.write_text(json.dumps(line))
    told = [str(refused.value), *updated(course), *report(course), home(course, Links())]
    assert all(part.isprintable() for each in told for part in each.split("\n"))


# links -------------------------------------------------------------------------------------------


FOLDERS = ("hand-in", "backups", ".attnlab", ".attnlab/released", SLUG)
FILES = (
    NOTEBOOK,
    f"hand-in/{SLUG}.zip",
    ".attnlab/progress.jsonl",
    f".attnlab/released/{NOTEBOOK}",
    "my-checks.html",
    "keepsake.html",
    "keepsake.svg",
    "glossary.md",
)


def everything(course: Course) -> Iterator[str]:
    """Whatever writes into work/, and what it says."""
    progress.note(SLUG, "softmax", "FAIL", 1, 2)
    yield from (found.what for found in doctor.progress(course))
    write(course.released / NOTEBOOK, "softmax-check", "check(softmax)  # newer")
    (course.released / "glossary.md").write_text("newer")
    sentence, run = "the dogs run", listening(evenly(4))
    made = (lambda course: hand_in(course, SLUG), lambda course: keep(course, sentence, run=run))
    for step in (update, *made):
        try:
            yield from step(course)
        except (NotWritten, Refused) as why:
            yield str(why)
    try:
        yield str(write_page(course, [Checked(SLUG, problem="It died.")]))
    except NotWritten as why:
        yield str(why)


@pytest.mark.parametrize("place", FOLDERS + FILES)
def test_nothing_is_written_through_a_link(place: str, course: Course, tmp_path: Path) -> None:
    (course.work / "my-checks.html").write_text("a person's, to be backed up")
    path, target = course.work / place, tmp_path / "elsewhere"
    path.parent.mkdir(exist_ok=True)
    path.rename(target) if path.exists() else target.mkdir()
    path.symlink_to(target)
    before = files_under(target) if target.is_dir() else target.read_bytes()
    named = {each.name for each in target.rglob("*")}
    told = [line for line in everything(course) if "is a link" in line]
    assert (files_under(target) if target.is_dir() else target.read_bytes()) == before
    assert {each.name for each in target.rglob("*")} == named
    assert path.is_symlink()
    assert any(path.name in line for line in told)


def test_the_doctor_has_the_link_moved_and_not_what_it_leads_to(
    course: Course, tmp_path: Path
) -> None:
    for place in (SLUG, ".attnlab"):
        (course.work / place).rename(tmp_path / place)
        (course.work / place).symlink_to(tmp_path / place)
    found = [*doctor.lessons(course), *doctor.progress(course)]
    mends = [each.mend for each in found if "is a link" in each.what]
    assert [mend.partition(";")[0] for mend in mends] == [
        f"mv {course.work / place} {course.work / place}.broken" for place in (SLUG, ".attnlab")
    ]


def test_work_itself_may_be_a_link(course: Course, tmp_path: Path) -> None:
    course.work.rename(tmp_path / "on another disk")
    course.work.symlink_to(tmp_path / "on another disk")
    assert not [line for line in everything(course) if "is a link" in line]


# one door ----------------------------------------------------------------------------------------

OPENING = {"open", "read_text", "read_bytes", "write_text", "write_bytes", "mkdir", "touch"}
OPENING |= {"copy", "copyfile", "copytree", "move", "write_whole", "open_file"}
# The package's own style sheet and recording; /dev/null, for a reader who has enough; this door's
# `move`, for a lesson of another name; a temporary folder that the exchange copies.
KNOWN = {("sheet", "read_text"), ("own", "read_text"), ("commands", "open")}
KNOWN |= {("copies", "move"), ("exchange", "mkdir"), ("exchange", "write_bytes")}


def test_the_home_opens_files_through_one_door() -> None:
    found = set()
    for path in (ROOT / "src" / "attnlab" / "home").glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and path.stem != "places":
                name = node.func
                called = getattr(name, "attr", getattr(name, "id", ""))
                if called in OPENING:
                    found.add((path.stem, called))
    assert found == KNOWN
