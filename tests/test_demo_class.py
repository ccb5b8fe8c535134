"""The demo class: worth looking at, the same for the same seed, and never beside a real one."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest
from nbgrader.api import Gradebook

from autograder.gradebook.course import Course
from tests import demo_class
from tests.course import ROOT, SLUGS, read, released_path, tells
from tests.demo_class import RECORD, Lesson

pytestmark = pytest.mark.slow

LESSON = "06-causal-mask"
SAMPLE = ("02-pure-python", LESSON)  # `make prove` asks all
NOTEBOOK = f"{LESSON}/{LESSON}.ipynb"
COMMAND = [sys.executable, "-m", "tests.demo_class"]
Files = dict[str, bytes]


# What is in the class


@pytest.fixture(
    scope="module",
    params=[
        each if each in SAMPLE else pytest.param(each, marks=pytest.mark.prove) for each in SLUGS
    ],
)
def lesson(request: pytest.FixtureRequest) -> Lesson:
    with contextlib.chdir(ROOT):
        return Lesson(Course.here(), request.param)


def handed_in(lesson: Lesson, students: int = 12, seed: int = 1) -> Files:
    numbers = range(1, students + 1)
    return dict(file for number in numbers for file in lesson.handed_in(number, seed))


def test_same_seed_same_class(lesson: Lesson) -> None:
    assert handed_in(lesson) == handed_in(lesson)
    assert handed_in(lesson, seed=2) != handed_in(lesson)


def test_a_larger_class_begins_with_the_smaller_one(lesson: Lesson) -> None:
    assert handed_in(lesson, 40).items() > handed_in(lesson, 12).items()


def test_a_class_of_twelve_shows_what_comes_in(lesson: Lesson) -> None:
    released = [cell.source for cell in read(released_path(lesson.slug)).cells]
    files = handed_in(lesson)
    names = [path.rpartition("/")[2] for path in files]
    assert names.count(f"{lesson.slug} (1).ipynb") == 1
    assert names.count(f"{lesson.slug}.ipynb") == 11
    times = [text for path, text in files.items() if path.endswith("timestamp.txt")]
    assert len(times) == 12
    assert sum(text > b"2026-02-01 18:00" for text in times) == 1  # late
    notebooks = [text for path, text in files.items() if path.endswith(".ipynb")]
    read_as_json = [json.loads(text) for text in notebooks if text.startswith(b"{")]
    assert len(read_as_json) == 11  # the other one is no notebook
    sources = [["".join(cell["source"]) for cell in notebook["cells"]] for notebook in read_as_json]
    assert sources.count(released) >= 1  # not begun: cell by cell what was handed out
    assert any(set(lesson.answers.values()) <= set(cells) for cells in sources)  # all right
    assert sum(len(cells) > len(released) for cells in sources) == 1  # a cell of one's own
    assert sum(len(cells) < len(released) for cells in sources) == 1  # a check deleted
    assert sum("100  # per cent" in cells for cells in sources) == 1  # a check changed


def test_only_one_loops_whatever_the_size_of_the_class(lesson: Lesson) -> None:
    assert sum(b"while True" in text for text in handed_in(lesson, 60).values()) == 1


# Where it goes


@pytest.fixture
def course(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What the class is made from: nothing but settings and solutions."""
    shutil.copy(ROOT / "nbgrader_config.py", tmp_path)
    shutil.copytree(ROOT / "solutions", tmp_path / "solutions")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def fill(*options: str) -> Files:
    """What is in the folder with a class of four."""
    assert demo_class.main(["--students", "4", "--lesson", LESSON, *options]) == 0
    return files()


def files(folder: Path = Path("class/submitted")) -> Files:
    """All that is handed in, without the record of it."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and path.name != RECORD
    }


def importing_from(checkout: Path) -> dict[str, str]:
    """For processes that are to find a checkout from elsewhere."""
    path = os.pathsep.join([str(checkout / "src"), str(checkout)])
    return {**os.environ, "PYTHONPATH": path}


def hand_in(place: str) -> Path:
    """Something that no demo class wrote."""
    path = Path("class/submitted", place)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("mine", encoding="utf-8")
    return path


class Refused:
    """Asks for a class, makes sure that nothing is written, and gives the reason."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self._capsys = capsys

    def __call__(self) -> str:
        before = files(Path())
        self._capsys.readouterr()
        assert demo_class.main(["--students", "4", "--seed", "2"]) == 1
        assert files(Path()) == before
        said = self._capsys.readouterr()
        assert said.out == ""
        return said.err


