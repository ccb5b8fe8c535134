"""`python -m autograder grade` and `grade-file`: who is graded, what is said, what stops a run.

Most of these use the fake grader, for they are about the run around it.
"""

from __future__ import annotations

import csv
import errno
import io
import json
import os
import re
import shutil
import signal
import socket
import stat
import subprocess
import sys
import time
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from multiprocessing import forkserver
from pathlib import Path

import pytest

from attnlab.ipynb.handed_in import in_nfc
from attnlab.ipynb.read import Unreadable, read
from attnlab.lessons import planned
from autograder import Problem, Usage, __main__
from autograder.gradebook.course import Course
from autograder.run import classes, engine, pool, progress
from autograder.run.engine import Engine
from autograder.run.marking import GradesOne, Job, open_grader
from autograder.run.one_file import as_text, student_of
from autograder.run.progress import Progress
from autograder.sandbox.child import confine
from autograder.sandbox.limits import Limits
from autograder.submission import handed_in
from autograder.submission.folder import Submission, read_file, small_files
from autograder.submission.left_out import left_out
from autograder.submission.results import ExerciseResult, Graded, Result
from tests import gradebooks, small_class
from tests.course import ROOT, released_path, tells
from tests.fake_grader import open_and_die, open_fake, open_refused
from tests.processes import descendants, wait_until_gone
from tests.small_class import (
    LESSON,
    environment,
    hand_in,
    notebook,
    recorded,
    results_in,
    written,
)
from tests.test_nbgrader import right_notebook
from tests.until import until

pytestmark = pytest.mark.slow
prove = partial(pytest.param, marks=pytest.mark.prove)  # the same again, of another kind

NOTEBOOK = f"{LESSON}.ipynb"
grade = partial(small_class.grade, jobs=2, seed=1)
KEYS = list(Result("", LESSON, "GRADED", "", 0.0, 0.0).as_json())


def command(*arguments: str, fake: bool = True) -> int:
    """Exit status of a command in this process."""
    if not fake:
        return __main__.main(arguments)
    real = classes.grade_class
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(classes, "grade_class", partial(real, opens=open_fake))
        patch.setattr(pool, "load_ahead", lambda: None)
        return __main__.main(arguments)


