"""What a learner has done: kept where they work, read whatever the file holds, never in the way."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import attnlab
from attnlab import quizzes
from attnlab.home import doctor
from attnlab.home.commands import main
from attnlab.home.page import Links, home
from attnlab.home.standing import mistakes, next_up, standings
from attnlab.home.summary import Summary
from attnlab.lesson import begin
from attnlab.lessons import exercises_of
from attnlab.notebook import check
from attnlab.work import progress
from attnlab.work.places import Course
from attnlab.work.progress import Record, note, read
from tests.course import tells
from tests.home import OTHER, SLUG, make_copies

Row = list[float]


@pytest.fixture
def course(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Course:
    """A course, in the folder of whose first lesson a notebook runs."""
    course = make_copies(tmp_path, SLUG, OTHER)
    monkeypatch.chdir(course.work / SLUG)
    return course


def softmax(scores: list[float]) -> list[float]:
    import math

    powers = [math.exp(score) for score in scores]
    return [power / sum(powers) for power in powers]


def lines(course: Course) -> list[dict[str, object]]:
    return [json.loads(line) for line in course.progress.read_text(encoding="utf-8").splitlines()]


# kept -------------------------------------------------------------------------------------------


def test_begin_and_check_keep_one_line_each(course: Course) -> None:
    begin(SLUG)
    begin(SLUG)
    card = check(softmax)
    assert card.verdict.diagnosis
    begun, checked = lines(course)
    assert (begun["lesson"], begun["status"]) == (SLUG, "BEGUN")
    assert card.verdict.diagnosis.reason == checked["why"]
    del checked["when"], checked["why"]
    assert checked == {
        "v": 1,
        "lesson": SLUG,
        "exercise": "softmax",
        "status": "FAIL",
        "score": float(card),
        "points": 2.0,
        "mistake": "unstable-softmax",
        "contract": 1,
        "choice": "",
    }


def test_nothing_is_kept_outside_of_a_learners_copies(
    course: Course, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(course.released / SLUG)
    begin(SLUG)
    check(softmax)
    assert not course.progress.exists()
    assert [record.status for record in progress.here().records] == ["BEGUN", "FAIL"]


def test_what_a_lesson_breaks_on_purpose_is_no_mistake_of_its_learner(course: Course) -> None:
    def softmax_without_shift(scores: list[float]) -> list[float]:
        return softmax(scores)

    assert check(softmax_without_shift, name="softmax", lesson=SLUG).verdict.diagnosis
    assert not course.progress.exists()


def test_a_notebook_that_goes_elsewhere_stays_in_its_course(
    course: Course, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begin(SLUG)
    gone = tmp_path / "elsewhere"
    gone.mkdir()
    monkeypatch.chdir(gone)
    check(softmax)
    gone.rmdir()  # Path.cwd() fails
    check(softmax)
    assert [line["status"] for line in lines(course)] == ["BEGUN", "FAIL", "FAIL"]


@pytest.mark.parametrize("name", ["nothing_of_this_name", "softmax"])
def test_a_check_of_nothing_known_is_not_kept(name: str, course: Course) -> None:
    check(softmax, name=name, lesson="99-nowhere")
    assert not course.progress.exists()


def test_two_notebooks_at_once_lose_no_line(course: Course) -> None:
    program = (
        "from attnlab.work.progress import note\n"
        f"for at in range(300): note({SLUG!r}, 'softmax', 'FAIL', 0.5, 2.0, 'x' * 500)"
    )
    both = [subprocess.Popen([sys.executable, "-c", program]) for _ in range(2)]
    assert [each.wait(timeout=60) for each in both] == [0, 0]
    log = read(course)
    assert (len(log.records), log.broken) == (600, 0)


def test_a_line_that_was_cut_short_spoils_no_other(course: Course) -> None:
    note(SLUG, "softmax", "PASS", 2.0, 2.0)
    course.progress.write_bytes(course.progress.read_bytes() + b'{"v": 1, "when": "20')
    note(SLUG, "hard_lookup", "PASS", 1.0, 1.0)
    log = read(course)
    assert [record.exercise for record in log.records] == ["softmax", "hard_lookup"]
    assert log.broken == 1


# never in the way -------------------------------------------------------------------------------


GOOD = b'{"v": 1, "when": "", "lesson": "01-soft-lookup", "exercise": "softmax", "status": "PASS", '
GOOD += b'"score": 2, "points": 2, "mistake": ""}\n'


def no_file(path: Path) -> None:
    path.mkdir()


def read_only(path: Path) -> None:
    path.touch()
    path.chmod(0o400)
    path.parent.chmod(0o500)


def not_text(path: Path) -> None:
    path.write_bytes(b"\xff\xfe\x00" * 1000)


def of_tomorrow(path: Path) -> None:
    path.write_text('{"v": 2, "what": "is this"}\n')


def nested(path: Path) -> None:
    path.write_text("[" * 100_000 + "\n")


def wrong_types(path: Path) -> None:
    good = {"v": 1, "when": "", "lesson": SLUG, "exercise": "softmax", "status": "PASS"}
    good |= {"score": 1, "points": 1, "mistake": ""}
    spoilt = [good | {"lesson": 5}, good | {"score": "1"}, good | {"score": float("nan")}, [], 7]
    path.write_text("\n".join(map(json.dumps, spoilt)))


@pytest.mark.parametrize(
    ("data", "what", "mended"),
    [
        (GOOD + b"x\n", "1 line is broken in {} and passed over; the others count: nothing", False),
        (GOOD + b'{"v": 2}\n{"v": 3}\n', "2 lines are from a newer attnlab in {} and", True),
        (b"x\n", "{} holds nothing that can be read", True),
    ],
)
def test_the_terminal_and_the_doctor_say_the_same_of_it_and_what_to_do(
    data: bytes, what: str, mended: bool, course: Course, capsys: pytest.CaptureFixture[str]
) -> None:
    course.progress.write_bytes(data)
    assert main(["progress"]) == 0
    line = capsys.readouterr().out.splitlines()[-1]
    [found] = doctor.progress(course)
    assert found.what.startswith(what.format(course.progress))
    assert line == f"{found.what}.{f' Mend it with: {found.mend}' if found.mend else ''}"
    assert bool(found.mend) == mended


@pytest.mark.parametrize(
    "spoil",
    [no_file, read_only, not_text, of_tomorrow, nested, wrong_types],
    ids=lambda spoil: spoil.__name__,
)
def test_no_file_makes_a_check_fail_or_say_anything(
    spoil: Callable[[Path], None],
    course: Course,
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    spoil(course.progress)
    begin(SLUG)
    assert check(softmax).verdict.status == "FAIL"
    assert capfd.readouterr() == ("", "")
    assert [record.exercise for record in progress.here().records][-1] == "softmax"
    monkeypatch.chdir(course.root)
    assert main(["progress"]) == 0
    told = capfd.readouterr()
    assert told.err == ""
    if os.geteuid() or spoil is not read_only:  # root may write anything
        assert str(course.progress) in told.out
    course.state.chmod(0o700)


def test_a_full_disk_is_remembered_past(course: Course, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "write", full)
    card = check(softmax, lesson=SLUG)
    assert [record.status for record in progress.here().records] == ["FAIL"]
    assert tells(str(card), "Not saved")
    assert "<code>attnlab doctor</code>" in card._repr_mimebundle_()["text/html"]
    monkeypatch.undo()
    monkeypatch.chdir(course.work)
    assert "Not saved" not in str(check(softmax, lesson=SLUG))


# summed up --------------------------------------------------------------------------------------


def told(*items: tuple[str, str, str, float, float, str]) -> list[Record]:
    return [Record("2026-03-01T10:00:00+01:00", *item) for item in items]


RECORDS = told(
    (SLUG, "", "BEGUN", 0, 0, ""),
    (SLUG, "hard_lookup", "PASS", 1, 1, ""),
    (SLUG, "softmax", "FAIL", 0.5, 2, "unstable-softmax"),
    (SLUG, "softmax", "PASS", 2, 2, ""),
    (SLUG, "softmax", "FAIL", 0, 2, "unstable-softmax"),
    (SLUG, "soft_lookup", "FAIL", 1.5, 3, "temperature-swapped"),
    (SLUG, "soft_lookup", "MISSING", 0, 3, ""),
    (SLUG, "gone", "PASS", 9, 9, "of-old"),
    ("99-gone", "softmax", "PASS", 9, 9, "of-old"),
)


def test_the_best_counts(course: Course) -> None:
    first, second = standings(course, RECORDS)
    assert [(one.name, one.score, one.said) for one in first.exercises] == [
        ("hard_lookup", 1, "right"),
        ("softmax", 2, "right"),
        ("soft_lookup", 1.5, "not right yet"),
    ]
    assert first.said == "4.5 of 6 points, 2 of 3 exercises"
    assert (first.begun, second.begun) == (True, False)
    assert {one.said for one in second.exercises} == {"open"}


def test_mistakes_that_stand_come_first(course: Course) -> None:
    found = standings(course, RECORDS)
    assert [(one.slug, one.times, one.mended) for one in mistakes(found, RECORDS)] == [
        ("temperature-swapped", 1, False),
        ("unstable-softmax", 2, True),
    ]


def test_the_same_answer_checked_again_is_one_mistake(course: Course) -> None:
    wrong = (SLUG, "softmax", "FAIL", 0.5, 2, "unstable-softmax")
    other = (SLUG, "hard_lookup", "ERROR", 0, 1, "raised")
    records = told(
        wrong,
        other,
        (SLUG, "", "BEGUN", 0, 0, ""),
        wrong,
        (SLUG, "softmax", "READ", 0, 0, ""),
        wrong,
    )
    found = {one.slug: one.times for one in mistakes(standings(course, records), records)}
    assert found == {"unstable-softmax": 1, "raised": 1}
    records += told((SLUG, "softmax", "FAIL", 0, 2, ""), wrong)
    assert mistakes(standings(course, records), records)[0].times == 2


def test_crashes_and_time_outs_are_met_too_whatever_was_kept_of_them(course: Course) -> None:
    records = told(
        (SLUG, "softmax", "ERROR", 0, 2, "raised"),
        (SLUG, "softmax", "ERROR", 0, 2, ""),
        (SLUG, "hard_lookup", "TIMEOUT", 0, 1, ""),
        (SLUG, "soft_lookup", "OOM", 0, 3, ""),
        (SLUG, "soft_lookup", "MISSING", 0, 3, ""),
    )
    found = {one.slug: one.times for one in mistakes(standings(course, records), records)}
    assert found == {"raised": 1, "still-running": 1, "out-of-memory": 1}


def test_what_comes_next_is_in_the_lesson_last_touched(course: Course) -> None:
    def after(*records: Record) -> str:
        found = next_up(standings(course, records), records)
        return found.lesson.slug if found else ""

    second = told((OTHER, "matmul", "MISSING", 0, 1, ""))
    done = told(*((SLUG, name, "PASS", 0, 0, "") for name in ("hard_lookup", "softmax")))
    done += told((SLUG, "soft_lookup", "PASS", 3, 3, ""))
    assert after() == SLUG
    assert after(*RECORDS) == SLUG
    assert after(*RECORDS, *second) == OTHER
    assert after(*done) == OTHER
    names = [one.name for one in standings(course, [])[1].exercises]
    all_right = told(*((OTHER, name, "PASS", 0, 0, "") for name in names))
    assert after(*all_right) == SLUG
    assert after(*all_right, *done) == ""


def test_the_terminal_shows_it(course: Course, capsys: pytest.CaptureFixture[str]) -> None:
    for record in RECORDS:
        note(*(getattr(record, name) for name in Record.__slots__[1:-2]))
    assert main(["progress"]) == 0
    said = capsys.readouterr().out
    assert tells(said, "01 Soft lookup", " ###############..... ", "4.5 of 6", "2 of 3 exercises\n")
    assert "     soft_lookup: not right yet (1.5 of 3)\n" in said
    assert tells(said, "unstable-softmax", "2 times", "softmax", "mended")
    assert said.endswith(f"Next: `soft_lookup` in lesson 01: work/{SLUG}/{SLUG}.ipynb\n")


def test_the_terminal_counts_quizzes(course: Course, capsys: pytest.CaptureFixture[str]) -> None:
    asked = quizzes.of(SLUG)["recall"]
    note(SLUG, "recall/1", progress.CHOSE, 1, 1, choice=asked[0].choices[asked[0].right])
    note(SLUG, "recall/2", progress.CHOSE, 0, 1, choice=asked[1].choices[asked[1].right - 1])
    assert main(["progress"]) == 0
    assert tells(capsys.readouterr().out, "0 of 6", "0 of 3", "quiz 1 of 2")


def test_the_terminal_shows_where_to_begin(
    course: Course, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["progress"])
    assert tells(capsys.readouterr().out, "Next", "lesson 01")


# a lesson's last cell ---------------------------------------------------------------------------


def test_the_summary_shows_the_lesson_begun_and_the_way_on(
    course: Course, monkeypatch: pytest.MonkeyPatch
) -> None:
    begin(SLUG)
    check(softmax)
    monkeypatch.setenv("ATTNLAB_HOME", "/user/ann/attnlab")
    shown = attnlab.summary()
    assert "○ softmax: not right yet" in repr(shown)
    assert isinstance(shown, Summary)
    assert 'href="/user/ann/attnlab"' in shown._repr_html_()


def test_the_summary_the_home_and_the_terminal_say_the_same_is_next(
    course: Course, capsys: pytest.CaptureFixture[str]
) -> None:
    def nexts() -> tuple[str, str, str]:
        shown = attnlab.summary(SLUG)
        assert main(["progress"]) == 0
        page = re.sub("<[^>]+>", " ", home(course, Links()))
        return repr(shown), capsys.readouterr().out, " ".join(page.split())

    begin(SLUG)
    note(SLUG, "hard_lookup", "PASS", 1, 1)
    in_cell, in_terminal, on_page = nexts()
    assert in_cell.endswith("Next: softmax, in this lesson")
    assert "Next: `softmax` in lesson 01" in in_terminal
    assert tells(on_page, "Lesson 01", "softmax", "open", "Continue")
    for slug, names in ((OTHER, ()), (SLUG, ("softmax", "soft_lookup"))):
        note(slug, "", "BEGUN")
        for name in names:
            note(slug, name, "PASS", 3, 3)
    in_cell, in_terminal, on_page = nexts()
    assert in_cell.endswith("Next: lesson 02, Pure Python")
    shown = attnlab.summary(SLUG)
    assert isinstance(shown, Summary)
    assert f'href="../{OTHER}/{OTHER}.ipynb"' in shown._repr_html_()
    assert f"in lesson 02: work/{OTHER}" in in_terminal
    assert "Lesson 02, Pure Python" in on_page.partition("Continue")[0]


def test_the_summary_looks_back_on_mended_mistakes_and_draws_with_ones_own_function(
    course: Course, monkeypatch: pytest.MonkeyPatch
) -> None:
    def soft_lookup(query: Row, keys: list[Row], values: list[Row]) -> tuple[None, Row]:
        scores = [sum(a * b for a, b in zip(query, key, strict=True)) for key in keys]
        return None, softmax(scores)

    def uniform(query: Row, keys: list[Row], values: list[Row]) -> tuple[None, Row]:
        return None, [1 / len(keys)] * len(keys)

    note(SLUG, "softmax", "FAIL", 1, 2, "unstable-softmax", "e is `too` <large>. It overflows.")
    note(SLUG, "softmax", "PASS", 2, 2)
    for function, is_drawn in ((soft_lookup, True), (uniform, False), (None, False)):
        monkeypatch.setattr("__main__.soft_lookup", function, raising=False)
        shown = attnlab.summary(SLUG)
        assert isinstance(shown, Summary)
        assert ("Drawn by your own <code>soft_lookup</code>" in shown._repr_html_()) == is_drawn
    assert isinstance(shown, Summary)
    assert "1 of the 3 arcs" in shown._repr_html_()
    assert "e is <code>too</code> &lt;large&gt;.</li>" in shown._repr_html_()
    assert "mended: e is `too` <large>." in repr(shown)
    for slug, names in ((OTHER, exercises_of(OTHER)), (SLUG, exercises_of(SLUG))):
        for name in names:
            note(slug, name, "PASS", 9, 9)
    last = attnlab.summary(SLUG)
    assert isinstance(last, Summary)
    assert "Every lesson is done" in last._repr_html_()


def test_the_summary_knows_this_kernels_checks_where_nothing_is_kept(
    course: Course, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(course.root)
    begin(SLUG)
    check(softmax)
    assert "softmax: not right yet" in repr(attnlab.summary())


def test_the_summary_of_no_lesson_is_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("attnlab.begun.slug", "")
    assert str(attnlab.summary()).startswith("Begin a lesson first")
    assert "There is no lesson '77'" in str(attnlab.summary("77"))


def test_a_reader_who_has_enough_gets_no_traceback(course: Course) -> None:
    command = [sys.executable, "-m", "attnlab", "progress"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as done:
        assert done.stdout
        assert done.stderr
        done.stdout.close()
        assert done.stderr.read() == b""


def test_an_option_that_jupyterlab_has_not_starts_nothing(
    course: Course, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def started(*_: object) -> None:
        raise InterruptedError

    monkeypatch.setattr(os, "execve", started)
    assert main(["lab", "--prot", "1"]) == 2
    assert tells(capsys.readouterr().err, "--prot", "--port")
    for flags in (["--no-browser", "--port=1"], ["--ServerApp.token=", "-y"], ["--ip", "::1"]):
        with pytest.raises(InterruptedError):
            main(["lab", *flags])
