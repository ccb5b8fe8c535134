"""The workflows: a learner's steps as they stand, on a copy of work/; what a release may do."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from attnlab.home.check_mine import NO_GRADE, Checked, summary
from attnlab.home.commands import main
from attnlab.published import Places
from attnlab.work.places import Course
from deploy.release import hindrance
from tests.course import ROOT, SLUGS
from tests.home import OTHER, SLUG, make_copies, write

WORKFLOW = ROOT / "deploy" / "actions" / "attnlab.yml"
TEXT = WORKFLOW.read_text(encoding="utf-8")
PLAN: dict[Any, Any] = yaml.safe_load(TEXT)
[JOB] = PLAN["jobs"].values()
INSTALLS, CHECKS = (step["run"] for step in JOB["steps"] if "run" in step)
UNDIVIDED = "import math\n\n\ndef softmax(scores):\n    return [math.exp(s) for s in scores]"


@pytest.fixture
def course(tmp_path: Path) -> Course:
    course = make_copies(tmp_path / "course", SLUG, OTHER)
    write(course.notebook(SLUG), "softmax", UNDIVIDED)
    return course


def bash(script: str, folder: Path, tmp_path: Path) -> subprocess.CompletedProcess[str]:
    """Run a step as Actions does, with `attnlab` on PATH and a file for the summary."""
    command = tmp_path / "bin" / "attnlab"
    command.parent.mkdir(exist_ok=True)
    command.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m attnlab "$@"\n')
    command.chmod(0o755)
    own = {
        "PATH": f"{command.parent}{os.pathsep}{os.environ['PATH']}",
        "GITHUB_STEP_SUMMARY": str(tmp_path / "summary.md"),
        "PYTHONPATH": str(ROOT / "src"),
    }
    return subprocess.run(
        ["bash", "-e", "-c", script],
        cwd=folder,
        env={**os.environ, **own},
        capture_output=True,
        text=True,
        timeout=300,
    )


def test_it_has_no_secret_and_may_write_nothing() -> None:
    assert "secrets." not in TEXT
    assert PLAN["permissions"] == {"contents": "read"}
    assert "permissions" not in JOB
    assert set(PLAN[True]) == {"push", "workflow_dispatch"}  # YAML reads `on` so; no pull requests
    [checkout] = [step for step in JOB["steps"] if "checkout" in step.get("uses", "")]
    assert checkout["with"]["persist-credentials"] is False


@pytest.mark.parametrize("path", sorted(WORKFLOW.parent.glob("*.yml")), ids=lambda path: path.stem)
def test_actions_are_pinned_by_commit(path: Path) -> None:
    used = re.findall(r"uses: (.*)", path.read_text(encoding="utf-8"))
    assert used
    for name in used:
        pinned = re.fullmatch(r"[a-z-]+/[a-z-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", name)
        assert pinned or name == "./.github/workflows/course.yml", name


def test_it_says_that_it_is_no_grade() -> None:
    assert "This is no grade." in TEXT
    assert "no grade" in JOB["name"]


@pytest.mark.slow
def test_its_steps_put_the_cards_into_the_summary(course: Course, tmp_path: Path) -> None:
    done = bash(CHECKS, course.root, tmp_path)
    assert done.returncode == 0, done.stderr
    assert f"{SLUG}: " in done.stdout
    summary = (tmp_path / "summary.md").read_text(encoding="utf-8")
    assert summary.startswith(f"# My checks\n\n{NO_GRADE}\n\n## 01 Soft lookup\n\n<p>")
    assert "softmax: not right yet" in summary
    assert "What was tried" in summary
    assert summary.endswith("Nothing is written yet in 02 Pure Python.\n\n")
    assert "<a " not in summary


@pytest.mark.parametrize(
    ("script", "said"),
    [
        (INSTALLS, "There is no requirements.txt here. Unpack the course's hand-out"),
        (CHECKS, "There is no work/ here. Commit your copies of the lessons."),
    ],
    ids=["no hand-out", "no work"],
)
def test_what_is_missing_in_the_repository_is_told(tmp_path: Path, script: str, said: str) -> None:
    done = bash(script, tmp_path, tmp_path)
    assert done.returncode == 1
    [line] = done.stderr.splitlines()
    assert line.startswith(said)


def test_a_card_stays_one_piece_of_html_in_markdown() -> None:
    card = '<section><p>a\n\n# b</p><a href="#there">c</a></section>'
    found = [Checked(SLUG, (card,), 1, 2, others="Check cells that are not the course's: `<b>`.")]
    text = summary(found)
    assert "<section><p>a\n# b</p>c</section>" in text
    assert "&lt;b&gt;" in text


def test_a_summary_is_added_to_what_is_there(
    course: Course, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "summary.md"
    path.write_text("before\n", encoding="utf-8")
    assert main(["--course", str(course.root), "check-mine", OTHER, "--summary", str(path)]) == 0
    assert path.read_text(encoding="utf-8").startswith("before\n# My checks\n")


def test_a_summary_that_cannot_be_written_is_told(
    course: Course, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place = str(tmp_path / "none" / "summary.md")
    assert main(["--course", str(course.root), "check-mine", OTHER, "--summary", place]) == 1
    assert f"{place!r} could not be written." in capsys.readouterr().err


def test_the_courses_own_workflow_proves_all_lessons_on_a_schedule_and_for_a_release() -> None:
    plan: dict[Any, Any] = yaml.safe_load((WORKFLOW.parent / "course.yml").read_text("utf-8"))
    jobs = plan["jobs"]
    assert {"schedule", "push", "workflow_call"} <= plan[True].keys()  # YAML takes `on` for true
    assert {name: job["steps"][-1]["run"].split()[-2:] for name, job in jobs.items()} == {
        "test": [".ci/run"],
        "prove": ["matrix.lesson", "}}"],
        "deploy": ["make", "deploy-test"],
    }
    assert jobs["prove"]["strategy"]["matrix"]["lesson"] == SLUGS
    assert "if" not in jobs["test"]
    for long in ("prove", "deploy"):
        assert "'schedule'" in jobs[long]["if"]
        assert "'workflow_dispatch'" in jobs[long]["if"]  # which a release is, too


def test_a_release_publishes_what_has_passed_and_each_job_may_do_its_own_alone() -> None:
    plan: dict[Any, Any] = yaml.safe_load((WORKFLOW.parent / "release.yml").read_text("utf-8"))
    jobs = plan["jobs"]
    assert set(plan[True]) == {"workflow_dispatch"}
    assert plan["permissions"] == {"contents": "read"}
    assert {name: job["permissions"] for name, job in jobs.items() if "permissions" in job} == {
        "publish": {"id-token": "write"},
        "pages": {"pages": "write", "id-token": "write"},
        "tag": {"contents": "write"},
    }
    assert jobs["publish"]["needs"] == ["course", "package", "site"]
    assert {jobs[name]["needs"] for name in ("pages", "tag")} == {"publish"}
    assert {jobs[name]["needs"] for name in ("course", "package", "site")} == {"look"}
    scripts = " ".join(
        step.get("run", "") for job in jobs.values() for step in job.get("steps", [])
    )
    assert "inputs." not in scripts  # what a person typed is no part of a script


OURS = Places("attnlab", "https://example.org/attnlab/", "someone/attnlab")


@pytest.mark.parametrize(
    ("version", "places", "said"),
    [
        ("0.10.0", OURS, ""),
        ("v0.10.0", OURS, "'v0.10.0' is not the version of a release. Write it as 1.2.3."),
        ("0.10.0rc1", OURS, "'0.10.0rc1' is not the version of a release. Write it as 1.2.3."),
        ("0.9.1", OURS, "0.9.1 is not above 0.9.1, which was released last."),
        ("0.10.0", Places(), "PUBLISHED_AT in src/attnlab/published.py is empty: say there where"),
        ("0.10.0", OURS._replace(site=""), "half filled in: it has no site."),
    ],
)
def test_what_keeps_a_version_from_being_released_is_told(
    version: str, places: Places, said: str
) -> None:
    tags = ["v0.9.1", "v0.9.0", "vnext", "class-2026", "v7-final", "8.0.0"]
    found = hindrance(version, tags, places)
    assert said in found
    assert bool(said) == bool(found)


def test_the_first_version_is_above_what_all_states_called_themselves() -> None:
    assert hindrance("0.1.0", [], OURS) == "0.1.0 is not above 0.1.0, which was released last."
    assert hindrance("0.2.0", [], OURS) == ""
