"""What is recorded of a class, as nbgrader reads it: scores, comments, penalties, files."""

from __future__ import annotations

import csv
import dataclasses
import json
import os
import re
import shutil
import sqlite3
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbconvert.exporters import HTMLExporter
from nbgrader import api
from nbgrader.apps.api import NbGraderAPI
from nbgrader.plugins.export import CsvExportPlugin
from nbgrader.preprocessors import AssignLatePenalties
from nbgrader.server_extensions.formgrader import handlers
from sqlalchemy import inspect
from traitlets.config import Config

from attnlab.checks.verdict import Verdict
from attnlab.ipynb.files import NotWritten, Parts, write_whole
from autograder import Disagree, Usage
from autograder.__main__ import main
from autograder.gradebook.course import Course, CourseError
from autograder.gradebook.database import GradebookError
from autograder.gradebook.gradebook import BadName, Gradebook, check_name
from autograder.pages import feedback
from autograder.submission.results import Graded, Past, Written
from tests import gradebooks
from tests.course import copy_to, run, tells
from tests.graded import LESSON, MOST, grade, invalid, make_course
from tests.small_class import environment

pytestmark = pytest.mark.slow

OTHER = "01-soft-lookup"
HALF = {"attention": "FAIL"}, {"attention": 2.5}
REACHED = MOST - 2.5  # with that


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A course whose gradebook has both lessons: making one takes nbgrader two seconds."""
    folder = make_course(tmp_path_factory.mktemp("course"), LESSON, OTHER)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        with Gradebook(Course.here()) as gradebook:
            gradebook.prepare(LESSON)
            gradebook.prepare(OTHER)
    return folder


@pytest.fixture
def folder(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of that course, as the current folder."""
    copied = gradebooks.copy(made, tmp_path / "course")
    monkeypatch.chdir(copied)
    return copied


@pytest.fixture
def gradebook(folder: Path) -> Iterator[Gradebook]:
    with Gradebook(Course.here()) as opened:
        opened.prepare(LESSON)
        yield opened


def gradebook_path(folder: Path) -> Path:
    return folder / "class" / "gradebook.db"


def db(folder: Path) -> api.Gradebook:
    """nbgrader's own view of what was recorded."""
    return gradebooks.open_book(folder)


def rows(folder: Path) -> dict[str, list[tuple[Any, ...]]]:
    """Every row of every table."""
    with gradebooks.connected(folder) as connection:
        return {
            name: sorted(map(tuple, connection.exec_driver_sql(f"select * from {name}")), key=repr)
            for name in sorted(inspect(connection).get_table_names())
        }


def tree(folder: Path) -> dict[str, bytes]:
    """Every file of the grader's output, hidden ones too."""
    roots = [folder / "class" / name for name in ("autograded", "feedback")]
    found = [path for root in roots for path in root.rglob("*") if path.is_file()]
    return {str(path.relative_to(folder)): path.read_bytes() for path in found}


def hand_in(folder: Path, student: str, timestamp: str | bytes, lesson: str = LESSON) -> Path:
    submitted = folder / "class" / "submitted" / student / lesson
    submitted.mkdir(parents=True)
    data = timestamp if isinstance(timestamp, bytes) else timestamp.encode()
    (submitted / "timestamp.txt").write_bytes(data)
    return submitted


def scored(folder: Path, student: str) -> tuple[float, float]:
    """Score before the penalty, and the penalty."""
    with db(folder) as found:
        submission = found.find_submission(LESSON, student)
        return submission.score, submission.late_submission_penalty


def exported(folder: Path) -> dict[tuple[str, str], tuple[float, float, float]]:
    """Score, penalty and maximum by student and lesson, by what `nbgrader export` calls."""
    with db(folder) as found:
        CsvExportPlugin(to=str(folder / "grades.csv")).export(found)
    with open(folder / "grades.csv", encoding="utf-8", newline="") as file:
        return {
            (row["student_id"], row["assignment"]): (
                float(row["score"]),
                float(row["late_submission_penalty"]),
                float(row["max_score"]),
            )
            for row in csv.DictReader(file)
        }


# --- made ---


