"""The Gradescope autograder without a container: what its zip holds, results.json, bad input."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import zipfile
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import nbformat
import pytest

from attnlab.lessons import slugs
from autograder.doctor import Trial
from autograder.sandbox.limits import Limits
from autograder.submission.folder import Submission
from autograder.submission.handed_in import opened_in
from autograder.submission.results import A_PERSON, Result
from deploy.gradescope import run
from deploy.gradescope.results import FOR_A_PERSON, results
from tests.course import ROOT, tells
from tests.graded import LESSON, MOST, grade
from tests.test_release import given_away, telling_lines

PURE = "01-soft-lookup"
UNSAFE = "this machine has no namespaces. Start it with --security-opt seccomp=unconfined"


def solved(lesson: str) -> bytes:
    return (ROOT / "solutions" / lesson / f"{lesson}.ipynb").read_bytes()


# results.json -------------------------------------------------------------------------------------


def test_each_exercise_is_a_test_with_its_points_and_its_message() -> None:
    graded = grade(
        "ada", {"attention": "FAIL"}, {"attention": 2.0}, repaired=("a cell was put back",)
    )
    found = results(graded.result, 3.21)
    assert found["score"] == graded.result.score == MOST - 3.0
    assert found["output"] == "Put right: a cell was put back"
    assert (found["execution_time"], found["stdout_visibility"]) == (3.2, "hidden")
    by_name = {test["name"]: test for test in found["tests"]}
    assert by_name["attention"] == {
        "name": "attention",
        "score": 2.0,
        "max_score": 5.0,
        "status": "failed",
        "output": "entry [0, 1] is 0.5 too large",
        "output_format": "text",
        "visibility": "visible",
    }
    others = [test for name, test in by_name.items() if name != "attention"]
    assert {test["status"] for test in others} == {"passed"}
    assert sum(test["max_score"] for test in found["tests"]) == MOST


def test_what_a_person_should_look_at_is_hidden_from_learners_and_no_score() -> None:
    result = Result("ada", LESSON, "GRADED", "", 0.0, MOST, (), ("`attention` names sdpa",))
    found = results(result, 1.0)
    assert found["tests"][-1] == {
        "name": FOR_A_PERSON,
        "output": "`attention` names sdpa",
        "visibility": "hidden",
    }
    assert "sdpa" not in found["output"]


def test_what_is_no_notebook_is_one_test_that_says_why() -> None:
    found = results(Result("ada", LESSON, "INVALID", "It is not JSON.", 0.0, MOST), 1.0)
    [only] = found["tests"]
    assert found["output"] == only["output"] == "It is not JSON."
    assert (found["score"], only["score"], only["max_score"]) == (0.0, 0.0, MOST)
    assert only["name"] == f"{LESSON}.ipynb"


# a submission -------------------------------------------------------------------------------------


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder like /autograder, in which lesson 01 is graded."""
    for name in ("source", "submission", "results"):
        (tmp_path / name).mkdir()
    (tmp_path / "source" / "LESSON").write_text(f"{PURE}\n")
    (tmp_path / "source" / "key").write_text("00" * 32)
    monkeypatch.setattr(run, "SOURCE", tmp_path / "source")
    return tmp_path


def handed_in(place: Path, lesson: str = PURE) -> bytes | str:
    """What is taken of a submission: its bytes, or why there are none."""
    content = opened_in(place / "submission", ".", lesson, Limits()).content
    return content if isinstance(content, bytes) else str(content)


def written(place: Path) -> dict[str, Any]:
    found = json.loads((place / "results" / "results.json").read_text(encoding="utf-8"))
    assert isinstance(found, dict)
    return found


def test_the_notebook_of_a_hand_in_that_was_unpacked_is_found(place: Path) -> None:
    folder = place / "submission" / PURE
    folder.mkdir()
    (folder / f"{PURE}.ipynb").write_bytes(solved(PURE))
    assert isinstance(handed_in(place), bytes)


