"""The synthetic class: honest, varied, the same for the same seed, and in nobody's way."""

from __future__ import annotations

import json
import subprocess
import sys
from functools import cache
from pathlib import Path

import nbformat
import pytest

from attnlab.checks.notebook import check
from attnlab.exercises import exercises_of
from autograder.demo_class.answers import Written, bank, unfinished
from autograder.demo_class.folder import NOTE, NotOurs, refuse_to_overwrite, write
from autograder.demo_class.front_ends import FRONT_ENDS
from autograder.demo_class.habits import HABITS
from autograder.demo_class.learners import LESSONS, Submission, names, the_class
from tests.answers import all_answers
from tests.answers.tally import mark
from tests.course import ROOT, SLUGS

# By (lesson, exercise, mistake, label), as far as an answer is a definition with marks above it.
BANK = {
    (lesson, each.exercise, each.made, each.label): each
    for lesson in LESSONS
    for each in bank(lesson)
}
SOME = list(BANK)[::23]


@cache
def some_class(students: int = 40, seed: int = 1) -> tuple[Submission, ...]:
    return tuple(the_class(students, LESSONS, seed))


def text_of(written: Written) -> str:
    return "\n\n".join([*written.imports, *written.helpers, written.source])


def test_the_class_takes_every_lesson() -> None:
    assert list(LESSONS) == SLUGS


def test_same_seed_same_class() -> None:
    assert tuple(the_class(40, LESSONS, 1)) == some_class()


def test_another_seed_another_class() -> None:
    assert some_class(3, 2) != some_class(3, 1)


def test_a_larger_class_begins_with_the_smaller_one() -> None:
    first = set(names(3))
    assert list(some_class(3)) == [each for each in some_class() if each.student in first]


def test_every_habit_and_front_end_is_in_a_class() -> None:
    assert {name for each in some_class() for name in each.habits} == {each.name for each in HABITS}
    assert {each.front_end for each in some_class()} == set(FRONT_ENDS)


def test_answers_are_right_wrong_and_unfinished() -> None:
    kinds = {answer.partition(":")[0] for each in some_class() for answer in each.answers.values()}
    assert kinds >= {"right", "unfinished", "no-scale"}
    assert any(not each.answers for each in some_class())  # not begun


@pytest.mark.parametrize("front_end", FRONT_ENDS)
def test_what_a_front_end_saves_can_be_opened(front_end: str) -> None:
    saved = [each for each in some_class() if each.front_end == front_end]
    assert saved
    for each in saved:
        notebook = nbformat.reads(each.text, as_version=4)
        named = {cell.metadata.get("nbgrader", {}).get("grade_id") for cell in notebook.cells}
        assert named >= set(exercises_of(each.lesson)) | {"setup"}


def test_almost_every_answer_of_the_bank_can_be_cut_out() -> None:
    filed = {(each.lesson, each.exercise, each.slug, each.label) for each in all_answers()}
    assert set(BANK) <= filed
    assert len(BANK) > 0.98 * len(filed)


@pytest.mark.parametrize("key", SOME, ids="-".join)
def test_an_answer_that_is_cut_out_is_the_same_answer(key: tuple[str, str, str, str]) -> None:
    lesson, exercise, made, _ = key
    [answer] = [
        each for each in all_answers() if (each.lesson, each.exercise, each.slug, each.label) == key
    ]
    space: dict[str, object] = {"__name__": "__main__"}
    exec(text_of(BANK[key]), space)
    verdict = check(space[exercise], name=exercise, lesson=lesson).verdict
    expected = mark(answer).verdict
    assert (verdict.status, verdict.score) == (expected.status, expected.score), made


@pytest.mark.parametrize("lesson", LESSONS)
def test_unfinished_answers_earn_nothing(lesson: str) -> None:
    released = nbformat.read(ROOT / "notebooks" / lesson / f"{lesson}.ipynb", as_version=4)
    setup = next(cell.source for cell in released.cells if cell.cell_type == "code")
    stubs = {
        cell.metadata.nbgrader.grade_id: cell.source
        for cell in released.cells
        if cell.metadata.get("nbgrader", {}).get("solution")
    }
    for exercise in exercises_of(lesson):
        for written in unfinished(exercise, stubs[exercise]):
            space: dict[str, object] = {}
            exec(setup, space)
            try:
                exec(written.source, space)
            except SyntaxError:
                continue
            if exercise in space:
                card = check(space[exercise], name=exercise, lesson=lesson)
                assert card.verdict.score == 0, written


def test_a_class_is_written_with_a_note_of_what_is_in_it(tmp_path: Path) -> None:
    for each in some_class(2):
        path = write(tmp_path, each, 1)
        assert path == tmp_path / each.student / each.lesson / f"{each.lesson}.ipynb"
        assert path.read_bytes() == each.text.encode()
    note = json.loads((tmp_path / "s001" / NOTE).read_text(encoding="utf-8"))
    assert list(note) == list(LESSONS)
    assert note["06-causal-mask"]["answers"] == some_class(1)[-1].answers
    assert not list(tmp_path.rglob("*.new"))


def test_no_folder_of_somebody_else_is_touched(tmp_path: Path) -> None:
    theirs = tmp_path / "s002" / "notes.txt"
    theirs.parent.mkdir()
    theirs.write_text("mine")
    with pytest.raises(NotOurs, match="s002"):
        refuse_to_overwrite(tmp_path, names(3))


def test_the_command_refuses_before_it_writes_anything(tmp_path: Path) -> None:
    (tmp_path / "s003").mkdir()
    done = _command("--students", "3", "--to", str(tmp_path))
    assert done.returncode == 1
    assert "s003" in done.stderr
    assert "Traceback" not in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["s003"]


def test_the_command_may_be_run_again(tmp_path: Path) -> None:
    lesson = LESSONS[0]
    assert _command("--students", "2", "--to", str(tmp_path)).returncode == 0
    before = {path: path.read_bytes() for path in tmp_path.rglob("*.ipynb")}
    assert len(before) == 2 * len(LESSONS)
    again = _command("--students", "2", "--lesson", lesson, "--seed", "2", "--to", str(tmp_path))
    assert again.returncode == 0
    after = {path: path.read_bytes() for path in tmp_path.rglob("*.ipynb")}
    assert {path.stem for path in after if after[path] != before[path]} == {lesson}
    assert set(after) == set(before)


def _command(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "autograder.demo_class", *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=120,
    )