@pytest.mark.sqlite
def test_a_gradebook_that_was_killed_while_it_was_made_is_made_anew(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """nbgrader makes the tables first and says last which version they are of."""
    path = folder / "class" / "gradebook.db"
    path.unlink()

    def killed() -> str:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(api, "get_alembic_version", killed)
        with pytest.raises(KeyboardInterrupt):
            Gradebook(Course.here())
    assert not path.exists()
    with Gradebook(Course.here()) as gradebook:
        gradebook.prepare(LESSON)
    with sqlite3.connect(path) as connection:
        assert connection.execute("select count(*) from alembic_version").fetchone() == (1,)
    assert [part.name for part in path.parent.glob(".*.part")] == []


@pytest.mark.sqlite
def test_a_gradebook_that_cannot_be_made_is_named(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "class" / "gradebook.db").unlink()

    def nowhere() -> str:
        raise OSError(28, "No space left on device", "/scratch")

    monkeypatch.setattr(api, "get_alembic_version", nowhere)
    with pytest.raises(GradebookError, match=r"could not be made: No space .*/scratch"):
        Gradebook(Course.here())


# --- scores ---


def test_export_gives_the_totals(folder: Path, gradebook: Gradebook) -> None:
    gradebook.prepare(OTHER)
    gradebook.record([grade("ann"), grade("bob", *HALF), grade("ann", lesson=OTHER)])
    gradebook.record([invalid("eve", "The file is empty.")])
    scores = exported(folder)
    assert scores["ann", LESSON] == (MOST, 0, MOST)
    assert scores["bob", LESSON] == (REACHED, 0, MOST)
    assert scores["eve", LESSON] == (0, 0, MOST)
    assert scores["ann", OTHER][0] == scores["ann", OTHER][2] > 0
    assert scores["bob", OTHER][0] == 0


def test_recording_again_changes_nothing(folder: Path, gradebook: Gradebook) -> None:
    hand_in(folder, "bob", "2026-01-02 03:04:05 UTC")
    batch = [grade("ann"), grade("bob", *HALF), invalid("eve", "The file is empty.")]
    gradebook.record(batch)
    before = rows(folder), tree(folder)
    gradebook.record(batch)
    for graded in reversed(batch):
        gradebook.record([graded])
    assert (rows(folder), tree(folder)) == before


def test_of_one_student_twice_in_a_batch_the_last_counts(
    folder: Path, gradebook: Gradebook
) -> None:
    gradebook.record([grade("ann", *HALF), grade("ann")])
    with db(folder) as found:
        assert found.find_submission(LESSON, "ann").score == MOST


def test_a_person_s_score_and_comment_and_extra_credit_stay(
    folder: Path, gradebook: Gradebook
) -> None:
    gradebook.record([grade("ann", *HALF)])
    with db(folder) as found:
        row = found.find_grade("attention-check", LESSON, LESSON, "ann")
        row.manual_score, row.extra_credit, row.needs_manual_grade = 4.0, 1.0, False
        found.find_comment("attention", LESSON, LESSON, "ann").manual_comment = "Nearly."
        found.db.commit()
    gradebook.record([grade("ann", {"attention": "ERROR"})])
    with db(folder) as found:
        row = found.find_grade("attention-check", LESSON, LESSON, "ann")
        assert (row.auto_score, row.manual_score, row.extra_credit) == (0, 4, 1)
        assert row.needs_manual_grade, "as nbgrader does where a person has scored"
        assert found.find_comment("attention", LESSON, LESSON, "ann").comment == "Nearly."
        assert found.find_submission(LESSON, "ann").score == MOST - 5 + 4 + 1


def test_what_may_break_the_rules_is_flagged_for_a_person(
    folder: Path, gradebook: Gradebook
) -> None:
    gradebook.record([grade("ann", {"attention": "POLICY", "causal_mask": "FAIL"})])
    with db(folder) as found:
        flagged = {
            row.name: row.needs_manual_grade
            for row in found.find_submission_notebook(LESSON, LESSON, "ann").grades
        }
    assert {name for name, is_flagged in flagged.items() if is_flagged} == {"attention-check"}
    assert len(flagged) == 5


@pytest.mark.parametrize(
    ("before", "now", "waits"),
    [
        ("FAIL", "FAIL", False),
        ("POLICY", "POLICY", False),
        ("FAIL", "PASS", True),
        ("FAIL", "POLICY", True),  # of no points either, and to be judged from now on
        ("PASS", "FAIL", True),
    ],
)
def test_the_same_hand_in_waits_for_a_person_where_its_verdict_is_another(
    folder: Path, gradebook: Gradebook, before: str, now: str, waits: bool
) -> None:
    """As after a check was mended."""
    first, second = (grade("ann", {"attention": status}) for status in (before, now))
    gradebook.record([first])
    edit(folder, "ann", manual=2.0)
    again = Past(again=first.result.as_json())
    for _ in range(2):  # also where a run was killed before it noted the first
        gradebook.record([dataclasses.replace(second, past=again)])
        with db(folder) as found:
            row = found.find_grade("attention-check", LESSON, LESSON, "ann")
            assert (row.needs_manual_grade, row.manual_score) == (waits, 2.0)


def test_a_better_submission_replaces_the_first(folder: Path, gradebook: Gradebook) -> None:
    gradebook.record([invalid("ann", "The file is empty.")])
    gradebook.record([grade("ann")])
    with db(folder) as found:
        assert found.find_submission(LESSON, "ann").score == MOST
        comment = found.find_comment("attention", LESSON, LESSON, "ann").comment
    assert comment.startswith("attention: right")


# --- comments ---


def comments(folder: Path, student: str) -> dict[str, str]:
    with db(folder) as found:
        submitted = found.find_submission_notebook(LESSON, LESSON, student)
        return {comment.name: comment.comment for comment in submitted.comments}


def test_the_card_is_the_comment(folder: Path, gradebook: Gradebook) -> None:
    gradebook.record([grade("ann", *HALF)])
    said = comments(folder, "ann")
    assert set(said) == {"causal_mask", "attention", "looks_ahead", "padding_mask", "decoder_mask"}
    assert "attention: not right yet · 2.5 of 5 points" in said["attention"]
    assert "no-scale" in said["attention"]
    assert "check.inputs" not in said["attention"], "which is for a notebook"


def test_a_stub_left_as_it_was_is_no_response(folder: Path, gradebook: Gradebook) -> None:
    gradebook.record([grade("ann", {"attention": "MISSING"})])
    assert comments(folder, "ann")["attention"] == "No response."


def test_code_that_defines_something_else_is_a_response(folder: Path, gradebook: Gradebook) -> None:
    graded = grade("ann", {"attention": "MISSING"})
    written = (Written("attention", "def atention(x): ..."),)
    gradebook.record([dataclasses.replace(graded, written=written)])
    assert comments(folder, "ann")["attention"].startswith("attention: not written yet")


def test_why_nothing_was_graded_is_the_comment(folder: Path, gradebook: Gradebook) -> None:
    gradebook.record([invalid("ann", "The file is empty.")])
    assert set(comments(folder, "ann").values()) == {"This could not be graded: The file is empty."}


def test_no_tag_begins_in_a_comment(folder: Path, gradebook: Gradebook) -> None:
    said = "<script>alert(1)</script> <class 'list'> 1 < 2 \0 \ud800"
    shown = Verdict("attention", LESSON, "ERROR", 0, 5, message=said)
    gradebook.record([grade("ann", {"attention": "ERROR"}, verdicts={"attention": shown})])
    comment = comments(folder, "ann")["attention"]
    assert "script>alert(1)" in comment
    assert "1 < 2" in comment
    assert "<s" not in comment
    assert "</" not in comment
    assert "<c" not in comment


# --- lessons ---


def test_a_lesson_is_recorded_as_release_does(tmp_path: Path, made: Path) -> None:
    released = copy_to(tmp_path)
    gradebooks.configure(released)
    run("nbgrader", "generate_assignment", LESSON, cwd=released)
    with db(released) as theirs, db(made) as ours:
        both = [found.find_notebook(LESSON, LESSON) for found in (theirs, ours)]
        kinds = ("grade_cells", "solution_cells", "source_cells", "task_cells")
        for kind in kinds:
            cells = [
                sorted(
                    (
                        {key: value for key, value in cell.to_dict().items() if key != "id"}
                        for cell in getattr(notebook, kind)
                    ),
                    key=lambda cell: cell["name"],
                )
                for notebook in both
            ]
            assert cells[0] == cells[1], kind
        assert both[0].kernelspec == both[1].kernelspec
        assert both[0].assignment.course_id == both[1].assignment.course_id


def test_preparing_changes_nothing_that_is_there(folder: Path, gradebook: Gradebook) -> None:
    with db(folder) as found:
        found.update_or_create_assignment(LESSON, duedate="2026-03-01 12:00 UTC")
    before = rows(folder)
    gradebook.prepare(LESSON)
    assert rows(folder) == before


def more(found: api.Gradebook) -> None:
    found.update_or_create_grade_cell("attention-check", LESSON, LESSON, max_score=7.0)


def one_less(found: api.Gradebook) -> None:
    cell = found.find_grade_cell("attention-check", LESSON, LESSON)
    for row in [*cell.grades, cell]:
        found.db.delete(row)


def one_more(found: api.Gradebook) -> None:
    points = {"max_score": 2.0, "cell_type": "code"}
    cell = found.add_grade_cell("gone-check", LESSON, LESSON, **points)
    solution = found.add_solution_cell("gone", LESSON, LESSON)
    of_ann = found.find_submission_notebook(LESSON, LESSON, "ann")
    found.db.add(api.Grade(cell_id=cell.id, notebook_id=of_ann.id, manual_score=2.0))
    found.db.add(api.Comment(cell_id=solution.id, notebook_id=of_ann.id, manual_comment="Fine."))


DISAGREE: dict[Callable[[api.Gradebook], None], str] = {
    more: "`attention` has 5 in the notebook, 7 in the gradebook",
    one_less: "`attention` has 5 in the notebook, none in the gradebook",
    one_more: "`gone` has none in the notebook, 2 in the gradebook",
}


@pytest.mark.parametrize("change", DISAGREE, ids=lambda change: change.__name__)
def test_other_points_and_exercises_are_refused_or_follow_when_told(
    folder: Path, gradebook: Gradebook, change: Callable[[api.Gradebook], None]
) -> None:
    gradebook.record([grade("ann"), grade("bob")])
    edit(folder, "ann", comment="Fine.")
    agreed = rows(folder)
    with db(folder) as found:
        change(found)
        found.db.commit()
    before = rows(folder), tree(folder)
    with pytest.raises(Disagree, match=DISAGREE[change]):
        gradebook.prepare(LESSON)
    with pytest.raises(Usage, match="bob: graded when 06-causal-mask had other points"):
        gradebook.prepare(LESSON, {"ann"}, regrade=True)
    assert (rows(folder), tree(folder)) == before
    gradebook.prepare(LESSON, {"ann", "bob"}, regrade=True)
    gradebook.record([grade("ann"), grade("bob")])
    with db(folder) as found:
        submission = found.find_submission(LESSON, "ann")
        assert (submission.score, submission.max_score) == (MOST, MOST)
        assert found.find_comment("attention", LESSON, LESSON, "ann").manual_comment == "Fine."
    assert {name: len(found) for name, found in rows(folder).items()} == {
        name: len(found) for name, found in agreed.items()
    }


def test_nobody_keeps_scores_of_other_points_beside_the_others(
    folder: Path, gradebook: Gradebook
) -> None:
    """As where `make release` has recorded the new points."""
    gradebook.record([grade("ann"), grade("bob", *HALF)])
    released = folder / "notebooks" / LESSON / f"{LESSON}.ipynb"
    released.write_text(released.read_text().replace('"points": 5', '"points": 3'))
    with db(folder) as found:
        found.update_or_create_grade_cell("attention-check", LESSON, LESSON, max_score=3.0)
    with pytest.raises(Usage, match=r"^ann: graded when .* had other points.* Grade everyone"):
        gradebook.prepare(LESSON, {"bob", "cid"})
    gradebook.prepare(LESSON, {"ann", "bob"})


def test_a_page_of_other_points_is_left_and_named(
    folder: Path, gradebook: Gradebook, capsys: pytest.CaptureFixture[str]
) -> None:
    gradebook.record([paged(grade("ann"))])
    with db(folder) as found:
        found.update_or_create_grade_cell("attention-check", LESSON, LESSON, max_score=3.0)
    before = page_of(folder, "ann")
    assert main(["feedback", LESSON]) == 0
    said = capsys.readouterr().err
    assert "Wrote 0 pages" in said
    assert tells(said, "other points", "ann", "again")
    assert page_of(folder, "ann") == before


def test_a_lesson_that_does_not_exist_is_named(gradebook: Gradebook) -> None:
    with pytest.raises(GradebookError, match=r"99-none\.ipynb' cannot be read: No such file"):
        gradebook.prepare("99-none")


# --- lateness ---

DUE, LATE = "2026-03-01 12:00:00 UTC", "2026-03-01 13:00:00 UTC"


def set_due(folder: Path, when: str) -> None:
    with db(folder) as found:
        found.update_or_create_assignment(LESSON, duedate=when)


def penalised(folder: Path, plugin: str) -> Gradebook:
    """The gradebook of a course that has a plugin for late submissions."""
    with open(folder / "nbgrader_config.py", "a", encoding="utf-8") as file:
        file.write(f"\n{plugin}\n")
    gradebook = Gradebook(Course.here())
    gradebook.prepare(LESSON)
    return gradebook


ZERO = "c.LateSubmissionPlugin.penalty_method = 'zero'"
HALF_OFF = """
from nbgrader.plugins import BasePlugin
class Half(BasePlugin):
    "Half of the score."
    def late_submission_penalty(self, student_id, score, total_seconds_late):
        assert total_seconds_late == 3600, total_seconds_late
        return score / 2
c.AssignLatePenalties.plugin_class = Half
"""


def test_a_penalty_has_no_more_digits_than_a_person_writes(folder: Path) -> None:
    set_due(folder, DUE)
    hand_in(folder, "ann", LATE)
    with penalised(folder, HALF_OFF.replace("score / 2", "0.1 * 2 * 3")) as gradebook:
        gradebook.record([grade("ann")])
    assert scored(folder, "ann")[1] == 0.6 != 0.1 * 2 * 3


def test_a_submission_knows_when_it_was_handed_in(folder: Path, gradebook: Gradebook) -> None:
    set_due(folder, DUE)
    hand_in(folder, "ann", LATE)
    gradebook.record([grade("ann")])
    with db(folder) as found:
        assert found.find_submission(LESSON, "ann").total_seconds_late == 3600


def test_late_submissions_lose_what_the_plugin_says(folder: Path) -> None:
    set_due(folder, DUE)
    hand_in(folder, "late", LATE)
    hand_in(folder, "early", "2026-03-01 11:00:00 UTC")
    hand_in(folder, "scored", LATE)
    with penalised(folder, HALF_OFF) as gradebook:
        gradebook.record([grade("late"), grade("early"), grade("scored")])
        with db(folder) as found:
            row = found.find_grade("attention-check", LESSON, LESSON, "scored")
            row.manual_score, row.extra_credit = 1.0, 2.0
            found.db.commit()
        gradebook.record([grade("scored")])
    assert scored(folder, "late") == (MOST, MOST / 2)
    assert scored(folder, "early") == (MOST, 0)
    assert scored(folder, "scored") == (MOST - 5 + 3, (MOST - 5 + 3) / 2)


def test_penalties_are_those_of_nbgrader(folder: Path) -> None:
    """nbgrader's own preprocessor, run after us, changes nothing."""
    set_due(folder, DUE)
    hand_in(folder, "ann", LATE)
    with penalised(folder, ZERO) as gradebook:
        gradebook.record([grade("ann", *HALF)])
    before = rows(folder)
    config = Config()
    config.LateSubmissionPlugin.penalty_method = "zero"
    address = gradebooks.address(folder)
    where = {"notebook": LESSON, "assignment": LESSON, "student": "ann", "db_url": address}
    AssignLatePenalties(config=config).preprocess(nbformat.v4.new_notebook(), {"nbgrader": where})
    after = rows(folder)
    assert {**after, "course": None} == {**before, "course": None}
    assert scored(folder, "ann") == (REACHED, REACHED)


def test_an_extension_takes_the_penalty_back(folder: Path) -> None:
    set_due(folder, DUE)
    hand_in(folder, "ann", LATE)
    with penalised(folder, ZERO) as gradebook:
        gradebook.record([grade("ann")])
        with db(folder) as found:
            found.grant_extension(LESSON, "ann", hours=2)
        gradebook.record([grade("ann")])
    assert scored(folder, "ann") == (MOST, 0)


def test_who_is_late_is_known_by_the_due_date_and_extensions(
    folder: Path, gradebook: Gradebook
) -> None:
    gradebook.record([grade("ann"), grade("untimed"), invalid("bob", "The file is empty.")])
    assert gradebook.remarks(LESSON).late == {}
    for student in ("ann", "bob", "cid"):
        hand_in(folder, student, LATE)
    gradebook.record([grade("ann"), grade("cid"), invalid("bob", "The file is empty.")])
    with db(folder) as found:
        found.grant_extension(LESSON, "cid", hours=2)
    assert gradebook.remarks(LESSON).late == {}  # an extension of what is due at no time
    set_due(folder, DUE)
    late = {"ann": 3600, "bob": 3600, "cid": 0, "untimed": None}
    assert gradebook.remarks(LESSON).late == late


def test_who_waits_for_a_person_is_known(folder: Path, gradebook: Gradebook) -> None:
    gradebook.record([grade("ann"), grade("bob", {"attention": "POLICY"}), grade("cid")])
    with db(folder) as found:
        found.find_grade("attention-check", LESSON, LESSON, "cid").manual_score = 2.0
        found.db.commit()
    gradebook.record([grade("cid")])
    assert set(gradebook.remarks(LESSON).by_hand) == {"bob", "cid"}


def test_a_penalty_set_by_hand_stays(folder: Path, gradebook: Gradebook) -> None:
    set_due(folder, DUE)
    hand_in(folder, "ann", LATE)
    gradebook.record([grade("ann")])
    with db(folder) as found:
        found.find_submission_notebook(LESSON, LESSON, "ann").late_submission_penalty = 1.5
        found.db.commit()
    gradebook.record([grade("ann", *HALF)])
    assert scored(folder, "ann") == (REACHED, 1.5)
    assert exported(folder)["ann", LESSON] == (REACHED - 1.5, 1.5, MOST)


def test_a_plugin_that_stops_is_named_and_nothing_is_recorded(folder: Path) -> None:
    set_due(folder, "2026-03-01 12:30:00 UTC")
    hand_in(folder, "ann", LATE)
    with penalised(folder, HALF_OFF) as gradebook:
        before = rows(folder), tree(folder)
        with pytest.raises(GradebookError, match=r"plugin Half stopped at 'ann'.*AssertionError"):
            gradebook.record([grade("bob"), grade("ann")])
    assert (rows(folder), tree(folder)) == before


NO_TIMES = [b"soon", b"1" * 29 + b"m", b"", b"\xff\xfe", b"2026-99-99", b"9" * 1000, b"x" * 5000,
            b"1 1 " + b"9" * 30, b"0001-01-01 00:00:00 +9900",
            b"2026-01-01 00:00:00 /etc/passwd"]  # fmt: skip


def test_what_is_no_time_is_ignored(folder: Path, gradebook: Gradebook) -> None:
    """It is put aside as a submission is collected, and may be back by the time it is recorded."""
    students = {f"s{number}": text for number, text in enumerate(NO_TIMES)}
    for student, text in students.items():
        hand_in(folder, student, text)
    gradebook.record([grade(student) for student in students])
    with db(folder) as found:
        for student, text in students.items():
            submission = found.find_submission(LESSON, student)
            assert (submission.score, submission.timestamp) == (MOST, None), text
    assert not list((folder / "class" / "autograded").rglob("timestamp.txt"))


# --- files ---


def test_formgrader_s_files_are_nbgrader_s(folder: Path, gradebook: Gradebook) -> None:
    submitted = hand_in(folder, "ann", LATE)
    (submitted / "submission_secret.txt").write_text("secret")
    (submitted / "page.html").write_text("<script>alert(1)</script>")
    graded = dataclasses.replace(grade("ann"), page="<p>what no file \ud800 holds</p>")
    gradebook.record([graded])
    autograded = folder / "class" / "autograded" / "ann" / LESSON
    returned = folder / "class" / "feedback" / "ann" / LESSON
    small = {"timestamp.txt": LATE.encode(), "submission_secret.txt": b"secret"}
    found = {path.name: path.read_bytes() for path in autograded.iterdir()}
    assert found == {f"{LESSON}.ipynb": graded.notebook.encode(), **small}
    found = {path.name: path.read_bytes() for path in returned.iterdir()}
    assert found == {f"{LESSON}.html": b"<p>what no file ? holds</p>", **small}
    mode = stat.S_IMODE((autograded / f"{LESSON}.ipynb").stat().st_mode)
    assert mode == 0o444


def test_no_link_in_a_submission_is_followed(folder: Path, gradebook: Gradebook) -> None:
    (folder / "elsewhere").mkdir()
    (folder / "elsewhere" / "timestamp.txt").write_text(LATE)
    (folder / "elsewhere" / "submission_secret.txt").write_text("another's")
    submitted = folder / "class" / "submitted"
    (submitted / "ann" / LESSON).mkdir(parents=True)
    for name in ("timestamp.txt", "submission_secret.txt"):
        (submitted / "ann" / LESSON / name).symlink_to(folder / "elsewhere" / name)
    (submitted / "bob").mkdir()
    (submitted / "bob" / LESSON).symlink_to(folder / "elsewhere")
    os.mkfifo(submitted / "ann" / LESSON / "pipe")
    (submitted / "cid" / LESSON).mkdir(parents=True)
    os.mkfifo(submitted / "cid" / LESSON / "timestamp.txt")
    gradebook.record([grade("ann"), grade("bob"), grade("cid")])
    names = {Path(path).name for path in tree(folder)}
    assert names == {f"{LESSON}.ipynb", f"{LESSON}.html"}


def test_an_old_notebook_does_not_stay_where_nothing_was_graded(
    folder: Path, gradebook: Gradebook
) -> None:
    gradebook.record([grade("ann", code={"attention": "OLD = 1"})])
    gradebook.record([invalid("ann", "It is <b>empty</b>.")])
    path = folder / "class" / "autograded" / "ann" / LESSON / f"{LESSON}.ipynb"
    text = path.read_text(encoding="utf-8")
    assert "OLD = 1" not in text
    assert "It is &lt;b&gt;empty&lt;/b&gt;." in json.loads(text)["cells"][0]["source"][0]


# --- pages ---


def paged(graded: Graded) -> Graded:
    """With the page that a worker renders."""
    return dataclasses.replace(graded, page=feedback.render(graded))


def page_path(folder: Path, student: str) -> Path:
    return folder / "class" / "feedback" / student / LESSON / f"{LESSON}.html"


def page_of(folder: Path, student: str) -> str:
    return page_path(folder, student).read_text(encoding="utf-8")


def edit(
    folder: Path,
    student: str,
    manual: float | None = None,
    extra: float | None = None,
    comment: str | None = None,
    penalty: float | None = None,
) -> None:
    """What a person can set in formgrader, and what a plugin or a script does."""
    with db(folder) as found:
        row = found.find_grade("attention-check", LESSON, LESSON, student)
        row.manual_score, row.extra_credit, row.needs_manual_grade = manual, extra, False
        found.find_comment("attention", LESSON, LESSON, student).manual_comment = comment
        notebook = found.find_submission_notebook(LESSON, LESSON, student)
        notebook.late_submission_penalty = penalty
        found.db.commit()


# What a person sets, by student; and what is then read on the page.
EDITS: dict[str, tuple[dict[str, Any], list[str]]] = {
    "nothing": ({}, ["2.5 of 5 points"]),
    "score": ({"manual": 0.5}, ["Your instructor gave 0.5 of 5 points"]),
    "zero": ({"manual": 0.0}, ["Your instructor gave 0 of 5 points"]),
    "extra": ({"extra": 2.0}, ["Your instructor added 2 points", "4.5 of 5 points, with extra"]),
    "comment": ({"comment": "a < b\nand *c*"}, ["a &lt; b\nand *c*"]),
    "blank": ({"comment": " \n"}, ["2.5 of 5 points"]),
    "late": ({"penalty": 2.75}, ["Handed in late: 2.75 points taken off. Before that it came"]),
    "very late": ({"penalty": 20.0}, ["a score is never below 0"]),
    "all": ({"manual": 1.0, "extra": 1.0, "comment": "é", "penalty": 0.5}, ["é", "0.5 points"]),
}


@pytest.mark.parametrize("again", ["grade", "feedback"])
def test_the_page_shows_what_the_gradebook_holds(
    folder: Path, gradebook: Gradebook, again: str
) -> None:
    batch = [paged(grade(student, *HALF)) for student in EDITS] + [
        paged(invalid(f"no {student}", "The file is empty.")) for student in EDITS
    ]
    gradebook.record(batch)
    before = tree(folder)
    for student, (edits, _) in EDITS.items():
        edit(folder, student, **edits)
        edit(folder, f"no {student}", **edits)
    held = rows(folder)
    if again == "grade":
        gradebook.record(batch)
    else:
        assert main(["feedback", LESSON]) == 0
        assert rows(folder) == held
    shown = {student: page_of(folder, student) for student in [*EDITS, *map("no {}".format, EDITS)]}
    scores = {
        student: held for (student, lesson), held in exported(folder).items() if lesson == LESSON
    }
    assert set(scores) == set(shown)
    for student, (score, _, most) in scores.items():
        assert f">Score: {score:g} of {most:g} points<" in shown[student], student
    for student, (_, words) in EDITS.items():
        for word in words:
            assert word in shown[student]
    assert "Your instructor gave 0.5 of 5 points" in shown["no score"]
    for student in EDITS:
        edit(folder, student)
        edit(folder, f"no {student}")
    assert main(["feedback", LESSON]) == 0
    assert tree(folder) == before, "as it was, once nothing is set"


def test_the_page_greets_by_name(folder: Path, gradebook: Gradebook) -> None:
    with db(folder) as found:
        found.update_or_create_student("ann", first_name="Änn <b>", last_name="O'Lee")
    gradebook.record([paged(grade("ann")), paged(grade("bob"))])
    own = re.compile("<!--.*?-->")
    greeted = "For <bdi>Änn &lt;b&gt; O&#x27;Lee</bdi>, <bdi>ann</bdi><"
    assert greeted in own.sub("", page_of(folder, "ann"))
    assert "For <bdi>bob</bdi><" in own.sub("", page_of(folder, "bob"))


def test_the_page_shows_the_penalty_of_the_course_s_own_rule(folder: Path) -> None:
    set_due(folder, DUE)
    hand_in(folder, "ann", LATE)
    with penalised(folder, HALF_OFF) as gradebook:
        gradebook.record([paged(grade("ann", *HALF))])
        edit(folder, "ann", manual=1.5)
        gradebook.record([paged(grade("ann", *HALF))])
    half = (MOST - 5 + 1.5) / 2
    assert f">Score: {half:g} of {MOST:g} points<" in page_of(folder, "ann")
    assert (
        f"Handed in late: {half:g} points taken off. It was due 2026-03-01 12:00 UTC, and handed "
        "in 2026-03-01 13:00 UTC, 1 hour late. The course's rule: Half of the score. Before that "
        f"it came to {2 * half:g} points, now to {half:g}."
    ) in page_of(folder, "ann")


def test_feedback_says_how_many_pages_it_wrote_and_whose_it_did_not(
    folder: Path, gradebook: Gradebook, capsys: pytest.CaptureFixture[str]
) -> None:
    gradebook.record([paged(grade(student)) for student in ("ann", "bob", "cid", "dan", "fay")])
    page_path(folder, "fay").unlink()
    page_path(folder, "cid").write_text("<p>nbgrader's own</p>")
    page_path(folder, "dan").write_bytes(b"\xff")
    with db(folder) as found:
        found.add_student("eve")
        found.add_student("../../submitted/gil")
    edit(folder, "ann", manual=1.0)
    assert main(["feedback", LESSON]) == 0
    wrote, none, left = capsys.readouterr().err.splitlines()
    assert tells(wrote, "2 pages", "1 of them changed", page_path(folder, "<student>"))
    assert tells(none, "no page", ": ../../submitted/gil, eve, fay.")
    assert tells(left, "Left", ": cid, dan.", f"grade {LESSON} again")
    assert page_path(folder, "cid").read_text() == "<p>nbgrader's own</p>"
    assert page_path(folder, "dan").read_bytes() == b"\xff"
    assert stat.S_IMODE(page_path(folder, "ann").stat().st_mode) == 0o644


def test_feedback_writes_the_pages_of_those_who_are_named(
    folder: Path, gradebook: Gradebook, capsys: pytest.CaptureFixture[str]
) -> None:
    gradebook.record([paged(grade(student)) for student in ("ann", "bob")])
    before = page_of(folder, "bob")
    for student in ("ann", "bob"):
        edit(folder, student, manual=1.0)
    assert main(["feedback", LESSON, "--student", "ann"]) == 0
    assert "Wrote 1 page, 1 of them changed" in capsys.readouterr().err
    assert "Your instructor gave 1 of 5 points" in page_of(folder, "ann")
    assert page_of(folder, "bob") == before
    assert main(["feedback", LESSON, "--student", "bub"]) == 2
    said = capsys.readouterr().err
    assert tells(said, "'bub'", LESSON, "'bob'")


def test_feedback_of_a_page_without_a_grade_leaves_it(
    folder: Path, gradebook: Gradebook, capsys: pytest.CaptureFixture[str]
) -> None:
    gradebook.record([paged(grade("ann", *HALF))])
    before = page_of(folder, "ann")
    with db(folder) as found:
        found.remove_submission(LESSON, "ann")
    assert main(["feedback", LESSON]) == 0
    assert tells(capsys.readouterr().err, "Left", ": ann.")
    assert page_of(folder, "ann") == before


@pytest.mark.sqlite
def test_feedback_without_a_lesson_or_a_gradebook_says_so(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["feedback", "06-casual-mask"]) == 2
    said = capsys.readouterr().err
    assert tells(said, "'06-casual-mask'", LESSON)
    assert main(["feedback", "02-pure-python"]) == 1
    said = capsys.readouterr().err
    assert tells(said, "nothing", "make grade LESSON=02-pure-python")
    gradebook_path(folder).unlink()
    assert main(["feedback", LESSON]) == 1
    said = capsys.readouterr().err
    assert tells(said, "no gradebook", gradebook_path(folder))
    assert not gradebook_path(folder).exists()


# --- names ---

NAMES = ["ann lee", "🦊", "o'neil", "') drop table student--", "{0}", "*", "%s", "..a", "ünï",
         "x" * 128]  # fmt: skip


def test_a_student_may_be_called_anything(folder: Path, gradebook: Gradebook) -> None:
    gradebook.record([grade(name, *HALF) for name in NAMES])
    with db(folder) as found:
        scores = {name: found.find_submission(LESSON, name).score for name in NAMES}
    assert scores == dict.fromkeys(NAMES, REACHED)
    for name in NAMES:
        assert (folder / "class" / "autograded" / name / LESSON / f"{LESSON}.ipynb").is_file()
        assert "<script" not in page_of(folder, name), name


REFUSED = ["", ".", "..", "a/b", "../eve", "\0", "\udcff", "x" * 129, "two\nlines", 'o"x', "a,b",
           "=1", "<b>", "a;b", "\u1160"]  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_a_name_that_cannot_be_recorded_is_refused(name: str) -> None:
    with pytest.raises(BadName, match=r"Rename the folder"):
        check_name(name)


def test_nothing_is_recorded_of_a_batch_with_such_a_name(
    folder: Path, gradebook: Gradebook
) -> None:
    before = rows(folder), tree(folder)
    with pytest.raises(BadName):
        gradebook.record([grade("ann"), grade("../eve")])
    assert (rows(folder), tree(folder)) == before


def test_text_that_utf_8_has_not_is_recorded_all_the_same(
    folder: Path, gradebook: Gradebook
) -> None:
    graded = grade("ann", code={"attention": "s = '\ud800'"})
    gradebook.record([graded])
    path = folder / "class" / "autograded" / "ann" / LESSON / f"{LESSON}.ipynb"
    assert json.loads(path.read_bytes()) == json.loads(graded.notebook)


# --- formgrader ---


def test_formgrader_shows_score_and_comment_and_opens_the_notebook(
    folder: Path, gradebook: Gradebook
) -> None:
    for student in ("ann", "eve"):
        submitted = hand_in(folder, student, LATE)
        (submitted / f"{LESSON}.ipynb").write_text("{}")
    gradebook.record([grade("ann", *HALF), invalid("eve", "The file is empty.")])
    interface = NbGraderAPI(Course.here().directory)
    shown = {item["student"]: item for item in interface.get_submissions(LESSON)}
    assert (shown["ann"]["score"], shown["ann"]["max_score"]) == (REACHED, MOST)
    assert shown["eve"]["score"] == 0
    assert shown["ann"]["autograded"]
    assert shown["eve"]["autograded"]
    assert interface.get_submission(LESSON, "ann")["score"] == REACHED
    [notebook] = interface.get_student_notebook_submissions("ann", LESSON)
    assert notebook["score"] == REACHED
    assert notebook["failed_tests"]
    assert len(interface.get_notebook_submissions(LESSON, LESSON)) == 2
    for student, text in {"ann": "no-scale", "eve": "could not be graded"}.items():
        page = formgrader_page(folder, student)
        assert text in page
        for name in ("causal_mask", "attention", "looks_ahead", "padding_mask", "decoder_mask"):
            assert f'id="{name}-comment"' in page, "where formgrader puts the comment"
            assert f'id="{name}-check"' in page, "where it puts the score"


def formgrader_page(folder: Path, student: str) -> str:
    """What formgrader's handler renders for a submission."""
    config = Config()
    config.HTMLExporter.template_name = "formgrade"
    config.HTMLExporter.extra_template_basedirs = [handlers.template_path]
    resources = {"index": 0, "total": 1, "base_url": "", "student": student, "notebook_path": ""}
    path = folder / "class" / "autograded" / student / LESSON / f"{LESSON}.ipynb"
    page, _ = HTMLExporter(config=config).from_filename(str(path), resources=resources)
    return str(page)


def test_nbgrader_s_own_feedback_can_be_made_from_it(folder: Path, gradebook: Gradebook) -> None:
    gradebook.record([grade("ann", *HALF), invalid("eve", "The file is empty.")])
    before = tree(folder)
    run("nbgrader", "generate_feedback", LESSON, cwd=folder)
    assert tree(folder) == before, "it keeps what is there"
    run("nbgrader", "generate_feedback", LESSON, "--force", cwd=folder)
    page = folder / "class" / "feedback" / "ann" / LESSON / f"{LESSON}.html"
    assert f"(Score: {REACHED} / {MOST:.1f})" in page.read_text(encoding="utf-8")


# --- trouble ---


@pytest.mark.sqlite
def test_a_gradebook_in_use_is_waited_for_and_then_named(folder: Path) -> None:
    with Gradebook(Course.here(), wait_seconds=0.2) as gradebook:
        gradebook.prepare(LESSON)
        before = rows(folder), tree(folder)
        with closing(sqlite3.connect(gradebook_path(folder), isolation_level=None)) as other:
            other.execute("begin immediate")
            with pytest.raises(GradebookError, match=r"gradebook\.db' is in use.*run this again"):
                gradebook.record([grade("ann")])
            other.execute("rollback")
        assert (rows(folder), tree(folder)) == before
        gradebook.record([grade("ann")])
    with db(folder) as found:
        assert found.find_submission(LESSON, "ann").score == MOST


def test_two_recorders_do_not_lose_each_other_s_scores(folder: Path) -> None:
    program = """
import sys
from autograder.gradebook.course import Course
from autograder.gradebook.gradebook import Gradebook
from tests.graded import LESSON, grade
with Gradebook(Course.here()) as gradebook:
    gradebook.prepare(LESSON)
    for number in range(8):
        gradebook.record([grade("both"), grade(f"{sys.argv[1]}-{number}")])
"""
    both = [
        subprocess.Popen([sys.executable, "-c", program, name], cwd=folder, env=environment())
        for name in ("one", "two")
    ]
    assert [process.wait(timeout=120) for process in both] == [0, 0]
    with db(folder) as found:
        scores = {item["student"]: item["score"] for item in found.submission_dicts(LESSON)}
    expected = [f"{name}-{number}" for name in ("one", "two") for number in range(8)]
    assert scores == dict.fromkeys([*expected, "both"], MOST)


@pytest.mark.sqlite
def test_a_damaged_gradebook_is_named(folder: Path) -> None:
    gradebook_path(folder).write_bytes(b"this is no database" * 1000)
    with pytest.raises(GradebookError, match=r"gradebook\.db' is not a SQLite database.*backup"):
        Gradebook(Course.here())


def test_a_gradebook_of_an_older_nbgrader_is_named(folder: Path) -> None:
    with gradebooks.connected(folder) as connection:
        connection.exec_driver_sql(
            "alter table submitted_notebook drop column late_submission_penalty"
        )
    with Gradebook(Course.here()) as gradebook:
        gradebook.prepare(LESSON)
        with pytest.raises(GradebookError, match=r"older nbgrader.*nbgrader db upgrade"):
            gradebook.record([grade("ann")])


def test_an_address_that_is_none_is_named(folder: Path) -> None:
    with open(folder / "nbgrader_config.py", "a", encoding="utf-8") as file:
        file.write("\nc.CourseDirectory.db_url = 'nothing'\n")
    with pytest.raises(GradebookError, match=r"'nothing' cannot be opened.*db_url"):
        Gradebook(Course.here())


def test_a_folder_that_is_not_there_is_named(folder: Path) -> None:
    with open(folder / "nbgrader_config.py", "a", encoding="utf-8") as file:
        file.write("\nc.CourseDirectory.db_url = 'sqlite:////nowhere/at/all/gradebook.db'\n")
    with pytest.raises(GradebookError, match=r"'/nowhere/at/all/gradebook\.db' could not be open"):
        Gradebook(Course.here())


def test_without_settings_there_is_no_course(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(CourseError, match=r"There is no .*nbgrader_config\.py"):
        Course.here()


@pytest.mark.parametrize("wrong", ["1/0", "c.CourseDirectory.course_id = 7", "exit()"])
def test_wrong_settings_are_named(folder: Path, wrong: str) -> None:
    with open(folder / "nbgrader_config.py", "a", encoding="utf-8") as file:
        file.write(f"\n{wrong}\n")
    with pytest.raises(CourseError, match=r"nbgrader_config\.py cannot be used"):
        Course.here()


# What a full or a read-only disk does can only be seen on one: a small one of our own, put in the
# place of a folder. As root, permissions would stop nobody.
ON_A_SMALL_DISK = """
import json, os, shutil, subprocess, sys
from pathlib import Path
place, scratch, size, then = sys.argv[1:]
folder = Path.cwd()
shutil.copytree(place, scratch)
subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", place], check=True)
shutil.copytree(scratch, place, dirs_exist_ok=True)
from autograder.gradebook.course import Course
from autograder.gradebook.database import GradebookError
from attnlab.ipynb.files import NotWritten, Parts, write_whole
from autograder.gradebook.gradebook import Gradebook
from tests.graded import LESSON, grade
from tests.test_gradebook import rows, tree
with Gradebook(Course.here()) as gradebook:
    gradebook.prepare(LESSON)
    gradebook.record([grade("first", {"attention": "FAIL"})])
subprocess.run(["sh", "-ec", then], check=True)
said, number = None, 0
before = rows(folder), tree(folder)
try:
    with Gradebook(Course.here()) as gradebook:
        gradebook.prepare(LESSON)
        while True:
            before = rows(folder), tree(folder)
            gradebook.record([grade("first"), grade(f"{number}"), grade(f"{number} again")])
            number += 1
except GradebookError as error:
    said = str(error)
same = (rows(folder), tree(folder)) == before
print(json.dumps([said, same, number]))
"""


def on_a_small_disk(folder: Path, place: Path, size: str, then: str = "") -> tuple[str, int]:
    """What is said by the first batch that cannot be recorded, and its number.

    Rows and files have to be as they were before it.
    """
    unshare = shutil.which("unshare")
    if unshare is None or subprocess.run([unshare, "-rm", "true"], check=False).returncode:
        pytest.skip("there are no user namespaces here, so no disk of our own")
    done = subprocess.run(
        [
            *(unshare, "-rm", sys.executable, "-c", ON_A_SMALL_DISK),
            *(str(place), str(folder.parent / "scratch"), size, then),
        ],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env=environment(),
    )
    assert done.returncode == 0, done.stderr
    said, same, number = json.loads(done.stdout.splitlines()[-1])
    assert same, "rows or files changed"
    return said, number


def test_a_full_disk_is_named_and_nothing_is_half_written(folder: Path) -> None:
    said, number = on_a_small_disk(folder, folder / "class", "1500k")
    assert str(folder / "class") in said
    assert "he disk is full. Free some space" in said
    assert number > 0


@pytest.mark.sqlite
def test_a_gradebook_that_does_not_fit_takes_no_files_with_it(folder: Path) -> None:
    books = folder / "class" / "books"
    books.mkdir()
    gradebook_path(folder).rename(books / "gradebook.db")
    gradebook_path(folder).symlink_to(books / "gradebook.db")
    said, number = on_a_small_disk(folder, books, "400k")
    assert tells(said, "gradebook.db", "disk is full")
    assert number > 0


@pytest.mark.parametrize("name", ["autograded", "feedback"])
def test_a_read_only_folder_is_named(folder: Path, name: str) -> None:
    place = folder / "class" / name
    place.mkdir()
    said, _ = on_a_small_disk(folder, place, "2m", f"mount -o remount,ro '{place}'")
    assert f"class/{name}/" in said
    assert "read-only disk. Work on a disk that can be written" in said


@pytest.mark.sqlite
def test_a_read_only_gradebook_is_named(folder: Path) -> None:
    books = folder / "class" / "books"
    books.mkdir()
    gradebook_path(folder).rename(books / "gradebook.db")
    gradebook_path(folder).symlink_to(books / "gradebook.db")
    said, _ = on_a_small_disk(folder, books, "2m", f"mount -o remount,ro '{books}'")
    assert tells(said, "gradebook.db", "read-only")


# --- parts ---


def test_parts_are_in_place_together_or_not_at_all(tmp_path: Path) -> None:
    (tmp_path / "old").write_text("old")
    with Parts() as parts:
        parts.write(tmp_path / "old", b"new")
        parts.write(tmp_path / "a" / "b" / "new", b"new")
    assert {path.name for path in tmp_path.rglob("*")} == {"old"}
    assert (tmp_path / "old").read_text() == "old"


def test_a_file_in_the_place_of_a_folder_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(NotWritten, match=r"A file is in the place of a folder"):
        write_whole(tmp_path / "file" / "below", b"")
    (tmp_path / "folder").mkdir()
    with pytest.raises(NotWritten, match=r"A folder is in its place"):
        write_whole(tmp_path / "folder", b"")
    assert {path.name for path in tmp_path.rglob("*")} == {"file", "folder"}


def test_what_a_killed_run_left_is_removed_once_it_is_old(tmp_path: Path) -> None:
    old, new = tmp_path / ".page.html.abc.part", tmp_path / ".page.html.def.part"
    other = tmp_path / ".other.html.abc.part"
    for path in (old, new, other):
        path.write_text("")
    for path in (old, other):
        os.utime(path, (0, 0))
    write_whole(tmp_path / "page.html", b"")
    assert {path.name for path in tmp_path.iterdir()} == {new.name, other.name, "page.html"}
