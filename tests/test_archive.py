"""A class put away at the end of a term, with what graded it: `archive`."""

from __future__ import annotations

import csv
import io
import shutil
import subprocess
import tarfile
from pathlib import Path

import pytest

from autograder.gradebook.export import Rounded
from autograder.term import archive as archiving
from tests import gradebooks
from tests.course import tells
from tests.small_class import LESSON, grade
from tests.test_again import DUE, score_by_hand, submit
from tests.test_grade_command import command, in_git

pytestmark = pytest.mark.slow
RULE = '''
from nbgrader.plugins import BasePlugin


class Tenth(BasePlugin):
    """A tenth is taken off."""

    def late_submission_penalty(self, student_id, score, total_seconds_late):
        return 0.1 * score
'''


@pytest.fixture
def term(course: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A class that was graded by a rule which nobody has committed."""
    monkeypatch.syspath_prepend(course)
    in_git(course)
    (course / "tenth.py").write_text(RULE)
    with open(course / "nbgrader_config.py", "a", encoding="utf-8") as file:
        file.write('c.AssignLatePenalties.plugin_class = "tenth.Tenth"\n')
    with gradebooks.open_book(course) as found:
        found.update_or_create_assignment(LESSON, duedate=DUE)
    submit(course, "ann", "2026-03-03 12:00:00 UTC")
    submit(course, "bob")
    grade(course, jobs=1)
    return course


def away(capsys: pytest.CaptureFixture[str], name: str, status: int = 0) -> str:
    capsys.readouterr()
    assert command("archive", name) == status
    said = capsys.readouterr()
    return said.out + said.err


@pytest.mark.sqlite
def test_an_archive_has_what_graded_as_it_stood(
    term: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    before = {path: path.read_bytes() for path in (term / "class").rglob("*") if path.is_file()}
    index = (term / ".git" / "index").read_bytes()
    lesson = term / "notebooks" / LESSON / f"{LESSON}.ipynb"
    lesson.write_text(lesson.read_text().replace("import numpy", "import  numpy"))
    grade(term, jobs=1, students=("ann",))
    (term / "weights").write_bytes(bytes(1001))
    monkeypatch.setattr(archiving, "LARGEST", 1000)
    (term / "notes").mkdir()
    (term / "notes" / "-n π").write_text("a")
    said = away(capsys, "2026")
    head = subprocess.check_output(["git", "rev-parse", "HEAD"], cwd=term, text=True).strip()
    assert tells(said, head, " M nbgrader_config.py", "?? tenth.py", "too large", "weights")
    assert tells(said, f"{LESSON}: 2 graded, 1 of them", "class-2026")
    assert not (term / "class").exists()
    home = term / "class-2026"
    kept = {path: (home / path.relative_to(term / "class")).exists() for path in before}
    assert all(kept.values())
    assert (home / "course" / "tenth.py").read_text() == RULE
    assert (home / "course" / "course.txt").read_text() == said[: said.rindex("class is ")]
    with tarfile.open(home / "course" / "course.tar.gz") as tar:
        held = {name.removeprefix("course/") for name in tar.getnames()}
        assert {"tenth.py", "notes/-n π", ".gitignore"} <= held
        assert not {"weights", "class"} & held
        for path in (lesson, term / "nbgrader_config.py"):
            file = tar.extractfile(f"course/{path.relative_to(term)}")
            assert file
            assert file.read() == path.read_bytes()
    assert (term / ".git" / "index").read_bytes() == index


@pytest.mark.sqlite
def test_what_cannot_be_put_away_stays_where_it_is(
    term: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (term / "class-2025").mkdir()
    for name, word in (("2025", "is there"), ("../up", "no name"), ("", "no name")):
        assert tells(away(capsys, name, 2), word)
    monkeypatch.setenv("PATH", "/nowhere")
    assert tells(away(capsys, "2026", 1), "git is not installed")
    monkeypatch.undo()
    monkeypatch.chdir(term)
    shutil.rmtree(term / ".git")
    assert tells(away(capsys, "2026", 1), "git")
    assert (term / "class" / "submitted" / "ann").is_dir()


def test_an_export_has_no_tails(term: Path) -> None:
    score_by_hand(term, "ann", "softmax", 0.1)
    score_by_hand(term, "ann", "project", 0.2)
    with gradebooks.open_book(term) as found:
        found.update_or_create_student("ann", last_name="Lovelace, the\nelder")
        row = found.find_submission_notebook(LESSON, LESSON, "ann")
        row.late_submission_penalty = 0.1 + 0.2
        found.db.commit()
        Rounded(to="grades.csv").export(found)
    text = (term / "grades.csv").read_text()
    assert "0000" not in text.replace("00:00", "")
    [bob] = [row for row in csv.DictReader(io.StringIO(text)) if row["student_id"] == "bob"]
    assert (bob["score"], bob["late_submission_penalty"]) == ("9.0", "0.0")
