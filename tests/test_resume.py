"""Runs that are killed and go on, and two graders at once: the gradebook of an undisturbed run."""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

import attnlab
import autograder
from autograder import Usage
from autograder.run import code
from autograder.run.classes import Order, Stopped
from autograder.run.journal import Journal
from autograder.run.lock import sole_grader
from autograder.submission.results import Result
from tests import gradebooks
from tests.course import read, released_path, tells
from tests.small_class import (
    LESSON,
    environment,
    grade,
    hand_in,
    make_course,
    notebook,
    recorded,
    results_in,
    written,
)
from tests.test_grade_command import lines_in, prove, start
from tests.test_nbgrader import right_notebook, wrong_notebook

pytestmark = pytest.mark.slow

# The journal


HEADER = {"seed": 7, "begun": "2026-01-01"}


def entry(student: str, of: str = "", **more: Any) -> dict[str, Any]:
    """What is added of a submission."""
    result = Result(student, LESSON, "GRADED", "", 0.0, 1.0).as_json()
    line = {"folder": student, "fingerprint": of or f"print of {student}", "result": result}
    return line | more


def test_a_journal_goes_on_where_its_last_line_was_cut(tmp_path: Path) -> None:
    path = tmp_path / "runs" / "journal.jsonl"
    with Journal.begin(path, HEADER) as journal:
        journal.add([entry("a"), entry("b")])
        journal.add([entry("c")])
    whole = path.read_bytes()
    start_of_last = whole.rstrip().rindex(b"\n") + 1
    for end in range(start_of_last, len(whole)):
        path.write_bytes(whole[:end])
        resumed = Journal.resume(path)
        assert resumed is not None
        with resumed:
            assert resumed.seed == 7
            assert resumed.holds("b", "print of b")
            assert not resumed.holds("c", "print of c")
            resumed.add([entry("c")])
            assert resumed.result("c")["student"] == "c"
            assert resumed.result("a")["student"] == "a"
        again = path.read_bytes()
        assert again.startswith(whole[:start_of_last])
        assert json.loads(again[start_of_last:])["folder"] == "c"


