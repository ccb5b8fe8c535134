"""A clone's version is git's, each time it is asked; what cannot be told is not compared."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from attnlab import version as module
from attnlab.home import copies
from attnlab.version import is_known, is_newer
from tests.course import ROOT
from tests.home import SLUG, make_copies


class Clone:
    """A repository with this one's settings, and nothing else."""

    def __init__(self, root: Path) -> None:
        self.root = root
        root.mkdir()
        shutil.copy(ROOT / "pyproject.toml", root)
        self.git("init", "--quiet")
        self.commit()

    def git(self, *words: str) -> None:
        who = ("-c", "user.name=a", "-c", "user.email=a@example.org")
        subprocess.run(["git", *who, *words], cwd=self.root, check=True, capture_output=True)

    def commit(self) -> None:
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "--message", "a change")


@pytest.fixture
def clone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Clone:
    monkeypatch.setattr(module, "ROOT", tmp_path / "clone")
    return Clone(tmp_path / "clone")


def told() -> str:
    return module.version.__wrapped__()


def test_a_clone_has_the_version_of_its_tag_and_of_what_came_after(clone: Clone) -> None:
    clone.git("tag", "v1.2.3")
    assert told() == "1.2.3"
    clone.commit()
    clone.commit()
    later = told()
    assert later.startswith("1.2.4.dev2+g")
    assert is_newer(later, "1.2.3")
    (clone.root / "pyproject.toml").open("a").write("\n")
    assert is_newer(told(), "1.2.3")


@pytest.mark.parametrize("tag", ["vnext", "v1.x", "class-2026", "v9.9-final", "9.9.9"])
def test_a_tag_that_is_no_version_is_passed_over(clone: Clone, tag: str) -> None:
    clone.git("tag", "v1.2.3")
    clone.commit()
    clone.git("tag", tag)
    assert told().startswith("1.2.4.dev1+g")


def test_a_clone_that_has_no_tag_is_compared_with_nothing(clone: Clone, tmp_path: Path) -> None:
    assert not is_known(told())
    clone.git("tag", "v1.2.3")
    clone.commit()
    clone.git("clone", "--quiet", "--depth", "1", f"file://{clone.root}", str(tmp_path / "shallow"))
    module.ROOT = tmp_path / "shallow"  # which the fixture puts back
    assert not is_known(told())


@pytest.mark.parametrize("lost", ["git", "history"])
def test_a_clone_that_git_says_nothing_of_is_compared_with_nothing(
    clone: Clone, lost: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    clone.git("tag", "v1.2.3")
    if lost == "git":
        monkeypatch.setenv("PATH", os.devnull)
    else:
        shutil.rmtree(clone.root / ".git")
        (clone.root / ".git").mkdir()
    assert not is_known(told())


@pytest.mark.parametrize(
    ("newer", "older"),
    [
        ("0.2.0", "0.1.0"),
        ("0.2.0", "0.2.0.dev9+g12345678"),
        ("0.2.1.dev1+g00000000", "0.2.0"),
        ("0.2.1.dev12+g00000000", "0.2.1.dev3+gffffffff"),
        ("0.10.0", "0.9.9"),
        ("1.0", "1.0rc1"),
    ],
)
def test_versions_are_compared_as_pep_440_has_it(newer: str, older: str) -> None:
    assert is_newer(newer, older)
    assert not is_newer(older, newer)


def test_builds_of_one_version_and_what_is_no_version_are_not_newer() -> None:
    names = ("0.2.0", "0.2.0+c12345678", "0.2.0+cffffffff", "", "next", "0.1.dev7+g12345678")
    assert not any(is_newer(one, other) for one in names for other in names)


def test_a_course_that_does_not_know_its_version_goes_on_and_notes_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    course = make_copies(tmp_path, SLUG)
    course.write(course.made_by, b"2.0.0\n")
    monkeypatch.setattr(copies, "version", lambda: "0.1.dev7+g12345678")
    assert [*copies.update(course)] == []
    assert course.text(course.made_by) == "2.0.0\n"
