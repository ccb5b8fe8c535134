"""The course's images: built from a base, and run, as somebody who is not root."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.course import ROOT
from tests.deploy import containers

pytestmark = pytest.mark.deploy
LESSON = "01-soft-lookup"
# Asks the server in the same container for the course home, until it is there.
ASK = """
import sys, time, urllib.request
for _ in range(120):
    try:
        with urllib.request.urlopen("http://127.0.0.1:8888/attnlab?token=word") as page:
            sys.exit(print(page.status, "Lesson 01, Soft lookup" in page.read().decode()))
    except OSError:
        time.sleep(0.5)
"""
Note = Callable[[str], None]


@pytest.fixture(scope="module", autouse=True)
def base() -> None:
    if lacking := containers.lacking():
        pytest.skip(f"needs {lacking}")
    containers.make_base()


@pytest.fixture(scope="module")
def learn() -> str:
    return containers.target("learn")


@pytest.fixture(scope="module")
def grade() -> str:
    return containers.target("grade")


def test_learn_is_not_root_and_has_what_the_course_is_tested_with(learn: str, note: Note) -> None:
    assert containers.run(learn, "id", "-u", "-n").strip() == "learner"
    told = containers.run(learn, "sh", "-c", "attnlab update >/dev/null && attnlab doctor")
    assert told.splitlines()[-1] == "Nothing to mend."
    ask = "import torch, platform; print(platform.python_version(), torch.__version__)"
    versions = containers.run(learn, "python", "-c", ask).strip()
    note(f"{containers.size(learn)}; Python, PyTorch {versions}")
    others = containers.run(learn, "sh", "-c", "ls -d /course /build solutions 2>/dev/null; true")
    assert others == ""


def test_learn_opens_the_course_home(learn: str, note: Note) -> None:
    container = containers.command(
        *("podman", "run", "--detach", "--rm", "--env", "JUPYTER_TOKEN=word", learn)
    ).strip()
    try:
        told = containers.command("podman", "exec", container, "python", "-c", ASK, minutes=3)
        assert told.split() == ["200", "True"]
        command = containers.command("podman", "exec", container, "cat", "/proc/1/cmdline")
        note(
            f"`{command.replace(chr(0), ' ').strip().rpartition('/')[2]}` answers /attnlab with 200"
        )
    finally:
        containers.command("podman", "stop", "--time", "30", container)


def test_extra_makes_it_an_image_for_a_hub(note: Note) -> None:
    image = containers.target("learn", "--build-arg", "EXTRA=jupyterhub>=5,<6")
    version = containers.run(image, "jupyterhub-singleuser", "--version").strip()
    note(f"EXTRA=jupyterhub: {version}, {containers.size(image)}")
    assert version


def test_grade_grades_a_class_that_is_mounted(grade: str, note: Note, tmp_path: Path) -> None:
    told = containers.run(grade)
    assert "Isolation: namespaces" in told
    assert "REACHED" not in told
    home = tmp_path / "class" / "submitted" / "ada" / LESSON
    home.mkdir(parents=True)
    shutil.copy(ROOT / "solutions" / LESSON / f"{LESSON}.ipynb", home)
    for path in (tmp_path / "class", *(tmp_path / "class").rglob("*")):
        shutil.chown(path, 1000, 1000)
    tmp_path.chmod(0o755)
    mounted = ("--volume", f"{tmp_path / 'class'}:/course/class")
    words = ("python", "-m", "autograder", "grade", LESSON, "--jobs", "1", "--json", "-")
    result = json.loads(containers.run(grade, *words, flags=mounted).splitlines()[0])
    assert (result["student"], result["score"]) == ("ada", result["max_score"])
    assert (tmp_path / "class" / "gradebook.db").stat().st_uid == 1000
    note(f"{containers.size(grade)}; podman's usual settings: isolation is whole, 1 graded")