def test_a_journal_takes_the_last_word_on_a_student(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    with Journal.begin(path, HEADER) as journal:
        journal.add([entry("a", "first", n=1), entry("a", "second", at="now")])
    resumed = Journal.resume(path)
    assert resumed is not None
    with resumed:
        assert not resumed.holds("a", "first")
        assert resumed.holds("a", "second")
        assert resumed.latest("a")["at"] == "now"


@pytest.mark.parametrize("content", [b"", b'{"seed": 7', b"[]\n", b'{"seed": "7"}\n', b"\xff\n"])
def test_a_journal_without_a_header_is_none(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "journal.jsonl"
    assert Journal.resume(path) is None
    path.write_bytes(content)
    assert Journal.resume(path) is None


def test_what_is_damaged_in_a_journal_loses_nothing_after_it(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    with Journal.begin(path, HEADER) as journal:
        journal.add([entry("a"), entry("b")])
    first, second, third = path.read_bytes().splitlines(keepends=True)
    for damaged in (
        b"",
        b"\n",
        b"\0" * 9 + b"\n",
        second[:40] + b"\n",
        b"[]\n",
        b'{"folder": 1}\n',
    ):
        path.write_bytes(first + damaged + third)
        resumed = Journal.resume(path)
        assert resumed is not None
        with resumed:
            assert (resumed.folders, resumed.holds("b", "print of b")) == (["b"], True)
            resumed.add([entry("c")])
        assert path.read_bytes().startswith(first + damaged + third)


def test_a_journal_of_an_earlier_grader_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    lines = [HEADER | {"lesson": LESSON}, entry("a"), entry("b")]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    resumed = Journal.resume(path)
    assert resumed is not None
    with resumed:
        assert resumed.seed == 7
        assert resumed.holds("a", "print of a")
        assert resumed.past("a", "another").before == lines[1]["result"]


def test_one_student_graded_again_takes_nothing_from_the_run_over_the_class(course: Path) -> None:
    path = course / "class" / "runs" / LESSON / "journal.jsonl"
    for number in range(3):
        hand_in(course, f"s{number}", notebook({"number": number}))
    results = grade(course, seed=11)
    whole = path.read_bytes()
    grade(course, students=("s1",), seed=12)
    assert path.read_bytes().startswith(whole)
    hand_in(course, "s3", notebook())
    assert grade(course, resume=True)[:3] == results
    assert grade(course, seed=11)[:3] == results


def test_a_stopped_run_over_some_goes_on_over_them(course: Path) -> None:
    for name in ("ann lee", "bob"):
        hand_in(course, name, notebook())
    grade(course, seed=11)
    grade(course, students=("ann lee",), seed=12)
    before = recorded(course)
    grade(course, students=("ann lee",), resume=True)
    assert recorded(course) == before
    stopped = Stopped(Order(LESSON, students=("ann lee",)), 2)
    assert f"grade {LESSON} --resume '--student=ann lee'" in str(stopped)


# Going on


def seeds_in(course: Path) -> list[tuple[str, int]]:
    """Whose hand-ins were graded, in turn, and the seeds of their cases."""
    text = (course / "class" / "runs" / LESSON / "journal.jsonl").read_text()
    lines = map(json.loads, text.splitlines())
    return [(line["folder"], line["seed"]) for line in lines if "folder" in line]


def test_resume_grades_what_is_new_or_changed_on_cases_that_nobody_knows(
    course: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for number in range(3):
        hand_in(course, f"s{number}", notebook({"number": number}))
    grade(course, seed=11)
    hand_in(course, "s1", notebook({"number": "another"}))
    hand_in(course, "s9", notebook())
    capsys.readouterr()
    resumed = grade(course, resume=True)
    assert "2 graded now" in capsys.readouterr().err
    assert [result["student"] for result in resumed] == ["s0", "s1", "s2", "s9"]
    seeds = [seed for who, seed in seeds_in(course) if who in ("s0", "s2")]
    [other] = {seed for who, seed in seeds_in(course)[3:]}
    assert seeds == [11, 11]
    assert other != 11
    assert resumed[1::2] == grade(course, seed=other)[1::2]
    grade(course, seed=11)
    with pytest.raises(Usage, match="has seed 11, not 12"):
        grade(course, resume=True, seed=12)


def test_resume_records_another_time_of_handing_in(
    course: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("ann", "bob"):
        hand_in(course, name, notebook())
    grade(course)
    folder = course / "class" / "submitted" / "bob" / LESSON
    (folder / "timestamp.txt").write_text("2026-02-03 10:00:00 UTC")
    grade(course, resume=True)
    assert "1 graded now" in capsys.readouterr().err
    [ann, bob] = recorded(course)["submissions"]
    assert ann == ("ann", None)
    assert (bob[0], str(bob[1])[:19]) == ("bob", "2026-02-03 10:00:00")


def test_resume_with_other_checks_grades_everyone(
    course: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    hand_in(course, "s1", notebook())
    before = grade(course, seed=11)
    other = Path(shutil.copytree(attnlab.__path__[0], course / "other"))
    monkeypatch.setattr(attnlab, "__path__", [str(other)])
    assert grade(course, resume=True) == before
    (other / "lessons" / "scaling" / "exercises.py").write_text("# mended\n")
    assert [each["student"] for each in grade(course, resume=True)] == ["s1"]
    said = capsys.readouterr().err
    [line] = [line for line in said.splitlines() if "begins anew" in line]
    assert tells(line, "checks", "changed")
    assert seeds_in(course)[0][1] == 11 != seeds_in(course)[1][1]


@pytest.mark.sqlite
def test_resume_grades_again_what_the_gradebook_or_the_folders_have_lost(
    course: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    home = course / "class"
    for name in ("ann", "bob", "cid"):
        hand_in(course, name, notebook({"number": name}))
    hand_in(course, "eve", b"")
    shutil.copy(home / "gradebook.db", course / "backup.db")
    before = grade(course)
    books = recorded(course), written(course)
    (home / "feedback" / "bob" / LESSON / f"{LESSON}.html").unlink()
    assert grade(course, resume=True) == before
    assert (recorded(course), written(course)) == books
    shutil.copy(course / "backup.db", home / "gradebook.db")
    capsys.readouterr()
    assert grade(course, resume=True) == before
    assert "4 graded now" in capsys.readouterr().err
    assert (recorded(course), written(course)) == books
    grade(course, resume=True)
    assert "0 graded now" in capsys.readouterr().err


def test_a_change_in_what_grades_is_noticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    course = shutil.copytree(Path(attnlab.__path__[0]), tmp_path / "attnlab")
    grader = shutil.copytree(Path(autograder.__path__[0]), tmp_path / "autograder")
    monkeypatch.setattr(attnlab, "__path__", [str(course)])
    monkeypatch.setattr(autograder, "__path__", [str(grader)])
    before = code.digest()
    (course / "lessons" / "numpy" / "figures.py").write_text("# other colours")
    (course / "lessons" / "numpy" / "mistakes.md").write_text("Better said.")
    (grader / "run" / ".#grade.py").symlink_to("an editor's lock")
    assert code.digest() == before
    modules = ("checks/judge", "calling/call", "checks/recipe", "lessons/numpy/exercises")
    for path in (*(course / f"{name}.py" for name in modules), grader / "run" / "grade.py"):
        path.write_text("# mended")
        assert code.digest() != before, path
        before = code.digest()


@pytest.mark.parametrize(("kind", "anew"), [("markdown", 0), ("code", 2)])
def test_resume_after_a_new_release_grades_everyone_if_its_code_is_another(
    course: Path, capsys: pytest.CaptureFixture[str], kind: str, anew: int
) -> None:
    for number in range(2):
        hand_in(course, f"s{number}", notebook({"number": number}))
    grade(course, seed=11)
    path = course / "notebooks" / LESSON / f"{LESSON}.ipynb"
    released = json.loads(path.read_text())
    cell = next(each for each in released["cells"] if each["cell_type"] == kind)
    cell["source"] = [*cell["source"], "\n# Said otherwise"]
    path.write_text(json.dumps(released))
    capsys.readouterr()
    grade(course, resume=True)
    said = capsys.readouterr().err
    assert ("it begins anew" in said) == bool(anew)
    assert f"{anew} graded now" in said


def test_resume_with_nothing_to_go_on_with_is_a_new_run(
    course: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    hand_in(course, "s1", notebook())
    grade(course, resume=True)
    assert "this is a new one" in capsys.readouterr().err


def kill_and_compare(course: Path, kills: int, lesson: str, program: str) -> None:
    """Kill a run again and again, each time a moment after some line of its journal.

    What it leaves, when at last it comes to its end, is what an undisturbed run leaves.
    """

    def begin(where: Path, *options: str) -> subprocess.Popen[str]:
        order = ("--jobs=2", "--seed=3", "--json=all.jsonl", *options)
        return start(where, *order, lesson=lesson, program=program)

    def complete(where: Path, *options: str) -> None:
        run = begin(where, *options)
        _, said = run.communicate()
        assert run.returncode == 0, said

    undisturbed = gradebooks.copy(course, course.parent / "undisturbed")
    complete(undisturbed)
    seed = random.randrange(2**32)
    moments = random.Random(seed)
    killed, students = 0, len(os.listdir(course / "class" / "submitted"))
    for _ in range(kills):
        until = min(lines_in(course, lesson) + moments.randrange(3), students - 1)
        run = begin(course, "--resume")
        while run.poll() is None and lines_in(course, lesson) < until:
            time.sleep(0.001)
        moment = time.monotonic() + moments.uniform(0, 0.2)
        while time.monotonic() < moment and lines_in(course, lesson) < students - 1:
            time.sleep(0.001)  # not past the last but one: a quick run would be at its end
        run.kill()
        run.communicate()
        killed += run.returncode == -9
    complete(course, "--resume")
    assert killed > 0, f"seed {seed}: no run was killed"
    assert results_in(course / "all.jsonl") == results_in(undisturbed / "all.jsonl"), f"{seed=}"
    assert recorded(course) == recorded(undisturbed), f"{seed=}"
    left, wanted = written(course), written(undisturbed)
    different = [name for name in left | wanted if left.get(name) != wanted.get(name)]
    assert different == [], f"{seed=}"


@pytest.mark.parametrize("kills", [2, prove(10)])
def test_killed_at_random_moments_it_leaves_the_same(course: Path, kills: int) -> None:
    for number in range(24):
        hand_in(course, f"s{number:02}", notebook({"number": number, "sleep": 0.02}))
    hand_in(course, "torn", b"{")
    kill_and_compare(course, kills, LESSON, "tests.fake_run")


@pytest.mark.parametrize("kills", [1, prove(4)])
def test_the_real_grader_killed_at_random_moments_leaves_the_same(
    tmp_path: Path, kills: int
) -> None:
    lesson = "02-pure-python"
    course = tmp_path / "course"
    course.mkdir()
    make_course(course, lesson)
    kinds = (right_notebook, wrong_notebook, lambda slug: read(released_path(slug)))
    for number in range(9):
        content = json.dumps(kinds[number % 3](lesson)).encode()
        hand_in(course, f"s{number:02}", content, lesson)
    kill_and_compare(course, kills, lesson, "autograder")


# Two at once


def test_graders_of_one_gradebook_wait_and_say_for_whom(course: Path) -> None:
    for number in range(12):
        hand_in(course, f"s{number:02}", notebook({"number": number, "sleep": 0.02}))
    with sole_grader(course / "class" / "runs" / "lock", "another", print):
        runs = [start(course, "--jobs=1", "--seed=5", f"--json={name}") for name in "ab"]
        for run in runs:
            assert run.stderr is not None
            waits = f"Process {os.getpid()} has been grading another since"
            assert run.stderr.readline().startswith(waits)
        assert lines_in(course) == 0
    for run in runs:
        run.communicate(timeout=120)
        assert run.returncode == 0
    assert results_in(course / "a") == results_in(course / "b")
    assert len(results_in(course / "a")) == len(recorded(course)["submissions"]) == 12


def test_a_killed_holder_frees_the_lock(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    code = (
        "import sys, time; from pathlib import Path; from autograder.run.lock import sole_grader\n"
        "with sole_grader(Path(sys.argv[1]), 'x', print): print('held', flush=True); time.sleep(60)"
    )
    holder = subprocess.Popen(
        [sys.executable, "-c", code, str(path)], env=environment(), stdout=subprocess.PIPE
    )
    assert holder.stdout is not None
    assert holder.stdout.readline() == b"held\n"
    holder.kill()
    holder.communicate()
    said: list[str] = []
    with sole_grader(path, "x", said.append):
        assert said == []