def start(
    course: Path, *arguments: str, lesson: str = LESSON, program: str = "tests.fake_run"
) -> subprocess.Popen[str]:
    """A command of its own, with the fake grader, in a process group of its own."""
    return subprocess.Popen(
        [sys.executable, "-m", program, "grade", lesson, *arguments],
        cwd=course,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def lines_in(course: Path, lesson: str = LESSON) -> int:
    """How many submissions the journal has."""
    path = course / "class" / "runs" / lesson / "journal.jsonl"
    return path.read_bytes().count(b'"result": ') if path.exists() else 0


def session_of(leader: int) -> list[int]:
    """The living processes of a session."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            fields = (entry / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if entry.name.isdigit() and int(fields[3]) == leader and fields[0] not in "ZX":
            found.append(int(entry.name))
    return found


# Results


def test_results_are_one_object_a_line_in_the_order_of_the_class(course: Path) -> None:
    for number, student in enumerate(["zoe", "adam", "mia", "Bo"]):
        hand_in(course, student, notebook({"sleep": 0.2 - 0.05 * number}))
    results = grade(course)
    assert [result["student"] for result in results] == ["Bo", "adam", "mia", "zoe"]
    assert all(list(result) == KEYS for result in results)
    assert {result["status"] for result in results} == {"GRADED"}


def test_the_same_seed_gives_the_same_results_whatever_the_jobs(course: Path) -> None:
    for number in range(7):
        hand_in(course, f"s{number}", notebook({"sleep": number % 3 * 0.05}))
    one = grade(course, jobs=1)
    books = recorded(course), written(course)
    assert grade(course, jobs=3) == one
    assert (recorded(course), written(course)) == books
    assert grade(course, jobs=3, seed=2) != one


def test_without_a_seed_each_run_has_a_fresh_one_and_says_it(
    course: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    hand_in(course, "s1", notebook())
    seeds = set()
    for _ in range(2):
        grade(course, seed=None)
        [said] = re.findall(r"Seed (\d+)\.", capsys.readouterr().err)
        path = course / "class" / "runs" / LESSON / "journal.jsonl"
        assert json.loads(path.read_text().splitlines()[-1])["seed"] == int(said)
        seeds.add(said)
    assert len(seeds) == 2


def summary_file(course: Path) -> Path:
    return course / "class" / "runs" / LESSON / "summary.txt"


def test_a_class_ends_in_a_summary_and_json_is_alone_on_standard_output(
    course: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    for number in range(6):
        hand_in(course, f"s{number}", notebook({"number": number}))
    hand_in(course, "torn", b"{")
    (course / "class" / "submitted" / "s2" / LESSON / "timestamp.txt").write_text(
        "2026-03-02 12:00 UTC"
    )
    with gradebooks.open_book(course) as gradebook:
        gradebook.update_or_create_assignment(LESSON, duedate="2026-03-01 12:00 UTC")
    assert command("grade", LESSON, "--jobs=1", "--seed=1", "--json=-") == 0
    said = capfd.readouterr()
    assert said.out.count("\n") == 7
    scores = [json.loads(line)["score"] for line in said.out.splitlines()]
    assert (
        f"{LESSON}: 6 graded, by the autograder, mean {sum(scores) / 6:.2f} of 9 points; 1 INVALID"
        in said.err
    )
    assert "Late: 1 (s2 by 1 d)" in said.err
    assert re.search(r"7 graded now in [\d.]+ s, \d+ a minute\. Seed 1\.", said.err)
    assert said.err.endswith(f"The whole summary is in class/runs/{LESSON}/summary.txt\n")
    assert f"class/submitted/torn/{LESSON}/" in summary_file(course).read_text()


def test_resumed_or_not_a_run_has_the_same_summary(course: Path) -> None:
    for number in range(12):
        hand_in(course, f"s{number}", notebook({"number": number}))
    hand_in(course, "torn", b"{")
    grade(course)
    whole = summary_file(course).read_bytes()
    summary_file(course).unlink()
    journal = summary_file(course).with_name("journal.jsonl")
    journal.write_bytes(b"".join(journal.read_bytes().splitlines(keepends=True)[:6]))
    grade(course, resume=True)
    assert summary_file(course).read_bytes() == whole


def test_only_the_students_asked_for_are_graded_and_the_summary_stays_the_class_s(
    course: Path,
) -> None:
    for student in ("s1", "s2", "s3"):
        hand_in(course, student, notebook())
    grade(course)
    whole = summary_file(course).read_bytes()
    shutil.rmtree(course / "class" / "autograded")
    results = grade(course, students=("s3", "s1", "s3"))
    assert [result["student"] for result in results] == ["s1", "s3"]
    assert {path.name for path in (course / "class" / "autograded").iterdir()} == {"s1", "s3"}
    assert summary_file(course).read_bytes() == whole


def test_an_empty_class_is_no_failure(course: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (course / "class" / "submitted" / "s1" / "another-lesson").mkdir(parents=True)
    assert command("grade", LESSON, "--json=results.jsonl") == 0
    assert (course / "results.jsonl").read_bytes() == b""
    assert f"Nobody has handed in {LESSON}" in capsys.readouterr().err


class Clock:
    """A time that passes when it is told to."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 0.0
        monkeypatch.setattr(time, "monotonic", lambda: self.now)


def test_from_thirty_on_each_tenth_of_a_class_has_a_line_with_an_eta(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    clock = Clock(monkeypatch)
    with Progress(30) as shown:
        for _ in range(30):
            clock.now += 0.5
            shown.advance(1)
    lines = capsys.readouterr().err.splitlines()
    done = [re.findall(r"(\d+)/30 \[", line) for line in lines]
    assert done == [[str(number)] for number in range(3, 31, 3)]
    assert "3/30 [00:01<00:13" in lines[0]
    assert all(len(line) <= 80 for line in lines)


def test_fewer_than_thirty_are_quiet(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    clock = Clock(monkeypatch)
    with Progress(29) as shown:
        for _ in range(29):
            clock.now += 0.5
            shown.advance(1)
    assert capsys.readouterr().err == ""


def test_nobody_waits_longer_than_fifteen_seconds_for_a_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    clock = Clock(monkeypatch)
    with Progress(300) as shown:
        shown.skip()
        clock.now += 2.0
        shown.advance(1)
        for _ in range(30):  # one notebook that takes its time
            clock.now += 1.0
            shown.advance(0)
    lines = capsys.readouterr().err.splitlines()
    assert ["2/300 [00:15<" in lines[0], "2/300 [00:30<" in lines[1]] == [True, True]
    assert len(lines) == 2


def test_a_line_comes_while_a_notebook_is_being_graded(
    course: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(progress, "_LINE_SECONDS", 0.2)
    hand_in(course, "s1", notebook({"sleep": 1.0}))
    grade(course)
    assert "0/1 [" in capsys.readouterr().err


def test_what_was_recorded_before_says_nothing_about_how_long_the_rest_takes(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    clock = Clock(monkeypatch)
    with Progress(100) as shown:
        for _ in range(79):
            shown.skip()
        assert capsys.readouterr().err == ""
        clock.now += 2.0
        shown.advance(1)
    [line] = capsys.readouterr().err.splitlines()
    assert "80/100 [00:02<00:40" in line


# Wrong commands


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["grade", "06-casual-mask"], "Do you mean 06-causal-mask? The lessons are 01-soft-lookup"),
        *(
            (["grade", lesson.slug], f"Lesson {lesson.slug} is planned and not there yet. The less")
            for lesson in planned()[:1]
        ),
        (["grade", LESSON, "--student=annna"], "Do you mean 'anna'? There are 2: anna, bob."),
        (["grade", LESSON, "--student=.."], "There are 2: anna, bob."),
        (["grade", LESSON, "--json=no/such/file"], "No results can be written to no/such/file"),
        (["grade-file", "gone.ipynb"], "Cannot open gone.ipynb: No such file or directory."),
        (["grade-file", "nbgrader_config.py"], "Say it with --lesson: 01-soft-lookup"),
        (["grade-file", "x.ipynb", "--lesson=6"], "no lesson '6'. Do you mean 06-causal-mask?"),
    ],
)
def test_a_wrong_command_says_what_there_is(
    course: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], said: str
) -> None:
    for student in ("anna", "bob"):
        hand_in(course, student, notebook())
    assert command(*arguments) == 2
    assert said in capsys.readouterr().err


@pytest.mark.parametrize("option", ["--jobs=0", "--jobs=many", "--seed=-1", f"--seed={2**63}"])
def test_numbers_out_of_range_are_wrong_commands(option: str) -> None:
    with pytest.raises(SystemExit) as stopped:
        command("grade", LESSON, option)
    assert stopped.value.code == 2


def test_outside_a_course_it_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert command("grade", LESSON) == 1
    assert "nbgrader_config.py" in capsys.readouterr().err


def test_make_grade_without_a_lesson_names_one() -> None:
    done = subprocess.run(
        ["make", "-o", ".venv/.ready", "grade"], cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode == 2
    assert "make grade LESSON=" in done.stderr


# What students hand in


def no_notebook(home: Path) -> None:
    (home / LESSON).mkdir(parents=True)


def wrongly_named(home: Path) -> None:
    no_notebook(home)
    (home / LESSON / "my homework.ipynb").write_bytes(notebook())
    (home / LESSON / "Untitled.ipynb").write_bytes(notebook())


def a_script(home: Path) -> None:
    no_notebook(home)
    (home / LESSON / f"{LESSON}.py").touch()
    (home / LESSON / "timestamp.txt").write_text("2026-03-02 12:00 UTC")


def a_folder_too_deep(home: Path) -> None:
    (home / LESSON / "hand-in" / "mine" / LESSON).mkdir(parents=True)
    (home / LESSON / "hand-in" / "mine" / LESSON / NOTEBOOK).write_bytes(notebook())


def two_zips(home: Path) -> None:
    no_notebook(home)
    for name in ("a.zip", "b.zip"):
        (home / LESSON / name).write_bytes(zipped({NOTEBOOK: notebook()}))


def a_file_for_a_folder(home: Path) -> None:
    home.mkdir()
    (home / LESSON).write_text("not a folder")


def a_folder_for_a_file(home: Path) -> None:
    (home / LESSON / NOTEBOOK).mkdir(parents=True)


def a_pipe(home: Path) -> None:
    no_notebook(home)
    os.mkfifo(home / LESSON / NOTEBOOK)


def a_socket(home: Path) -> None:
    no_notebook(home)
    here = os.getcwd()
    os.chdir(home / LESSON)  # a socket's path has to be short
    try:
        socket.socket(socket.AF_UNIX).bind(NOTEBOOK)
    finally:
        os.chdir(here)


def a_device(home: Path) -> None:
    no_notebook(home)
    (home / LESSON / NOTEBOOK).symlink_to("/dev/zero")


def too_large(home: Path) -> None:
    no_notebook(home)
    with open(home / LESSON / NOTEBOOK, "wb") as file:
        file.truncate(Limits().notebook_bytes + 1)


def a_linked_file(home: Path) -> None:
    no_notebook(home)
    (home / LESSON / NOTEBOOK).symlink_to(released_path(LESSON))


def a_linked_neighbour(home: Path) -> None:
    no_notebook(home)
    (home / LESSON / NOTEBOOK).symlink_to(f"../../neighbour/{LESSON}/{NOTEBOOK}")


def a_linked_lesson(home: Path) -> None:
    home.mkdir()
    (home / LESSON).symlink_to(f"../neighbour/{LESSON}")


def a_linked_home(home: Path) -> None:
    home.symlink_to("neighbour")


def a_circle(home: Path) -> None:
    no_notebook(home)
    (home / LESSON / NOTEBOOK).symlink_to(NOTEBOOK)


def a_dangling_link(home: Path) -> None:
    no_notebook(home)
    (home / LESSON / NOTEBOOK).symlink_to("gone.ipynb")


BAD: dict[Callable[[Path], None], str] = {
    no_notebook: f"There is no `{NOTEBOOK}`, nor any other notebook. Nothing is there.",
    a_script: f"nor any other notebook. What is there: `{LESSON}.py`. Hand in `{NOTEBOOK}` itself.",
    a_folder_too_deep: "nor any other notebook. Nothing is there.",
    two_zips: "What is there: `a.zip`, `b.zip`.",
    wrongly_named: "but there are `Untitled.ipynb`, `my homework.ipynb`: rename the one that is to",
    a_file_for_a_folder: "Not a directory",
    a_folder_for_a_file: f"`{NOTEBOOK}` is a folder, not a file.",
    a_pipe: f"`{NOTEBOOK}` is a named pipe, not a file.",
    a_socket: "The submission cannot be opened",
    a_device: f"`{NOTEBOOK}` is a link out of the student's folder.",
    too_large: "The file has 64.0 MB",
    a_linked_file: f"`{NOTEBOOK}` is a link out of the student's folder.",
    a_linked_neighbour: f"`{NOTEBOOK}` is a link out of the student's folder.",
    a_linked_lesson: f"`{LESSON}` is a link out of the student's folder.",
    a_linked_home: "`learner` is a link out of the student's folder.",
    a_circle: "The submission cannot be opened",
    a_dangling_link: "The submission cannot be opened: No such file or directory.",
}


@pytest.fixture
def submitted(tmp_path: Path) -> Path:
    """A folder of submissions in which one student has handed in a notebook."""
    hand_in(tmp_path, "neighbour", notebook())
    return tmp_path / "class" / "submitted"


def collect(submitted: Path, student: str = "learner") -> Submission:
    return handed_in.found(submitted, student, LESSON, Limits())


# What lies among the submissions, where the notebook is; and what is said of it.
LEFT_OUT = {
    f"flat/{NOTEBOOK}": f"move its {NOTEBOOK} to flat/{LESSON}/{NOTEBOOK}",
    f"again/{LESSON} (1).ipynb": f"move its {LESSON} (1).ipynb to again/{LESSON}/{NOTEBOOK}",
    f"case/{LESSON.upper()}/{NOTEBOOK}": f"move its {LESSON.upper()}/{NOTEBOOK} to case/{LESSON}/",
    f"named/{LESSON.title()}/mine.ipynb": f"move its {LESSON.title()}/ to named/{LESSON}/",
    f"deep/hand-in/{LESSON}/{NOTEBOOK}": f"move its hand-in/{LESSON}/{NOTEBOOK} to deep/{LESSON}/",
    f"lms_4711_file_/{LESSON}.zip": f"move its {LESSON}.zip to lms_4711_file_/{LESSON}/",
    "lms_4712_onlinetext_/onlinetext.html": f"it holds onlinetext.html, and nothing of {LESSON}",
    f"lms_4713_file_/01-soft-lookup/{NOTEBOOK}": f"move its 01-soft-lookup/{NOTEBOOK} to lms_4713",
    f"{LESSON}/ann/{NOTEBOOK}": f"move its ann/{NOTEBOOK} to STUDENT/{LESSON}/{NOTEBOOK}",
    NOTEBOOK: "it is no folder, and each student has one",
    "all.zip": "it is no folder, and each student has one",
    "hidden/.DS_Store": "its folder is empty",
}


def test_every_folder_is_accounted_for(course: Path, capsys: pytest.CaptureFixture[str]) -> None:
    hand_in(course, "ann", notebook())
    home = course / "class" / "submitted"
    for place in [*LEFT_OUT, f"other/01-soft-lookup/{NOTEBOOK[3:]}", ".DS_Store"]:
        (home / place).parent.mkdir(parents=True, exist_ok=True)
        (home / place).write_bytes(notebook())
    (home / "link").symlink_to("gone")
    assert [result["student"] for result in grade(course)] == ["ann"]
    said = " ".join(summary_file(course).read_text().split())
    assert f" and is in no place of theirs ({len(LEFT_OUT) + 1}) " in said
    for place, why in LEFT_OUT.items():
        name = place.partition("/")[0]
        assert f" {name} {why}" in said
        assert f" class/submitted/{name} " in said
    assert "link it is no folder" in said
    assert said.endswith("Nothing handed in: 1 other")
    assert "Not graded" in capsys.readouterr().err
    with pytest.raises(Usage, match=f"flat is not graded: move its {NOTEBOOK} to flat/{LESSON}"):
        grade(course, students=("flat",))


def test_a_folder_of_a_lesson_that_was_renamed_is_accounted_for(tmp_path: Path) -> None:
    (tmp_path / "ann" / "12-gpu-sdpa").mkdir(parents=True)
    assert left_out(tmp_path, "13-gpu-sdpa", []) == {
        "ann": "its 12-gpu-sdpa is called 13-gpu-sdpa now. Run: python -m autograder rename"
    }


def test_a_folder_that_cannot_be_opened_is_accounted_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "ann").mkdir()

    def refused(path: Path) -> list[str]:
        raise PermissionError(errno.EACCES, "Permission denied", str(path))

    monkeypatch.setattr(os, "listdir", refused)
    assert left_out(tmp_path, LESSON, []) == {
        "ann": "its folder cannot be opened (Permission denied)"
    }


# Zips


def zipped(files: Mapping[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", method) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return made.getvalue()


def a_zip_with_a_link() -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        link = zipfile.ZipInfo(NOTEBOOK)
        link.external_attr = (stat.S_IFLNK | 0o777) << 16
        archive.writestr(link, "/etc/passwd")
    return made.getvalue()


def a_zip_with_a_password() -> bytes:
    found = bytearray(zipped({NOTEBOOK: b"mine"}))
    for begins, flags in ((b"PK\3\4", 6), (b"PK\1\2", 8)):
        found[found.index(begins) + flags] |= 1
    return bytes(found)


def test_a_zip_of_one_hand_in_is_opened(submitted: Path) -> None:
    home = submitted / "learner"
    no_notebook(home)
    files = {
        "hand-in/": b"",
        f"hand-in/{LESSON}/{NOTEBOOK}": b"mine",
        f"hand-in/{LESSON}/.ipynb_checkpoints/{LESSON}-checkpoint.ipynb": b"older",
        f"__MACOSX/hand-in/{LESSON}/._{NOTEBOOK}": b"a Mac's",
        "hand-in/01-soft-lookup/01-soft-lookup.ipynb": b"another lesson's",
    }
    (home / LESSON / "My Work.ZIP").write_bytes(zipped(files))
    submission = collect(submitted)
    assert submission.content == b"mine"
    inside = f"`hand-in/{LESSON}/{NOTEBOOK}`"
    assert tells(submission.note, "`My Work.ZIP`", inside, f"Only `{NOTEBOOK}`", "is not")
    assert tells(submission.note, "and `01-soft-lookup.ipynb`")
    assert os.listdir(home / LESSON) == ["My Work.ZIP"], "nothing is unpacked"
    (home / LESSON / NOTEBOOK).write_bytes(b"beside it")
    assert collect(submitted).content == b"beside it"


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "cannot be opened (File is not a zip file)"),
        (zipped({NOTEBOOK: b"mine"})[:-30], "cannot be opened"),
        (zipped({"a.py": b"", "b/c.txt": b""}), "nor any other notebook. What is there: `a.py`"),
        (zipped({"a.ipynb": b"", "b.ipynb": b""}), "there are `a.ipynb`, `b.ipynb`: rename the"),
        (zipped({f"a/{NOTEBOOK}": b"", f"b/{NOTEBOOK}": b""}), f"are 2 files `{NOTEBOOK}`: leave"),
        (zipped({"inner.zip": zipped({NOTEBOOK: b""})}), "What is there: `inner.zip`."),
        (zipped({f"../{NOTEBOOK}": b"mine"}), "a name that leads out"),
        (zipped({f"..\\{NOTEBOOK}": b"mine"}), "a name that leads out"),
        (zipped({f"/etc/{NOTEBOOK}": b"mine"}), "a name that leads out"),
        (a_zip_with_a_link(), "a link"),
        (a_zip_with_a_password(), "needs a password"),
        (zipped({NOTEBOOK: b"mine"}, zipfile.ZIP_LZMA), "packed in a way that is not read"),
        (zipped({NOTEBOOK: b"0" * (Limits().notebook_bytes + 1)}), "The file has 64.0 MB"),
        (zipped({f"{number}.ipynb": b"" for number in range(1001)}), "more than 1,000 files"),
        (b"PK\5\6" + bytes(18), "nor any other notebook. Nothing is there."),
    ],
    ids=["empty", "torn", "no notebook", "another name", "two", "a zip in it", "out", "Windows",
         "absolute", "link", "password", "method", "bomb", "many", "nothing in it"],
)  # fmt: skip
def test_any_other_zip_is_told(submitted: Path, content: bytes, said: str) -> None:
    no_notebook(submitted / "learner")
    (submitted / "learner" / LESSON / "x.zip").write_bytes(content)
    found = collect(submitted).content
    assert isinstance(found, Unreadable)
    assert said in str(found)