@pytest.fixture
def refused(course: Path, capsys: pytest.CaptureFixture[str]) -> Refused:
    return Refused(capsys)


def test_run_again_it_writes_the_same(course: Path) -> None:
    assert fill() == fill()


def test_run_again_it_adds_students_and_lessons(course: Path) -> None:
    once = fill()
    more = fill("--students", "6")
    assert more.items() > once.items()
    assert fill("--lesson", "03-numpy").items() > more.items()


def test_run_again_with_another_seed_it_writes_another_class(course: Path) -> None:
    once = fill()
    other = fill("--seed", "2")
    assert other.keys() == once.keys()
    assert other != once
    assert fill() == once


@pytest.mark.parametrize("student", ["ann", "demo-001"])
def test_a_real_class_is_left_alone(refused: Refused, student: str) -> None:
    hand_in(f"{student}/{NOTEBOOK}")
    assert f": {student}. Nothing was written" in refused()


@pytest.mark.parametrize("new", ["ann", "demo-001/03-numpy", f"demo-001/{LESSON}/notes"])
def test_what_is_handed_in_later_is_left_alone(refused: Refused, new: str) -> None:
    fill()
    hand_in(f"{new}/03-numpy.ipynb")
    assert f": {new}. Nothing was written" in refused()


def test_an_empty_folder_is_a_student_too(refused: Refused) -> None:
    fill()
    Path("class/submitted/ann").mkdir()
    assert ": ann. Nothing was written" in refused()


@pytest.mark.parametrize("name", [f"{LESSON}.ipynb", "timestamp.txt"])
def test_a_demo_file_that_was_changed_stays(refused: Refused, name: str) -> None:
    fill()
    hand_in(f"demo-001/{LESSON}/{name}")
    assert tells(refused(), f"demo-001/{LESSON}/{name}", "Nothing was written")


def test_a_link_in_the_place_of_a_demo_folder_is_not_followed(refused: Refused) -> None:
    fill()
    place = Path("class/submitted/demo-001")
    place.rename("elsewhere")
    place.symlink_to(Path("elsewhere").absolute())
    assert ": demo-001. Nothing was written" in refused()


def test_five_are_named_and_the_rest_counted(refused: Refused) -> None:
    for number in range(8):
        hand_in(f"real-{number}/{NOTEBOOK}")
    assert tells(refused(), "real-0", "real-4 and 3 more")


@pytest.mark.parametrize("record", [b"", b"no record\n\n", b"\xff  demo-001\n"])
def test_a_damaged_record_vouches_for_no_file(refused: Refused, record: bytes) -> None:
    fill()
    Path("class/submitted", RECORD).write_bytes(record)
    assert ": demo-001" in refused()


def test_a_gradebook_with_other_students_is_a_real_class(refused: Refused) -> None:
    fill()
    with Gradebook("sqlite:///class/gradebook.db") as gradebook:
        gradebook.add_student("demo-004")
    fill()
    with Gradebook("sqlite:///class/gradebook.db") as gradebook:
        gradebook.add_student("ann")
    assert ": ann (gradebook). Nothing was written" in refused()
    fill("--to", "elsewhere")
    assert len(files(Path("elsewhere"))) == 8


def test_a_gradebook_that_cannot_be_read_is_not_taken_for_none(refused: Refused) -> None:
    Path("class").mkdir()
    Path("class/gradebook.db").write_text("no database" * 100)
    assert "is not a SQLite database" in refused()


def test_killed_halfway_it_can_be_run_again(course: Path) -> None:
    options = ["--students", "60", "--lesson", LESSON]
    process = subprocess.Popen([*COMMAND, *options], env=importing_from(ROOT))
    while not Path("class/submitted/demo-010").exists():
        assert process.poll() is None, "it was over too soon to be killed"
        time.sleep(0.001)
    process.kill()
    process.wait()
    assert not Path("class/submitted/demo-060").exists()
    whole = fill("--students", "60")
    fill("--students", "60", "--to", "whole")
    assert {path: whole[path] for path in whole if not path.endswith(".part")} == files(
        Path("whole")
    )


def test_killed_at_the_worst_moments_it_can_be_run_again(course: Path) -> None:
    once = fill()
    record = Path("class/submitted", RECORD)
    lines = record.read_bytes()
    notebook = Path("class/submitted/demo-004", NOTEBOOK)
    notebook.rename(notebook.with_name(f".{notebook.name}.a1.part"))  # written, and not renamed
    assert fill().items() > once.items()
    notebook.unlink()
    record.write_bytes(lines[:-10])  # its line half recorded
    assert fill().items() > once.items()
    assert fill().items() > once.items()
