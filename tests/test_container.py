"""The course's Dockerfile without a container: what can get into an image, and who it runs as."""

from __future__ import annotations

import re

from tests.course import ROOT

TEXT = (ROOT / "deploy" / "container" / "Dockerfile").read_text(encoding="utf-8")
LET_IN = {
    line[1:]
    for line in (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    if line.startswith("!")
}
STAGES = {
    found[1]: found[0] for found in re.finditer(r"(?ms)^FROM \S+ AS (\S+)$.*?(?=^FROM|\Z)", TEXT)
}
IMAGES = ("learn", "grade", "ci")


def test_no_class_no_work_and_no_environment_can_get_into_an_image() -> None:
    lines = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    assert next(line for line in lines if not line.startswith("#")) == "*"
    assert not LET_IN & {"class", "work", "build", "dist", "downloads", ".venv", ".git"}
    assert not [name for name in LET_IN if not (ROOT / name).exists()]


def test_all_that_is_copied_is_let_in() -> None:
    copied = re.findall(r"(?m)^COPY (?!--from)(?:--\S+ )?(.+) \S+$", TEXT)
    names = {name for words in copied for name in words.split()} - {"."}
    assert names
    assert names <= LET_IN


def test_no_image_runs_as_root() -> None:
    assert "ARG BASE=" in TEXT
    for name in IMAGES:
        users = re.findall(r"(?m)^USER (\S+)$", STAGES[name])
        assert users == ["1000"], name
        assert STAGES[name].startswith("FROM ${BASE} AS ")


def test_only_a_checkout_holds_solutions() -> None:
    assert not [name for name in STAGES if name != "ci" and "solutions" in STAGES[name]]
    assert "autograder" not in STAGES["learn"]


def test_what_is_built_by_default_is_for_learners() -> None:
    assert [*STAGES][-1] == "learn"