def test_a_folder_that_cannot_be_searched_is_one_students_trouble(
    submitted: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    no_notebook(submitted / "learner")

    def refused(path: Path) -> bool:
        raise PermissionError(errno.EACCES, "Permission denied", str(path))

    monkeypatch.setattr(Path, "is_symlink", refused)  # as it is for whoever is not root
    assert small_files(submitted / "learner" / LESSON) == {}


def test_a_students_folder_that_leads_to_itself_is_one_students_trouble(submitted: Path) -> None:
    (submitted / "learner").symlink_to("learner")
    assert handed_in.students(submitted, LESSON) == ["learner", "neighbour"]
    assert isinstance(collect(submitted).content, Unreadable)
    with pytest.raises(Usage, match="Too many levels of symbolic links"):
        read_file(submitted / "learner", Limits())


def test_a_link_inside_the_students_folder_is_followed(submitted: Path) -> None:
    home = submitted / "learner"
    no_notebook(home)
    (home / "drafts").mkdir()
    (home / "drafts" / "last.ipynb").write_bytes(b"mine")
    (home / LESSON / NOTEBOOK).symlink_to("../drafts/last.ipynb")
    assert collect(submitted).content == b"mine"


def test_a_second_notebook_is_not_graded_and_the_student_is_told(submitted: Path) -> None:
    home = submitted / "learner"
    wrongly_named(home)
    (home / LESSON / "Untitled.ipynb").unlink()
    assert tells(collect(submitted).note, "my homework.ipynb", "taken", NOTEBOOK)
    (home / LESSON / NOTEBOOK).write_bytes(b"this one")
    submission = collect(submitted)
    assert submission.content == b"this one"
    assert tells(submission.note, "Only", NOTEBOOK, "my homework.ipynb", "not")


@pytest.mark.parametrize(
    "name",
    [
        f"{LESSON} (1).ipynb",
        f"{LESSON}-1.ipynb",
        f"{LESSON}_late_17234_8812.ipynb",
        f"Ann Lee_4711_assignsubmission_file_{LESSON}.ipynb",
        f"{LESSON}.ipynb.IPYNB",
        f"{LESSON}.ipynb.json",
        f"{LESSON}.ipynb.txt",
        f"{LESSON}.ipynb (1).json",
        f"{LESSON}.ipynb-1.txt",
        f"{LESSON}.IPYNB.TXT",
        f"{LESSON.upper()}.ipynb",
        f"{'x' * 200}{LESSON}.ipynb",
    ],
)
def test_the_only_notebook_is_taken_if_it_has_the_lesson_in_its_name(
    submitted: Path, name: str
) -> None:
    home = submitted / "learner"
    no_notebook(home)
    (home / LESSON / name).write_bytes(b"mine")
    for hidden in (f"._{LESSON} (1).ipynb", f".{NOTEBOOK}", f".~{NOTEBOOK}"):
        (home / LESSON / hidden).write_bytes(b"an archive's or an editor's")
    submission = collect(submitted)
    assert submission.content == b"mine"
    assert submission.note.endswith(f"` was taken for `{NOTEBOOK}`.")
    assert name in submission.note or len(name) > 75
    assert student_of(home / LESSON / name, LESSON) == "learner"


@pytest.mark.parametrize("others", [[f"{LESSON} (2).ipynb"], ["Untitled.ipynb"]])
def test_where_more_than_one_notebook_may_be_meant_none_is_taken(
    submitted: Path, others: list[str]
) -> None:
    no_notebook(submitted / "learner")
    for name in (f"{LESSON} (1).ipynb", *others):
        (submitted / "learner" / LESSON / name).write_bytes(notebook())
    both = f"`{LESSON} (1).ipynb`, `{others[0]}`"
    assert tells(str(collect(submitted).content), f"no `{NOTEBOOK}`", both, "rename")


def test_what_is_taken_is_recorded_under_the_lessons_own_name(course: Path) -> None:
    path = hand_in(course, "ann", notebook())
    path.rename(path.with_name(f"{LESSON} (1).ipynb"))
    [result] = grade(course)
    assert result["status"] == "GRADED"
    assert tells(result["message"], f"{LESSON} (1).ipynb", "taken", NOTEBOOK)
    assert {Path(name).name for name in written(course)} == {NOTEBOOK, f"{LESSON}.html"}


def test_outputs_do_not_travel(submitted: Path) -> None:
    whole = json.loads(notebook())
    whole["cells"][-1] |= {"cell_type": "code", "outputs": [{"data": {"image/png": "A" * 2**24}}]}
    path = hand_in(submitted.parent.parent, "learner", json.dumps(whole).encode())
    for content in (collect(submitted).content, read_file(path, Limits())):
        assert isinstance(content, bytes)
        assert len(content) < 2**20
        assert read(content, Limits()) == read(path.read_bytes(), Limits())


# Points and exercises that disagree


def in_git(course: Path) -> None:
    """Commit what is released, as an author would."""
    (course / ".gitignore").write_text("class/\n*.jsonl\n")
    me = ["-c", "user.name=t", "-c", "user.email=t@example.org"]
    for arguments in (["init", "-q"], ["add", "-A"], [*me, "commit", "-qm", "Release"]):
        subprocess.run(["git", *arguments], cwd=course, check=True)


def change_points(course: Path) -> None:
    path = course / "notebooks" / LESSON / NOTEBOOK
    text = path.read_text()
    path.write_text(text.replace('"points": 4', '"points": 2'))
    assert path.read_text() != text


def class_files(course: Path) -> dict[str, bytes]:
    found = (path for path in (course / "class").rglob("*") if path.is_file())
    return {str(path): path.read_bytes() for path in found if path.name != "lock"}


def commands_in(said: str) -> tuple[list[str], list[str]]:
    """What is printed to be typed, to keep the release and to follow the new one."""
    first, then = re.split("^To grade ", said[said.index("To keep the release") :], flags=re.M)
    keep, follow = (re.findall("^  (.*)$", part, re.M) for part in (first, then))
    return keep, follow


def type_in(course: Path, commands: list[str], grader: str) -> None:
    for typed in commands:
        run = typed.replace("python -m autograder", f"{sys.executable} -m {grader}")
        subprocess.run(run, shell=True, cwd=course, env=environment(), check=True)


def exported(course: Path) -> dict[str, list[str]]:
    """Each column of what nbgrader exports."""
    asked = [sys.executable, "-m", "nbgrader", "export", "--to=grades.csv"]
    subprocess.run(asked, check=True, cwd=course, env=environment())
    with open(course / "grades.csv", encoding="utf-8", newline="") as file:
        lines = list(csv.DictReader(file))
    return {column: [line[column] for line in lines] for column in lines[0]}


def test_a_notebook_that_disagrees_with_its_checks_stops_a_class_before_anything_is_written(
    course: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    hand_in(course, "ann", notebook({"statuses": {}}))
    in_git(course)
    grade(course)
    before = class_files(course)
    change_points(course)
    capfd.readouterr()
    assert command("grade", LESSON, "--jobs=1", fake=False) == 1  # only the real one has checks
    said = capfd.readouterr().err
    assert tells(said, LESSON, "disagree", "scaled_dot_product_attention", "2")
    assert "--resume" not in said
    assert class_files(course) == before
    keep, follow = commands_in(said)
    assert follow == ["make release", f"python -m autograder grade {LESSON} --regrade"]
    assert "src/attnlab/lessons/numpy/exercises.py" in said
    type_in(course, keep, "tests.fake_run")
    scores = exported(course)
    assert (scores["score"], scores["max_score"]) == (["9.0"], ["9.0"])


@pytest.mark.parametrize("way", ["keep", "follow"])
def test_a_gradebook_of_another_release_stops_a_class_before_anything_is_written(
    course: Path, capfd: pytest.CaptureFixture[str], way: str
) -> None:
    for student in ("ann", "bob"):
        hand_in(course, student, notebook())
    in_git(course)
    grade(course)
    before = class_files(course)
    change_points(course)
    in_git(course)
    assert command("grade", LESSON, "--jobs=1") == 1
    assert class_files(course) == before
    keep, follow = commands_in(capfd.readouterr().err)
    type_in(course, keep if way == "keep" else follow, "tests.fake_run")
    assert exported(course)["max_score"] == ["9.0" if way == "keep" else "7.0"] * 2
    backup = course / "class" / "gradebook.db.before"
    assert backup.exists() == (way == "follow" and not gradebooks.SERVER)


def test_without_git_the_release_is_to_be_brought_back_by_hand(
    course: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    hand_in(course, "ann", notebook())
    change_points(course)
    assert command("grade", LESSON, "--jobs=1") == 1
    keep, _ = commands_in(capfd.readouterr().err)
    assert keep[0].startswith(f"# put notebooks/{LESSON} back as it was")


# Names that learners choose


def strays(submitted: Path) -> str:
    home = submitted / "learner"
    no_notebook(home)
    for number in range(8000):
        (home / LESSON / f"{number}{'x' * 200}.ipynb").touch()
    return str(collect(submitted).content)


def strays_beside(submitted: Path) -> str:
    hand_in(submitted.parent.parent, "learner", notebook())
    for number in range(8000):
        (submitted / "learner" / LESSON / f"{number}\x1b{'é' * 100}.ipynb").touch()
    return collect(submitted).note


def a_folder_with_a_long_name(submitted: Path) -> str:
    name = "\x1b" * 200 + f"{LESSON}.ipynb"
    (submitted / "learner" / LESSON / name).mkdir(parents=True)
    return str(collect(submitted).content)


def a_large_class(submitted: Path) -> str:
    with pytest.raises(Usage) as caught:
        handed_in.chosen([f"{number}{'x' * 200}" for number in range(8000)], ["gone"], LESSON)
    return str(caught.value)


def a_long_name_misplaced(submitted: Path) -> str:
    home = submitted / ("\x1b" * 255)
    home.mkdir()
    (home / (LESSON + "x" * 200 + ".ipynb")).touch()
    [sentence] = left_out(submitted, LESSON, ["neighbour"]).values()
    return sentence


@pytest.mark.parametrize(
    ("make", "counted"),
    [
        (strays, "and 7,995 more"),
        (strays_beside, "and 7,995 more"),
        (a_large_class, "and 7,995 more"),
        (a_folder_with_a_long_name, "is a folder, not a file"),
        (a_long_name_misplaced, "move its"),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_of_any_number_of_names_of_any_length_few_are_told(
    submitted: Path, make: Callable[[Path], str], counted: str
) -> None:
    said = make(submitted)
    assert counted in said
    assert len(said) < 2000
    assert said.isprintable()


@pytest.mark.parametrize("number", [errno.EACCES, errno.EIO, errno.ESTALE])
def test_a_file_that_may_not_be_read_is_one_students_trouble(
    submitted: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    hand_in(submitted.parent.parent, "learner", notebook())

    def refuse(*_: object, **__: object) -> int:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, "open", refuse)
    content = collect(submitted).content
    assert isinstance(content, Unreadable)
    assert os.strerror(number) in str(content)


def test_too_many_open_files_are_nobodys_result(
    submitted: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> int:
        raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))

    monkeypatch.setattr(os, "open", refuse)
    with pytest.raises(Problem, match="Too many open files"):
        collect(submitted, "neighbour")


def test_a_file_that_grows_while_it_is_read_is_read_no_further_than_the_limit(
    submitted: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    limits = Limits(notebook_bytes=100)
    path = hand_in(submitted.parent.parent, "learner", b"x" * 100)
    real = os.fstat

    def then_grow(descriptor: int) -> os.stat_result:
        found = real(descriptor)
        with open(path, "ab") as file:
            file.write(b"y" * 1000)
        return found

    monkeypatch.setattr(os, "fstat", then_grow)
    assert isinstance(handed_in.found(submitted, "learner", LESSON, limits).content, Unreadable)


def test_a_fingerprint_changes_with_what_is_said_and_with_what_is_read() -> None:
    told = [
        Submission("s", b"a"),
        Submission("s", b"b"),
        Submission("s", b"a", "a note"),
        Submission("s", b"a", beside={"timestamp.txt": b"today"}),
        Submission("s", b"a", beside={"timestamp.txt": b"yesterday"}),
        Submission("s", Unreadable("a")),
        Submission("s", Unreadable("b")),
    ]
    assert len({submission.fingerprint for submission in told}) == len(told)
    assert Submission("s", b"a").fingerprint == told[0].fingerprint


def test_every_bad_submission_has_its_result_and_the_class_is_graded(course: Path) -> None:
    home = course / "class" / "submitted"
    hand_in(course, "neighbour", notebook())
    for make in BAD:
        make(home / make.__name__)
    hand_in(course, "empty", b"")
    hand_in(course, "latin", '{"cells": ["é"]}'.encode("latin-1"))
    hand_in(course, "deep", b"[" * 100_000 + b"]" * 100_000)
    hand_in(course, "future", b'{"nbformat": 9, "nbformat_minor": 0, "metadata": {}, "cells": []}')
    (home / "a file").write_text("no student")
    results = {result["student"]: result for result in grade(course)}
    assert results.pop("neighbour")["status"] == "GRADED"
    assert set(results) == {make.__name__ for make in BAD} | {"empty", "latin", "deep", "future"}
    for make, said in BAD.items():
        assert said.replace("learner", make.__name__) in results[make.__name__]["message"]
    for student, result in results.items():
        assert (result["status"], result["score"], result["exercises"]) == ("INVALID", 0, [])
        assert result["message"], student


def test_odd_names_are_names(course: Path) -> None:
    names = [
        "with space",
        "π🙂",
        "o'neil",
        "..x",
        "{braces}",
        "%s",
        "a=b",
        "x-1",
        "J\xfcrgen M\xfcller",
        "李雷",
        "ก้อย",
        "%3Cb%3E",
    ]
    for name in names:
        hand_in(course, name, notebook())
    results = {result["student"]: result for result in grade(course)}
    assert {name: result["status"] for name, result in results.items()} == dict.fromkeys(
        names, "GRADED"
    )
    assert {student for (student,) in recorded(course)["students"]} == set(names)


FORGED = f"eve\n{LESSON},,,mallory,,,,9.0,0.0,9.0,9.0"  # a row of nbgrader's export
REFUSED = {
    FORGED: "characters that are not seen",
    **{f"a{odd}b": "characters that are not seen" for odd in "\t\r\x1b\x7f\u202e\u200b\u2028\xa0"},
    **{f"a{odd}b": "characters that are not seen" for odd in "\u115f\u1160\u3164\uffa0\u2800"},
    **{f"a{odd}b": "characters that are not seen" for odd in "\u034f\ufe0f\U000e0101\U0001d159"},
    **dict.fromkeys((" lead", "trail ", "\u3000wide"), "or a blank at an end"),
    **dict.fromkeys(("Lee, Ann", 'Ann "x" Lee'), "a comma, a semicolon or a double quote"),
    **dict.fromkeys(("x;=HYPERLINK('a')", "x\u037e=1"), "a comma, a semicolon"),
    **dict.fromkeys(("<img src=x onerror=alert(1)>", "a>b", "&ltb", "O&M"), "takes for HTML"),
    **{f"{odd}1+1": "takes for a formula" for odd in "=+-@＝－"},
    os.fsdecode(b"bytes \xff"): "Rename the folder",
    "n" * 200: "is longer than the 128 characters",
}


def test_no_name_reaches_an_export_that_would_forge_it(
    course: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    hand_in(course, "ann", notebook())
    for name in REFUSED:
        hand_in(course, name, notebook())
    results = {result["student"]: result for result in grade(course)}
    for name, why in REFUSED.items():
        result = results[in_nfc(os.fsencode(name).decode("utf-8", "backslashreplace"))]
        assert (result["status"], result["score"]) == ("INVALID", 0.0)
        assert why in result["message"]
        assert result["message"].endswith("Rename the folder, then run this again.")
    assert recorded(course)["students"] == [("ann",)]
    written = summary_file(course).read_text()
    assert all(line.isprintable() for line in written.splitlines())
    assert f"\n  {FORGED.encode('unicode_escape').decode()}\n" in written
    assert f"{len(REFUSED)} INVALID" in capsys.readouterr().err
    assert exported(course)["student_id"] == ["ann"]


JURGEN, DECOMPOSED = "J\xfcrgen", "Ju\u0308rgen"


def test_a_name_is_one_name_however_a_system_spells_it(course: Path) -> None:
    hand_in(course, DECOMPOSED, notebook())
    hand_in(course, DECOMPOSED, notebook(lesson="01-soft-lookup"), "01-soft-lookup")
    for _ in range(2):  # as it was handed in, and as it is called since
        [result] = grade(course, students=(DECOMPOSED,))
        assert (result["student"], result["status"]) == (JURGEN, "GRADED")
    assert recorded(course)["students"] == [(JURGEN,)]
    homes = course / "class" / "submitted"
    assert os.listdir(homes / JURGEN) == [LESSON]
    assert os.listdir(homes / DECOMPOSED) == ["01-soft-lookup"], "till that lesson is graded"


@pytest.mark.parametrize(
    "spellings",
    [prove((JURGEN, DECOMPOSED)), prove(("Kim", "\u212aim")), ("\xc5", "\u212b", "A\u030a")],
    ids=ascii,
)
def test_nobody_keeps_others_from_being_graded_by_another_spelling_of_their_name(
    course: Path, spellings: tuple[str, ...]
) -> None:
    for number, name in enumerate(["ann", *spellings]):
        hand_in(course, name, notebook({"number": number}))
    handed_in = [kept(course, name) for name in spellings]
    composed, *others = spellings
    results = grade(course)
    assert {result["student"]: result["status"] for result in results} == dict.fromkeys(
        ("ann", composed), "GRADED"
    )
    said = " ".join(summary_file(course).read_text().split())
    for name in others:
        assert tells(said, "another spelling", ascii(composed), ascii(name))
        with pytest.raises(Usage, match="another spelling"):
            grade(course, students=(name,))
    assert [kept(course, name) for name in spellings] == handed_in
    [alone] = grade(course, students=(composed,))
    assert alone["student"] == composed


@pytest.mark.parametrize("known", [False, True], ids=["new", "with another lesson"])
def test_of_spellings_that_are_not_composed_none_is_taken(course: Path, known: bool) -> None:
    spellings = ("\u212b", "A\u030a")
    for number, name in enumerate(["ann", *spellings]):
        hand_in(course, name, notebook({"number": number}))
    if known:
        hand_in(course, "\xc5", notebook(lesson="01-soft-lookup"), "01-soft-lookup")
    for _ in range(2):  # the second run too
        assert [result["student"] for result in grade(course)] == ["ann"]
        said = " ".join(summary_file(course).read_text().split())
        for name in spellings:
            assert tells(said, "several spellings", ascii(name))
            assert kept(course, name)
    with pytest.raises(Usage, match="several spellings"):
        grade(course, students=("A\u030a",))


def kept(course: Path, student: str) -> bytes:
    """What lies where a student handed it in."""
    return (course / "class" / "submitted" / student / LESSON / NOTEBOOK).read_bytes()


@pytest.mark.parametrize("linked", [JURGEN, DECOMPOSED])
def test_no_link_is_followed_where_a_name_is_composed(submitted: Path, linked: str) -> None:
    other = JURGEN if linked == DECOMPOSED else DECOMPOSED
    if other == DECOMPOSED:
        hand_in(submitted.parent.parent, other, b"mine")
        (submitted / "nobody").mkdir()
        (submitted / linked).symlink_to("nobody")
    else:
        (submitted / linked).symlink_to("neighbour")
    names = handed_in.students(submitted, LESSON)
    assert handed_in.composed(submitted, LESSON, names) == names
    assert (submitted / "neighbour" / LESSON / NOTEBOOK).is_file()
    assert not list((submitted / "neighbour").parent.glob(f"nobody/{LESSON}"))


# Processes that die, and people who stop them


def test_a_worker_that_dies_loses_nothing(course: Path) -> None:
    for number in range(5):
        hand_in(course, f"s{number}", notebook({"number": number}))
    undisturbed = grade(course)
    hand_in(course, "s2", notebook({"number": 2, "die_once": str(course / "died")}))
    disturbed = grade(course)
    assert (course / "died").exists()
    assert [result["status"] for result in disturbed] == ["GRADED"] * 5
    assert disturbed[:2] + disturbed[3:] == undisturbed[:2] + undisturbed[3:]


def test_what_ends_workers_is_told_also_where_nobody_else_is_left(course: Path) -> None:
    hand_in(course, "s1", notebook())
    grade(course)
    for student in ("s2", "s3"):
        hand_in(course, student, notebook({"die": True, "student": student}))
    results = grade(course, resume=True)
    assert [result["status"] for result in results] == ["GRADED", "INVALID", "INVALID"]


@pytest.mark.parametrize("jobs", [prove(1), 2])
def test_what_ends_two_workers_is_invalid_and_nobody_else_is_left_out(
    course: Path, jobs: int
) -> None:
    die = {"s0", "s2", "s4"}
    for number in range(8):
        student = f"s{number}"
        hand_in(course, student, notebook({"number": number, "die": student in die}))
    results = grade(course, jobs=jobs)
    assert {result["student"]: result["status"] for result in results} == {
        f"s{number}": "INVALID" if f"s{number}" in die else "GRADED" for number in range(8)
    }
    assert "A person has to look at it" in results[0]["message"]


def test_workers_that_hang_are_ended(course: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "_SPARE_SECONDS", -Limits().submission_seconds + 5)
    for number in range(3):
        hand_in(course, f"s{number}", notebook({"number": number, "sleep": 600 * (number == 1)}))
    results = grade(course, jobs=2)
    assert [result["status"] for result in results] == ["GRADED", "INVALID", "GRADED"]
    assert "process ended" in results[1]["message"]


def test_a_grader_that_always_dies_gives_nobody_a_zero(course: Path) -> None:
    for number in range(3):
        hand_in(course, f"s{number}", notebook({"die": True}))
    with pytest.raises(Problem, match="Nothing could be graded"):
        grade(course)
    assert recorded(course)["students"] == []


def test_where_workers_cannot_begin_nobody_gets_a_result(course: Path) -> None:
    hand_in(course, "s1", notebook())
    order = classes.Order(LESSON, jobs=2)
    with pytest.raises(Problem, match="cannot isolate"):
        classes.grade_class(order, Course.here(), open_refused)
    with pytest.raises(Problem, match="Nothing could be graded"):
        classes.grade_class(order, Course.here(), open_and_die)
    assert recorded(course)["students"] == []


@contextmanager
def open_unconfined(job: Job) -> Iterator[GradesOne]:
    """The real one, in a process whose children are never confined."""
    confine.CONFINED = b"never said"
    with open_grader(job) as grader:
        yield grader


def test_a_child_that_is_not_confined_gives_nobody_a_result(course: Path) -> None:
    hand_in(course, "s1", notebook())
    with pytest.raises(Problem, match="a child was not confined"):
        classes.grade_class(classes.Order(LESSON, jobs=1), Course.here(), open_unconfined)
    assert recorded(course)["students"] == []
    assert written(course) == {}


@pytest.mark.parametrize("asked", ["grade", "grade-file"])
def test_without_isolation_there_is_no_score_and_the_command_fails(
    course: Path, asked: str
) -> None:
    path = str(hand_in(course, "s1", notebook()))
    refused = [sys.executable, str(ROOT / "tests" / "as_another.py"), "docker", sys.executable]
    done = subprocess.run(
        [*refused, "-m", "autograder", asked, LESSON if asked == "grade" else path, "--json", "r"],
        cwd=course,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 1
    assert tells(done.stderr, "cannot be kept in")
    assert not (course / "r").exists()
    assert recorded(course)["scores"] == recorded(course)["students"] == []


SHARE = 10


class WhoGraded:
    """Says who graded a submission, and after some of them waits for the other worker.

    Args:
        folder: where each notes what it has graded.
        stops: after so many, until the other one has had its share.
    """

    lesson, points = LESSON, 0.0

    def __init__(self, folder: Path, name: str, stops: int = 0) -> None:
        self.folder, self.name, self.stops = folder, name, stops

    def grade(self, data: bytes | Unreadable, student: str, seed: int | None = None) -> Graded:
        (self.folder / f"{self.name} {student}").touch()
        if graded_by(self.name, self.folder) == self.stops:
            until(lambda: graded_by("late", self.folder) >= SHARE, True, "the late one's share")
        return Graded(Result(student, LESSON, "GRADED", self.name, 0.0, 0.0))


def graded_by(name: str, folder: Path) -> int:
    return len([*folder.glob(f"{name} *")])


@contextmanager
def open_second_first(job: Job) -> Iterator[GradesOne]:
    """Of two workers the first begins when the other one has graded a few."""
    folder = Path(job.lesson)
    try:
        (folder / "first").touch(exist_ok=False)
    except FileExistsError:
        yield WhoGraded(folder, "early", stops=5)
    else:
        until(lambda: graded_by("early", folder) >= 3, True, "the other one's first results")
        yield WhoGraded(folder, "late")


def test_a_worker_that_begins_late_gets_its_share(tmp_path: Path) -> None:
    job = Job(str(tmp_path), "", 1, Limits())
    submissions = [Submission(f"s{student}", b"") for student in range(60)]
    fair = Engine(job, partial(pool.workers, 2), open_second_first)
    done = [graded for some in fair.grade(submissions) for _, graded in some]
    each = Counter(graded.result.message for graded in done)
    assert len(done) == 60
    assert each["early"] + each["late"] == 60
    assert each["late"] >= SHARE


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_stopped_run_leaves_no_process_and_says_how_to_go_on(
    course: Path, number: signal.Signals
) -> None:
    for student in range(40):
        hand_in(course, f"s{student}", notebook({"sleep": 0.3}))
    run = start(course, "--jobs=2", "--json=results.jsonl")
    until(lambda: lines_in(course) > 0, True, "the first line in the journal")
    if number == signal.SIGINT:
        os.killpg(run.pid, number)  # as a terminal does
    else:
        run.send_signal(number)
    _, said = run.communicate(timeout=60)
    assert run.returncode == 128 + number
    assert said.strip().endswith(f"To go on: python -m autograder grade {LESSON} --resume")
    assert "Traceback" not in said
    until(lambda: session_of(run.pid) == [], True, "the end of all processes")
    assert not (course / "results.jsonl").exists()


@pytest.mark.parametrize(
    ("when", "number"),
    [("loading", signal.SIGTERM), prove("loading", signal.SIGKILL), ("grading", signal.SIGKILL)],
)
def test_a_real_run_that_ends_takes_all_its_processes_along(
    course: Path, when: str, number: signal.Signals
) -> None:
    released = released_path(LESSON).read_bytes()
    for student in range(40):
        hand_in(course, f"s{student}", released)
    run = start(course, "--jobs=2", program="autograder")
    until(lambda: bool(descendants(run.pid)), True, "a process of its own")
    if when == "grading":
        until(lambda: lines_in(course) > 0, True, "the first line in the journal")
    processes = descendants(run.pid)
    run.send_signal(number)
    run.communicate(timeout=60)
    # While all is loading it may listen to SIGTERM already, or not yet.
    assert run.returncode in ({-number} if number == signal.SIGKILL else {-number, 128 + number})
    assert wait_until_gone(processes) == []


def test_a_run_leaves_nothing_in_the_temporary_folder(
    course: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    hand_in(course, "ada", released_path(LESSON).read_bytes())
    temporary = tmp_path_factory.mktemp("temporary")
    done = subprocess.run(
        [sys.executable, "-m", "autograder", "grade", LESSON, "--json=-"],
        cwd=course,
        env={**environment(), "TMPDIR": str(temporary)},
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stdout.count("\n")) == (0, 1), done.stderr
    assert list(temporary.iterdir()) == []


@pytest.mark.parametrize(("arguments", "status"), [(["--help"], 0), (["grade"], 2), ([], 2)])
def test_a_command_that_only_says_something_ends_as_commands_do(
    arguments: list[str], status: int
) -> None:
    command = [sys.executable, "-m", "autograder", *arguments]
    assert subprocess.run(command, cwd=ROOT, capture_output=True).returncode == status


# Disks


@pytest.mark.parametrize("step", ["autograded", *map(prove, ("feedback", "runs"))])
def test_what_cannot_be_written_is_named_and_resume_goes_on(
    course: Path, capsys: pytest.CaptureFixture[str], step: str
) -> None:
    for number in range(3):
        hand_in(course, f"s{number}", notebook({"number": number}))
    wanted = grade(course)
    (course / "results.jsonl").unlink()
    for folder in ("autograded", "feedback", "runs"):
        shutil.rmtree(course / "class" / folder)
    obstacle = course / "class" / step
    obstacle.write_text("a file where a folder should be")
    asked = ["grade", LESSON, "--jobs=1", "--seed=1", "--json=results.jsonl"]
    assert command(*asked) == 1
    said = capsys.readouterr().err
    assert str(obstacle) in said
    assert "Traceback" not in said
    assert not (course / "results.jsonl").exists()
    obstacle.unlink()
    assert command(*asked, "--resume") == 0
    assert results_in(course / "results.jsonl") == wanted


def test_a_full_disk_is_named_and_resume_goes_on(course: Path) -> None:
    for number in range(12):
        hand_in(course, f"s{number:02}", notebook({"number": number}))
    wanted = grade(course)
    for folder in ("autograded", "feedback", "runs"):
        shutil.rmtree(course / "class" / folder)
    (course / "results.jsonl").unlink()
    asked = f"{sys.executable} -m tests.fake_run grade {LESSON} --jobs=1 --seed=1 --json=all.jsonl"
    small = course / "class" / "autograded"
    script = f"""
        set -e
        mkdir {small}
        mount -t tmpfs -o size=400k none {small}
        set +e
        {asked}
        echo status $?
        mount -o remount,size=40m {small}
        {asked} --resume
        echo status $?
        cp -r {small} {course}/copy
    """
    prefix = ["unshare", "-m"] if os.geteuid() == 0 else ["unshare", "-rm"]
    if subprocess.run([*prefix, "true"], capture_output=True).returncode:
        pytest.skip("no mount namespaces here, so no small disk to fill")
    done = subprocess.run(
        [*prefix, "sh", "-c", script], cwd=course, env=environment(), capture_output=True, text=True
    )
    assert done.stdout.split() == ["status", "1", "status", "0"], done.stderr
    assert str(small) in done.stderr
    assert "disk is full" in done.stderr
    assert results_in(course / "all.jsonl") == wanted
    copies = sorted(path.read_bytes() for path in (course / "copy").rglob("*.ipynb"))
    handed_in = (course / "class" / "submitted").rglob("*.ipynb")
    assert copies == sorted(path.read_bytes() for path in handed_in)


def test_where_no_worker_can_be_started_that_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(forkserver, "ensure_running", full)
    with pytest.raises(Problem, match=r"No space left on device. Look at /tmp and /dev/shm"):
        pool.load_ahead()
    monkeypatch.setattr(pool, "_Pool", full)
    with pytest.raises(Problem, match="No worker process can be started"), pool.workers(1):
        pass


# One file


def test_what_a_learner_wrote_cannot_steer_a_terminal() -> None:
    forged = ExerciseResult("softmax", "ERROR", 0.0, 2.0, None, "\x1b[2J\x1b[1;1Hall right\r", 0.1)
    result = Result("s", LESSON, "GRADED", "", 0.0, 2.0, (), (), (forged,))
    shown = as_text(Graded(result))
    assert "\\x1b[2J" in shown
    assert all(letter == "\n" or letter.isprintable() for letter in shown)


@pytest.mark.parametrize(
    ("path", "student"),
    [
        (f"class/anna/{LESSON}/{NOTEBOOK}", "anna"),
        (f"class/anna/{LESSON}/{LESSON} (1).ipynb", "anna"),
        (f"class/anna/{LESSON}/draft.ipynb", "draft"),
        (f"class/anna/drafts/{NOTEBOOK}", LESSON),
        ("anna.ipynb", "anna"),
    ],
)
def test_the_folder_says_whose_notebook_it_is_else_the_file(path: str, student: str) -> None:
    assert student_of(Path(path), LESSON) == student


def test_one_file_is_graded_as_its_cells_tell(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "homework.ipynb"
    path.write_text(json.dumps(right_notebook("01-soft-lookup")))
    assert command("grade-file", str(path), "--json=-") == 0
    [line] = capfd.readouterr().out.splitlines()
    result = json.loads(line)
    assert (result["student"], result["lesson"]) == ("homework", "01-soft-lookup")
    assert result["score"] == result["max_score"] > 0
    assert command("grade-file", str(path)) == 0
    said = capfd.readouterr().out
    assert said.startswith("homework · 01-soft-lookup · GRADED")
    assert "softmax: right · 2 of 2 points" in said


@pytest.mark.parametrize("asked", [["--lesson=02-pure-python"], []])
def test_one_file_of_another_lesson_is_told_which(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], asked: list[str]
) -> None:
    path = tmp_path / "02-pure-python (1).ipynb"
    path.write_text(json.dumps(right_notebook("01-soft-lookup")))
    assert command("grade-file", str(path), "--json=-", *asked) == 0
    result = json.loads(capfd.readouterr().out)
    assert (result["status"], result["score"], result["exercises"]) == ("INVALID", 0, [])
    facts = ("01-soft-lookup", "as 02-pure-python", "Hand in", "`02-pure-python.ipynb`")
    assert tells(result["message"], *facts)