@pytest.mark.parametrize("added", [".json", ".txt"])
def test_what_a_browser_adds_to_a_name_costs_nothing(place: Path, added: str) -> None:
    (place / "submission" / f"{PURE}.ipynb{added}").write_bytes(solved(PURE))
    assert isinstance(handed_in(place), bytes)


def test_a_hand_in_that_is_still_a_zip_is_looked_into(place: Path) -> None:
    with zipfile.ZipFile(place / "submission" / f"{PURE}.zip", "w") as archive:
        archive.writestr(f"{PURE}/{PURE}.ipynb", solved(PURE))
    assert isinstance(handed_in(place), bytes)


@pytest.mark.parametrize(
    ("names", "said"),
    [
        ([], "Nothing is there. Hand in `01-soft-lookup.ipynb` itself."),
        (["a.ipynb", "b.ipynb"], "there are `a.ipynb`, `b.ipynb`: rename the one that is to be"),
        (["notes.txt"], "What is there: `notes.txt`."),
        (["06-causal-mask.ipynb"], "`06-causal-mask.ipynb` is named as the one of 06-causal-mask"),
    ],
    ids=["nothing", "several", "another file", "another lesson"],
)
def test_of_what_cannot_be_taken_one_line_says_why(
    place: Path, names: list[str], said: str
) -> None:
    for name in names:
        (place / "submission" / name).write_bytes(b"{}")
    told = handed_in(place)
    assert isinstance(told, str)
    assert said in told
    assert "\n" not in told


def test_no_link_of_a_submission_leads_to_what_it_must_not_know(place: Path) -> None:
    (place / "submission" / f"{PURE}.ipynb").symlink_to("../source/key")
    assert "is a link out of the student's folder" in str(handed_in(place))
    (place / "submission" / f"{PURE}.ipynb").unlink()
    (place / "submission" / PURE).symlink_to("../source")
    assert "Hand in" in str(handed_in(place))


def test_a_submission_has_cases_of_its_own_and_the_same_ones_again() -> None:
    one, other = Submission("a", b"{}"), Submission("a", b"{ }")
    assert run.seed_of(b"key", one) == run.seed_of(b"key", one)
    assert len({run.seed_of(key, each) for key in (b"key", b"k") for each in (one, other)}) == 4
    assert 0 <= run.seed_of(b"key", one) < 2**63


