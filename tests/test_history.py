"""What is kept of a student, and how all of it is removed: `history` and `forget`."""

from __future__ import annotations

import io
import json
import os
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any, Literal
from unicodedata import normalize

import pytest
from sqlalchemy import inspect

from autograder.run.journal import Journal
from autograder.run.lock import sole_grader
from autograder.submission import collected
from autograder.submission.collected import Collected
from autograder.term import forget as forgetting
from tests import gradebooks, small_class
from tests.course import tells
from tests.small_class import LESSON, environment, hand_in, notebook, recorded, written
from tests.test_again import rule, score_by_hand, submit, torn, worse
from tests.test_grade_command import command

pytestmark = pytest.mark.slow

grade = partial(small_class.grade, jobs=1, seed=1)
OTHER = "01-soft-lookup"
Form = Literal["NFC", "NFD"]  # of one name, as Unicode composes it, or as a Mac writes it
ODD = ["two words", "π🙂", "two\nlines", 'it\'s "quoted"', "-rf", "..x", "*", "%s", "[a-z]", "a\\b"]


def journal_of(course: Path) -> Path:
    return course / "class" / "runs" / LESSON / "journal.jsonl"


def said_by(capsys: pytest.CaptureFixture[str], *arguments: str, status: int = 0) -> str:
    """What a command says."""
    capsys.readouterr()
    assert command(*arguments) == status
    said = capsys.readouterr()
    return said.out + said.err


# --- history ---


def test_who_was_graded_when_by_what_and_how_can_be_read_without_the_grader(course: Path) -> None:
    submit(course, "ann", "2026-03-01 12:00:00 UTC")
    [first] = grade(course, seed=7)
    worse(course, "ann")
    [second] = grade(course, students=("ann",), seed=8)
    lines = list(map(json.loads, journal_of(course).read_text().splitlines()))
    graded = [line for line in lines if "result" in line]
    assert [line["seed"] for line in graded] == [7, 8]
    assert [line["result"]["score"] for line in graded] == [first["score"], second["score"]]
    assert graded[0]["handed_in"] == "2026-03-01T12:00:00"
    assert graded[0]["fingerprint"] != graded[1]["fingerprint"]
    for line in graded:
        assert line["folder"] == line["result"]["student"] == "ann"
        assert len(line["code"]) == len(line["released"]) == 64
        assert line["begun"][:10] <= line["at"][:10]


def test_history_tells_each_time(course: Path, capsys: pytest.CaptureFixture[str]) -> None:
    submit(course, "ann")
    torn(course, "bob")
    grade(course, seed=7)
    worse(course, "ann")
    grade(course, seed=8, keep="best")
    said = said_by(capsys, "history", "ann")
    assert tells(said, LESSON, "2 times", f"class/runs/{LESSON}/journal.jsonl")
    assert "GRADED, 9 of 9 points\n" in said
    assert tells(said, "GRADED", "5 of 9", "after 9", "kept")
    assert "scaled_dot_product_attention FAIL 0" in said
    assert [word in said for word in ("seed 7, checks ", "seed 8, checks ", "seed 1")] == [1, 1, 0]
    assert said_by(capsys, "history", "ann", LESSON) == said
    assert tells(said_by(capsys, "history", "bob"), "INVALID", "0 of 9", "JSON")


def test_history_tells_what_a_person_gave(course: Path, capsys: pytest.CaptureFixture[str]) -> None:
    submit(course, "ann")
    grade(course)
    assert "as a person set" not in said_by(capsys, "history", "ann")
    score_by_hand(course, "ann", "softmax", 0.5)
    said = said_by(capsys, "history", "ann")
    assert said.endswith("\n  now  8.5 of 9 points, as a person set: softmax 0.5\n")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["an"], ("No student 'an'", "'ann'?")),
        (["bob", LESSON], ("No student 'bob'", LESSON)),
        (["ann", "06-casual-mask"], ("mean", "06-causal-mask?")),
        (["ann", OTHER], ("No student 'ann'", OTHER, "Nobody")),
        (["ann", "../submitted"], ("no lesson", "'../submitted'")),
    ],
)
def test_history_of_what_is_not_there_says_so(
    course: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], said: tuple[str, ...]
) -> None:
    for student in ("ann", "ann-lee"):
        submit(course, student)
    grade(course)
    assert tells(said_by(capsys, "history", *arguments, status=2), *said)


