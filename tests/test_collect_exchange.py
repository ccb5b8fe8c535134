"""What accounts write into nbgrader's exchange is collected, and none of it is believed."""

from __future__ import annotations

import os
import pwd
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from autograder.gradebook.course import Course
from autograder.term.collect import Outcome, collect
from tests.course import tells
from tests.small_class import LESSON, notebook

FILE = f"{LESSON}.ipynb"
ME = pwd.getpwuid(os.getuid()).pw_name
SECRET = "ab" * 64


@pytest.fixture
def now() -> datetime:
    return datetime.now(UTC).replace(tzinfo=None)


@pytest.fixture
def inbound(course: Path, tmp_path: Path) -> Path:
    """An exchange's, and a class with one student, who has the account that runs this."""
    roster = course / "class" / "roster.csv"
    roster.parent.mkdir(exist_ok=True)
    roster.write_text(f"id\n{ME}\nemmy\n")
    folder = tmp_path / "exchange" / "attnlab" / "inbound"
    folder.mkdir(parents=True)
    (folder.parent / "outbound").mkdir()
    return folder


def put(
    inbound: Path,
    data: bytes,
    who: str = ME,
    lesson: str = LESSON,
    when: datetime | None = None,
    secret: str = SECRET,
) -> Path:
    """Write what `nbgrader submit` writes."""
    time = f"{when or datetime.now(UTC):%Y-%m-%d %H:%M:%S.%f} UTC"
    folder = inbound / f"{who}+{lesson}+{time}+{os.urandom(4).hex()}"
    folder.mkdir()
    (folder / f"{lesson}.ipynb").write_bytes(data)
    (folder / "timestamp.txt").write_text(time)
    (folder / "submission_secret.txt").write_text(secret)
    return folder


def run(inbound: Path) -> Outcome:
    return collect(Course.here(), LESSON, [inbound])


def there(course: Path, name: str = FILE) -> bytes | None:
    path = course / "class" / "submitted" / ME / LESSON / name
    return path.read_bytes() if path.is_file() else None


def test_a_hand_in_comes_with_its_time_and_its_secret(
    course: Path, inbound: Path, now: datetime
) -> None:
    put(inbound, notebook(), when=now)
    put(inbound, b"another lesson's", lesson="04-scaling")
    told = run(inbound)
    assert (told.new, told.trouble, told.apart, told.beside) == ([ME], [], [], [])
    assert there(course) == notebook()
    assert there(course, "submission_secret.txt") == SECRET.encode()
    assert there(course, "timestamp.txt") == f"{now:%Y-%m-%d %H:%M:%S} UTC\n".encode()
    assert run(inbound).same == [ME]


def test_the_newest_counts_to_the_microsecond_with_its_own_secret(
    course: Path, inbound: Path, now: datetime
) -> None:
    newer = now.replace(microsecond=2)
    put(inbound, notebook({"number": 2}), when=newer, secret="2" * 128)
    put(inbound, notebook({"number": 1}), when=now.replace(microsecond=1), secret="1" * 128)
    assert run(inbound).several == {ME: 2}
    assert there(course) == notebook({"number": 2})
    assert there(course, "submission_secret.txt") == b"2" * 128
    put(inbound, notebook({"number": 2}), when=now + timedelta(seconds=2), secret="3" * 128)
    run(inbound)
    assert there(course, "submission_secret.txt") == b"3" * 128


def test_what_another_account_made_in_ones_name_is_nobody_s(course: Path, inbound: Path) -> None:
    forged = put(inbound, notebook(), who="emmy")
    told = run(inbound)
    [said] = told.trouble
    assert tells(said, f"{forged.name}: ", "'emmy'", ME)
    assert told.new == []


def test_no_link_is_followed(course: Path, inbound: Path, now: datetime, tmp_path: Path) -> None:
    solution = tmp_path / "solution" / FILE
    solution.parent.mkdir()
    solution.write_bytes(notebook({"number": "the solution"}))
    folder = put(inbound, b"")
    (folder / FILE).unlink()
    (folder / FILE).symlink_to(solution)
    (inbound / f"{ME}+{LESSON}+{now} UTC+link").symlink_to(solution.parent)
    told = run(inbound)
    assert tells(told.trouble[0], "link", "out of")
    assert tells(told.odd[0], "link", "not followed")
    assert there(course) is None


def test_nbgraders_own_collect_follows_links_and_takes_forged_names(
    course: Path, inbound: Path, tmp_path: Path
) -> None:
    """Why the operator's page says not to use it. If this fails, nbgrader has mended it."""
    solution = tmp_path / "solution.ipynb"
    solution.write_bytes(notebook({"number": "the solution"}))
    linked, forged = put(inbound, b""), put(inbound, notebook(), who="emmy")
    (linked / FILE).unlink()
    (linked / FILE).symlink_to(solution)
    exchange = [f"--Exchange.root={inbound.parents[1]}", f"--course={inbound.parent.name}"]
    nbgrader = [sys.executable, "-m", "nbgrader", "collect", LESSON, *exchange]
    done = subprocess.run(nbgrader, cwd=course, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert there(course) == solution.read_bytes()
    assert "cheating attempt?" in done.stderr
    assert (course / "class" / "submitted" / "emmy" / LESSON / FILE).is_file(), forged.name


def test_a_named_pipe_is_not_waited_for(course: Path, inbound: Path) -> None:
    folder = put(inbound, b"")
    (folder / FILE).unlink()
    os.mkfifo(folder / FILE)
    [said] = run(inbound).trouble
    assert "a named pipe" in said


def test_a_time_that_is_not_the_disk_s_is_told(course: Path, inbound: Path, now: datetime) -> None:
    put(inbound, notebook(), when=now - timedelta(days=3))
    [said] = run(inbound).apart
    assert said.startswith(f"{ME} (says {now - timedelta(days=3):%Y-%m-%d}")
    assert there(course) == notebook()


@pytest.mark.parametrize("missing", ["submission_secret.txt", "name"])
def test_what_is_not_whole_is_told(course: Path, inbound: Path, missing: str) -> None:
    folder = put(inbound, notebook())
    if missing == "name":
        folder.rename(inbound / f"{ME}+{LESSON}+yesterday ever UTC+x")
    else:
        (folder / missing).unlink()
    told = run(inbound)
    if missing == "name":  # whatever it is, nobody waits for it
        assert (told.trouble, "It is not named as" in told.odd[0]) == ([], True)
    else:
        assert "collect again" in told.trouble[0]
    assert there(course) is None