@pytest.mark.slow
def test_a_submission_is_graded_and_its_results_are_written(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    notebook = nbformat.reads(solved(PURE).decode(), as_version=4)
    for cell in notebook.cells:
        if cell.metadata.get("nbgrader", {}).get("grade_id") == "softmax":
            cell.source = "def softmax(scores):\n    return scores"
    text = nbformat.writes(notebook)
    (place / "submission" / f"{PURE}.ipynb").write_text(text)
    assert run.main([str(place)]) == 0
    found = written(place)
    failed = [test["name"] for test in found["tests"] if test["status"] == "failed"]
    assert failed[0] == "softmax"
    assert found["score"] == sum(test["score"] for test in found["tests"])
    said = capsys.readouterr().out
    assert "--seed " in said
    assert said.split("--seed ")[1].strip() not in json.dumps(found)


# no score -----------------------------------------------------------------------------------------


def refused(place: Path, capsys: pytest.CaptureFixture[str]) -> str:
    """What is printed where nothing can be graded, and no results are left."""
    (place / "results" / "results.json").write_text('{"score": 1}')
    (place / "submission" / f"{PURE}.ipynb").write_bytes(solved(PURE))
    assert run.main([str(place)]) == 1
    assert not os.listdir(place / "results")
    return capsys.readouterr().out


@pytest.mark.parametrize(
    ("trial", "said"),
    [(Trial(UNSAFE), UNSAFE), (Trial(reached=("the network",)), "reached: the network.")],
    ids=["no isolation", "not all of it"],
)
def test_where_isolation_cannot_be_had_there_is_no_score(
    place: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    trial: Trial,
    said: str,
) -> None:
    monkeypatch.setattr(run, "attempt", lambda stage: trial)
    told = refused(place, capsys)
    assert told.startswith("No score was given. ")
    assert said in told
    assert f"make grade LESSON={PURE}" in told


def test_where_the_grader_itself_fails_there_is_no_score(
    place: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = grade("ada")
    broken = replace(broken, result=replace(broken.result, message=f"It failed. {A_PERSON}"))
    monkeypatch.setattr(run, "attempt", lambda stage: Trial())
    monkeypatch.setattr(run, "open_grader", lambda job: nullcontext())
    monkeypatch.setattr(run, "mark", lambda grader, submission: broken)
    assert f"No score was given. It failed. {A_PERSON}" in refused(place, capsys)


def test_a_zip_without_its_key_or_lesson_says_so(
    place: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run, "attempt", lambda stage: Trial())
    (place / "source" / "key").unlink()
    assert "source/key" in refused(place, capsys)
    (place / "source" / "LESSON").write_text("6")
    assert "There is no lesson '6'" in refused(place, capsys)


# the zip ------------------------------------------------------------------------------------------


def write_zip(root: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "deploy.gradescope", "--root", str(root), *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=180)


@pytest.fixture(scope="module")
def packed(tmp_path_factory: pytest.TempPathFactory) -> zipfile.ZipFile:
    root = tmp_path_factory.mktemp("course")
    for path in ROOT.iterdir():  # all but dist/, where it is written
        if path.name not in ("dist", "build", "class", "work"):
            (root / path.name).symlink_to(path)
    done = write_zip(root, LESSON)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(f"dist/gradescope-{LESSON}.zip: ")
    return zipfile.ZipFile(root / "dist" / f"gradescope-{LESSON}.zip")


@pytest.mark.slow
def test_the_zip_has_the_published_layout(packed: zipfile.ZipFile) -> None:
    modes = {entry.filename: entry.external_attr >> 16 for entry in packed.infolist()}
    assert modes["setup.sh"] == modes["run_autograder"] == 0o755
    assert packed.read("run_autograder").startswith(b"#!")
    assert packed.read("LESSON").decode().strip() == LESSON
    assert {f"notebooks/{slug}/{slug}.ipynb" for slug in slugs()} <= modes.keys()
    assert {"autograder/run/marking.py", "deploy/gradescope/run.py", "key"} <= modes.keys()


@pytest.mark.slow
def test_the_zip_holds_no_solution_and_nothing_of_a_class(packed: zipfile.ZipFile) -> None:
    folders = {name.partition("/")[0] for name in packed.namelist() if "/" in name}
    assert folders == {"autograder", "deploy", "notebooks"}
    [package] = [name for name in packed.namelist() if name.endswith(".whl")]
    course = zipfile.ZipFile(io.BytesIO(packed.read(package))).namelist()
    assert not [name for name in course if "solutions" in name]
    released = {f"notebooks/{slug}/{slug}.ipynb" for slug in slugs()}  # which learners have
    others = set(packed.namelist()) - released - {package}
    text = "\n".join(packed.read(name).decode() for name in sorted(others))
    assert not given_away(telling_lines(LESSON), text)


@pytest.mark.slow
def test_each_zip_has_a_key_of_its_own(packed: zipfile.ZipFile, tmp_path: Path) -> None:
    assert len(packed.read("key")) == 64
    from deploy.gradescope.__main__ import contents

    package = tmp_path / "attnlab-0-py3-none-any.whl"
    package.touch()
    assert contents(ROOT, LESSON, package)["key"] != packed.read("key")


def test_a_lesson_that_does_not_exist_is_told_in_one_line(tmp_path: Path) -> None:
    done = write_zip(tmp_path, "06-causal")
    assert done.returncode == 2
    assert tells(done.stderr, "'06-causal'", "06-causal-mask")
    assert not list(tmp_path.iterdir())


def test_make_gradescope_asks_for_a_lesson(tmp_path: Path) -> None:
    (tmp_path / "ready").touch()  # whatever environment this runs in
    ready = f"READY={tmp_path / 'ready'}"
    done = subprocess.run(
        ["make", "gradescope", ready, "LESSON="],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 2
    assert tells(done.stderr, "make gradescope LESSON=06-causal-mask")