def test_history_of_a_class_without_runs_says_so(
    course: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "Nobody was." in said_by(capsys, "history", "ann", status=2)


# --- forget ---

ID, NAME = "zq-17", ("Zebulon", "Quarkfield")


def traces(course: Path, *words: str) -> list[str]:
    """Files and folders below the class whose name or bytes have one of the words."""
    return [
        f"{word} in {path.relative_to(course)}"
        for path in sorted((course / "class").rglob("*"))
        for word in words
        if word in path.name
        or (path.is_file() and not path.is_symlink() and word.encode() in path.read_bytes())
    ]


def in_rows(course: Path, *words: str) -> list[str]:
    """Rows of the gradebook that have one of the words."""
    with gradebooks.connected(course) as connection:
        return [
            f"{word} in {table}: {row}"
            for table in inspect(connection).get_table_names()
            for row in connection.exec_driver_sql(f"select * from {table}")
            for word in words
            if any(word in str(value) for value in row)
        ]


def keep_a_copy(course: Path) -> None:
    """Of the gradebook, where that is a file, as a person does before an upgrade."""
    if not gradebooks.SERVER:
        book = course / "class" / "gradebook.db"
        shutil.copy(book, book.with_name(f"{book.name}.2026-03-01"))


def leave_in_the_file(path: Path, data: bytes) -> None:
    """Let a database hold what was removed from it, as SQLite does unless it is built otherwise."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("pragma secure_delete = off")
        connection.execute("create table gone (data)")
        connection.execute("insert into gone values (?)", (data,))
        connection.execute("drop table gone")
    assert data[:50] in path.read_bytes()


@pytest.fixture
def term(course: Path) -> Path:
    """A class in which one student has left all kinds of traces, and so has another one."""
    rule(course, "score / 2")
    submitted = course / "class" / "submitted"
    for student in (ID, "ann"):
        submit(course, student, "2026-03-03 12:00:00 UTC")
    grade(course)
    for student in (ID, "ann"):
        worse(course, student)
        (submitted / student / f"notes of {student}.txt").write_text("a draft")
    with gradebooks.open_book(course) as found:
        found.update_or_create_student(ID, first_name=NAME[0], last_name=NAME[1], email="z@q")
    if not gradebooks.SERVER:
        leave_in_the_file(course / "class" / "gradebook.db", f"{ID} {NAME[0]} ".encode() * 500)
    score_by_hand(course, ID, "project", 1.0)
    keep_a_copy(course)
    grade(course)
    grade(course, students=(ID,), seed=2)
    home = course / "class"
    hand_ins = [Collected(student, "", "", f"{student}.zip", "", "") for student in (ID, "ann")]
    collected.write(home / "collected" / f"{LESSON}.json", hand_ins)
    for step in ("returned", "reports"):
        (home / step / LESSON).mkdir(parents=True)
        (home / step / LESSON / "table.csv").write_text(f"{ID},{NAME[0]},4\nann,,9\n")
    assert len(traces(course, ID)) + len(in_rows(course, ID)) > 11
    assert traces(course, *NAME) != []
    return course


def others(course: Path) -> dict[str, Any]:
    """What the class has of everyone else."""
    rows = {
        name: [row for row in found if row[0] != ID] for name, found in recorded(course).items()
    }
    files = {name: data for name, data in written(course).items() if f"/{ID}/" not in name}
    submitted = sorted((course / "class" / "submitted" / "ann").rglob("*"))
    lines = [
        line
        for line in journal_of(course).read_text().splitlines()
        if json.loads(line).get("folder") != ID
    ]
    return {"rows": rows, "files": files, "submitted": submitted, "lines": lines}


def test_nothing_of_who_is_forgotten_is_left_and_all_of_the_others_is(
    term: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = others(term)
    said = said_by(capsys, "forget", ID, "--yes")
    assert traces(term, ID, *NAME, "z@q") == []
    assert in_rows(term, ID, *NAME, "z@q") == []
    assert others(term) == before
    copied = [] if gradebooks.SERVER else ["gradebook.db.2026-03-01'"]
    for what in (f"{gradebooks.address(term).rpartition('/')[2]}'", *copied):
        assert f"{what}: 13 rows." in said
    for step in ("submitted", "autograded", "feedback"):
        assert f"class/{step}/{ID}: all of it." in said
    assert tells(said, f"class/returned/{LESSON}", "`return`")
    assert tells(said, f"class/reports/{LESSON}", "`report`")
    assert f"class/collected/{LESSON}.json: 1 line." in said
    [kept] = collected.read(term / "class" / "collected" / f"{LESSON}.json")
    assert kept.student == "ann"
    assert f"class/runs/{LESSON}/journal.jsonl: 3 lines." in said
    assert tells(said, f"class/runs/{LESSON}/summary.txt", "without")
    summary = journal_of(term).with_name("summary.txt").read_text()
    assert f"{LESSON}: 1 graded" in summary
    assert tells(summary, "Worse", "1\n", "ann: 5 points", "9\n")
    assert "No student" in said_by(capsys, "forget", ID, "--yes", status=2)
    assert "No student" in said_by(capsys, "history", ID, status=2)
    assert [result["student"] for result in grade(term, resume=True)] == ["ann"]


def test_it_asks_first_and_a_no_leaves_all_as_it_is(
    term: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    before = {path: path.read_bytes() for path in (term / "class").rglob("*") if path.is_file()}
    for answer in ("", "n\n", "\n", "yep\n"):
        monkeypatch.setattr("sys.stdin", io.StringIO(answer))
        said = said_by(capsys, "forget", ID)
        assert tells(said, "Remove", ID, "for good")
        assert f"{ID}: left as it is." in said
    assert before == {
        path: path.read_bytes() for path in (term / "class").rglob("*") if path.is_file()
    }
    monkeypatch.setattr("sys.stdin", io.StringIO("yes\n"))
    said_by(capsys, "forget", ID)
    assert traces(term, ID) == []


def test_who_is_called_nearly_the_same_stays(
    course: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    left = {"s1", "s10", "s", "S1", "s 1", "s1-b"}
    for student in left:
        submit(course, student)
    results = grade(course)
    for name in sorted(left):
        said_by(capsys, "forget", name, "--yes")
        left.remove(name)
        assert {student for (student,) in recorded(course)["students"]} == left
        for step in ("submitted", "autograded", "feedback"):
            assert set(os.listdir(course / "class" / step)) == left
        if len(left) == 5:
            assert grade(course, resume=True) == [
                each for each in results if each["student"] in left
            ]
            assert "0 graded now" in capsys.readouterr().err


def test_an_odd_name_is_told_safely_and_forgotten_and_nothing_else(
    course: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    left = {"ann", *ODD, os.fsdecode(b"bytes \xff"), "n" * 200}
    for student in left:
        hand_in(course, student, notebook())
    grade(course)
    for name in sorted(left - {"ann"}):
        told = said_by(capsys, "history", "--", name)
        assert "graded once" in told
        told += said_by(capsys, "forget", "--yes", "--", name)
        assert all(letter == "\n" or letter.isprintable() for letter in told)
        left.remove(name)
        assert set(os.listdir(course / "class" / "submitted")) == left
    for step in ("autograded", "feedback"):
        assert os.listdir(course / "class" / step) == ["ann"]
    with Journal(journal_of(course)) as log:
        assert log.folders == ["ann"]
    assert {student for (student,) in recorded(course)["students"]} == {"ann"}


@pytest.mark.parametrize("asked", ["NFC", "NFD"])
@pytest.mark.parametrize("handed_in", ["NFC", "NFD"])
def test_one_name_is_one_student_however_it_is_spelled(
    course: Path, capsys: pytest.CaptureFixture[str], handed_in: Form, asked: Form
) -> None:
    submit(course, normalize(handed_in, "Jürgen"))
    grade(course)
    hand_in(course, normalize("NFD", "Jürgen"), notebook(), OTHER)
    assert "graded once" in said_by(capsys, "history", normalize(asked, "Jürgen"))
    said_by(capsys, "forget", "--yes", normalize(asked, "Jürgen"))
    assert traces(course, normalize("NFC", "Jürgen"), normalize("NFD", "Jürgen")) == []
    assert recorded(course)["students"] == []


def test_nobody_of_that_name_is_nobody(course: Path, capsys: pytest.CaptureFixture[str]) -> None:
    submit(course, "ann")
    grade(course)
    before = recorded(course), written(course)
    for name in ("", ".", "..", "../class", "class/submitted/ann", "*", "an", "%"):
        said = said_by(capsys, "forget", "--yes", "--", name, status=2)
        assert tells(said, "No student", repr(name))
        assert (recorded(course), written(course)) == before


def test_a_name_in_the_gradebook_that_leads_elsewhere_removes_its_rows_alone(
    course: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    submit(course, "ann")
    grade(course)
    before = written(course)
    with gradebooks.open_book(course) as found:
        # PostgreSQL itself refuses the last one
        for name in ("../submitted/ann", ".", *([] if gradebooks.SERVER else ["ann\0"])):
            found.add_student(name)
    for name in ("../submitted/ann", "."):
        assert "1 rows" in said_by(capsys, "forget", name, "--yes")
    assert written(course) == before
    assert (course / "class" / "submitted" / "ann" / LESSON / f"{LESSON}.ipynb").exists()


def test_a_folder_that_is_a_link_is_removed_and_not_what_it_leads_to(
    course: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    submit(course, "ann")
    (course / "class" / "submitted" / "eve").symlink_to("ann")
    grade(course)
    said_by(capsys, "forget", "eve", "--yes")
    assert os.listdir(course / "class" / "submitted") == ["ann"]
    assert (course / "class" / "submitted" / "ann" / LESSON / f"{LESSON}.ipynb").exists()


@pytest.mark.sqlite
def test_who_was_never_graded_is_forgotten_also_without_a_gradebook(
    course: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (course / "class" / "gradebook.db").unlink()
    (course / "class" / "submitted" / ID).mkdir(parents=True)
    assert f"class/submitted/{ID}: all of it." in said_by(capsys, "forget", ID, "--yes")
    assert traces(course, ID) == []
    assert not (course / "class" / "gradebook.db").exists()


@pytest.mark.parametrize("end", ["", "\n"], ids=["cut short", "damaged"])
def test_no_line_that_cannot_be_read_keeps_the_name(
    course: Path, capsys: pytest.CaptureFixture[str], end: str
) -> None:
    submit(course, "zz")
    grade(course)
    submit(course, ID)
    with open(journal_of(course), "a") as file:
        file.write(f'{{"folder": "{ID}", "finger{end}')
    said_by(capsys, "forget", ID, "--yes")
    assert traces(course, ID) == []
    assert "graded once" in said_by(capsys, "history", "zz")


def test_what_is_not_the_graders_is_named_and_left(
    term: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (term / "class" / "grades.csv").write_text(f"student_id,score\n{ID},5\n")
    (term / "class" / "mail").mkdir()
    (term / "class" / "mail" / f"to {ID}.txt").write_text("")
    (term / "class" / "others.csv").write_text(f"student_id,score\n{ID}0,5\na-{ID},4\n")
    said = said_by(capsys, "forget", ID, "--yes", status=1)
    places = f": class/grades.csv, class/mail/to {ID}.txt."
    assert tells(said.splitlines()[-1], ID, "may still be named", places)
    assert (term / "class" / "grades.csv").exists()


def test_the_graders_own_words_are_nobodys_name(
    course: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    own = ["runs", "lock", LESSON, "journal", "summary", "gradebook", "db", "lesson", "pid", "this"]
    for student in (*own, "ann"):
        submit(course, student)
    grade(course)
    keep_a_copy(course)
    for name in own:
        assert f"class/submitted/{name}: all of it." in said_by(capsys, "forget", "--yes", name)
    assert {student for (student,) in recorded(course)["students"]} == {"ann"}


def test_beside_the_graders_own_files_a_name_is_found(
    course: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    submit(course, "runs")
    grade(course)
    places = (f"runs/{LESSON}/runs.txt", "runs/runs/x.txt", "runs/notes.csv", "mail/summary.txt")
    for place in places:
        path = course / "class" / place
        path.parent.mkdir(exist_ok=True)
        path.write_text("runs has 5 points")
    last = said_by(capsys, "forget", "--yes", "runs", status=1).splitlines()[-1]
    assert last.startswith("runs may still be named")
    assert all(f"class/{place}" in last for place in places)


@pytest.mark.parametrize("step", ["_remove", "_summarise"])
def test_stopped_in_between_it_goes_on(
    term: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    before = others(term)

    def killed(*_: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(forgetting, step, killed)
        assert "Stopped." in said_by(capsys, "forget", ID, "--yes", status=130)
    assert traces(term, ID) != []
    said_by(capsys, "forget", ID, "--yes")
    assert traces(term, ID, *NAME) == []
    assert others(term) == before


def test_a_folder_that_cannot_be_removed_is_named(
    term: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(path: Path) -> None:
        raise PermissionError(13, "Permission denied", str(path))

    with monkeypatch.context() as patch:
        patch.setattr(shutil, "rmtree", refused)
        said = said_by(capsys, "forget", ID, "--yes", status=1)
    assert tells(said, f"class/submitted/{ID}", "Permission denied")
    said_by(capsys, "forget", ID, "--yes")
    assert traces(term, ID) == []


def test_it_waits_for_a_run_in_progress_and_says_so(term: Path) -> None:
    before = traces(term, ID)
    with sole_grader(term / "class" / "runs" / "lock", LESSON, print):
        waiting = subprocess.Popen(
            [sys.executable, "-m", "autograder", "forget", ID, "--yes"],
            cwd=term,
            env=environment(),
            stderr=subprocess.PIPE,
            text=True,
        )
        assert waiting.stderr is not None
        said = waiting.stderr.readline()
        assert said.startswith(f"Process {os.getpid()} has been grading {LESSON} since")
        assert traces(term, ID) == before
    waiting.communicate(timeout=120)
    assert waiting.returncode == 0
    assert traces(term, ID) == []


@pytest.mark.sqlite
def test_a_copy_of_an_older_nbgrader_loses_the_rows_too(
    term: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    copy = term / "class" / "gradebook.db.2026-03-01"
    with closing(sqlite3.connect(copy)) as connection:
        connection.execute("alter table submitted_notebook drop column late_submission_penalty")
        connection.execute("alter table grade drop column extra_credit")
    said_by(capsys, "forget", ID, "--yes")
    assert traces(term, ID, *NAME) == []
    with closing(sqlite3.connect(copy)) as connection:
        assert connection.execute("select id from student").fetchall() == [("ann",)]
