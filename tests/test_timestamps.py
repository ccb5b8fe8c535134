"""When a submission was handed in: a time that nbgrader can read, or a file put aside."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from pathlib import Path

import pytest
from nbgrader.apps.api import NbGraderAPI

from autograder.gradebook.course import Course
from autograder.sandbox.limits import Limits
from autograder.submission import handed_in, timestamps
from autograder.submission.folder import Submission
from tests.course import tells
from tests.small_class import LESSON, grade, hand_in, notebook, recorded

NAME = "timestamp.txt"
ASIDE = "timestamp.txt.unreadable"
NOTE = (
    "`timestamp.txt` could not be read, so no time of handing in is known. "
    "It was renamed `timestamp.txt.unreadable`."
)
TIME = "2026-03-01 12:00:00 UTC"


def a_socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as listener:
        here = os.open(path.parent, os.O_RDONLY)  # for its own name may be too long
        listener.bind(f"/proc/self/fd/{here}/{path.name}")
        os.close(here)


def a_link(path: Path) -> None:
    (path.parent / "time").write_text(TIME)
    path.symlink_to("time")


# What a learner may have made of the file, and what is said of it.
ODD: dict[str, tuple[Callable[[Path], object], str]] = {
    "folder": (Path.mkdir, "is a folder"),
    "pipe": (os.mkfifo, "is a named pipe"),
    "socket": (a_socket, "is a socket"),
    "link": (a_link, "is a link"),
    "dangling": (lambda path: path.symlink_to("nothing"), "is a link"),
    "endless": (lambda path: path.symlink_to("/dev/zero"), "is a link"),
    "circle": (lambda path: path.symlink_to(path.name), "is a link"),
    "large": (lambda path: path.write_text(TIME + " " * 2000), "is too large"),
}
WRONG = {
    "digits": b"1" * 29 + b"m",
    "empty": b"",
    "words": b"soon",
    "latin": b"\xff\xfe",
    "utf16": TIME.encode("utf-16"),
    "mark": b"\xef\xbb\xbf" + TIME.encode(),
    "overflow": b"0001-01-01 00:00:00 +9900",
    "last": b"9999-12-31 23:59:59 UTC",  # formgrader shows it in another time zone
    "undated": b"12:00",  # of whichever day it is read on
    "no year": b"March 1",
    "path": b"2026-01-01 00:00:00 /usr/share/zoneinfo/UTC",
    "day": b"2026-99-99",
}


def holding(data: bytes) -> Callable[[Path], object]:
    return lambda path: path.write_bytes(data)


FORMS = ODD | {
    name: (holding(data), f"says {data.decode(errors='replace')!r}, which is no time")
    for name, data in WRONG.items()
}


def submission(course: Path, student: str = "ann") -> Path:
    """The folder of one that can be graded."""
    return hand_in(course, student, notebook({"number": student})).parent


def collect(course: Path, student: str = "ann") -> Submission:
    return handed_in.found(course / "class" / "submitted", student, LESSON, Limits())


@pytest.mark.parametrize(
    ("text", "utc"),
    [
        ("2026-03-01 12:00:00.123456 UTC\n", "2026-03-01 12:00:00.123456"),
        ("2026-03-01 12:00:00 America/New_York", "2026-03-01 17:00:00"),
        ("2026-03-01T12:00:00+02:00", "2026-03-01 10:00:00"),
        ("2026-03-01 12:00", "2026-03-01 12:00:00"),
        ("1 March 2026", None),  # the third word is a time zone, to nbgrader
        ("2026-03-01", "2026-03-01 00:00:00"),
    ],
)
def test_a_time_is_nbgrader_s(text: str, utc: str | None) -> None:
    when = timestamps.time_of(text.encode())
    assert (when and str(when)) == utc


@pytest.mark.parametrize("form", FORMS)
def test_what_cannot_be_read_is_put_aside_and_told(
    course: Path, form: str, caplog: pytest.LogCaptureFixture
) -> None:
    make, said = FORMS[form]
    folder = submission(course)
    make(folder / NAME)
    before = os.lstat(folder / NAME)
    found = collect(course)
    assert found.note == NOTE
    assert found.beside == {}
    assert not os.path.lexists(folder / NAME)
    assert os.path.samestat(os.lstat(folder / ASIDE), before)
    assert f"{folder / NAME} {said}" in caplog.text
    assert f"It is now {ASIDE}." in caplog.text
    caplog.clear()
    assert collect(course).fingerprint == found.fingerprint, "or --resume would grade it again"
    assert caplog.text == ""


def test_a_class_with_such_files_is_graded_and_shown(
    course: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folders = {form: submission(course, form) for form in [*FORMS, "none", "good"]}
    (folders["good"] / NAME).write_text(TIME)
    for form, (make, _) in FORMS.items():
        make(folders[form] / NAME)
    results = grade(course)
    said = {result["student"]: result["message"] for result in results}
    assert said == dict.fromkeys(FORMS, NOTE) | {"good": "", "none": ""}
    listed = NbGraderAPI(Course.here().directory).get_submissions(LESSON)
    assert {item["student"] for item in listed if item["autograded"]} == set(folders)
    capsys.readouterr()
    assert grade(course, resume=True) == results
    assert "0 graded now" in capsys.readouterr().err


def test_what_was_put_aside_before_is_not_lost(course: Path) -> None:
    folder = submission(course)
    for text in ("one", "two", "three"):
        (folder / NAME).write_text(text)
        collect(course)
    aside = {path.name: path.read_text() for path in folder.glob(f"{NAME}*")}
    assert aside == {ASIDE: "one", f"{ASIDE}.2": "two", f"{ASIDE}.3": "three"}


def test_a_time_that_was_put_right_counts(course: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = submission(course)
    (folder / NAME).write_text(TIME)
    grade(course)
    (folder / NAME).write_text("soon")
    [result] = grade(course, resume=True)
    assert result["message"] == NOTE
    assert recorded(course)["submissions"] == [("ann", None)], "an earlier time is not this one's"
    (folder / NAME).write_text(TIME)
    capsys.readouterr()
    [result] = grade(course, resume=True)
    assert "1 graded now" in capsys.readouterr().err
    assert result["message"] == ""
    assert recorded(course)["submissions"] == [("ann", "2026-03-01 12:00:00.000000")]


@pytest.mark.parametrize("make", [os.mkfifo, holding(b"\xff")])
def test_a_secret_that_cannot_be_read_is_put_aside(
    course: Path, make: Callable[[Path], object], caplog: pytest.LogCaptureFixture
) -> None:
    folder = submission(course)
    make(folder / "submission_secret.txt")
    found = collect(course)
    assert (found.note, found.beside) == ("", {})
    assert os.path.lexists(folder / "submission_secret.txt.unreadable")
    assert "submission_secret.txt is " in caplog.text


def test_what_cannot_be_renamed_is_named(
    course: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    folder = submission(course)
    (folder / NAME).write_text("soon")

    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "rename", refuse)
    assert collect(course).note == NOTE.partition(" It was")[0]
    assert tells(caplog.text, "renamed", "Permission denied")
    assert (folder / NAME).read_text() == "soon"


def test_nothing_outside_the_student_s_folder_is_renamed(course: Path) -> None:
    home = submission(course).parent
    other = submission(course, "other")
    (other / NAME).write_text("soon")
    (home.parent / "eve").mkdir()
    (home.parent / "eve" / LESSON).symlink_to(other)
    (home.parent / "fay").symlink_to(other.parent)
    for student in ("eve", "fay"):
        assert collect(course, student).note == ""
    assert (other / NAME).read_text() == "soon"


def test_a_link_inside_the_student_s_folder_is_followed(course: Path) -> None:
    folder = submission(course)
    folder.rename(folder.parent / "drafts")
    folder.symlink_to("drafts")
    (folder / NAME).write_text("soon")
    assert collect(course).note == NOTE
    assert (folder / ASIDE).read_text() == "soon"
