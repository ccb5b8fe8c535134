"""Which lesson is meant, by a name that a person types or by the cells of a notebook."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache
from itertools import permutations
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attnlab import lessons
from attnlab.ipynb.read import Cell, Unreadable, read
from attnlab.lesson import begin
from attnlab.lessons import slugs
from autograder import Usage
from autograder.sandbox.limits import Limits
from autograder.submission.lessons import known, lesson_of, refuse_others
from tests.course import SLUGS, released_path, solution_path, tells

LIMITS = Limits()
PAIRS = list(permutations(SLUGS, 2))


@cache
def released(slug: str) -> list[Cell]:
    return read(released_path(slug).read_bytes(), LIMITS)


@cache
def answered(slug: str) -> list[Cell]:
    return read(solution_path(slug).read_bytes(), LIMITS)


# names ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("06", "06-causal-mask"),
        ("6", "06-causal-mask"),
        ("causal", "06-causal-mask"),
        ("causal-mask", "06-causal-mask"),
        ("06_causal_mask", "06-causal-mask"),
        ("06-Causal-Mask", "06-causal-mask"),
        ("06-casual-mask", "06-causal-mask"),
        ("06-causal-mask.ipynb", "06-causal-mask"),
        ("notebooks/06-causal-mask", "06-causal-mask"),
        ("Soft lookup", "01-soft-lookup"),
    ],
)
def test_a_name_that_is_nearly_a_lessons_is_answered_with_that(name: str, meant: str) -> None:
    for said in (refusal(name), begin(name)):
        assert said.startswith(f"There is no lesson {name!r}. Do you mean {meant}? The lessons")


def test_a_planned_lesson_is_said_to_be_planned(monkeypatch: pytest.MonkeyPatch) -> None:
    one = lessons.Lesson(f"{len(lessons.REGISTRY) + 1:02}-yet-to-come", "To come", "", 0)
    monkeypatch.setattr(lessons, "REGISTRY", (*lessons.REGISTRY, one))
    names = [("yet to come", one.slug)]
    for each in lessons.planned():
        names += [(each.slug, each.slug), (str(each.number), each.slug)]
    for name, meant in names:
        for said in (refusal(name), begin(name)):
            told = f"Lesson {meant} is planned and not there yet. The lessons are 01-"
            assert said.startswith(told)


@pytest.mark.parametrize("name", ["", "LESSON", "99", "é", "²", "/", "x" * 10_000])
def test_a_name_that_is_like_no_lessons_is_answered_with_all(name: str) -> None:
    assert tells(refusal(name), repr(name), ", ".join(slugs()))


def refusal(name: str) -> str:
    with pytest.raises(Usage) as caught:
        known(name)
    return str(caught.value)


# cells ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("handed_in", SLUGS)
def test_the_notebook_of_another_lesson_is_called_what_it_is(handed_in: str) -> None:
    torn = [cell for at, cell in enumerate(answered(handed_in)) if at % 4]  # a quarter is gone
    for wanted in {*SLUGS} - {handed_in}:
        for cells in (released(handed_in), answered(handed_in), torn):
            with pytest.raises(Unreadable, match=rf"of {handed_in}, .*`{wanted}.ipynb`"):
                refuse_others(wanted, cells, released(wanted))


@st.composite
def honest(draw: st.DrawFn) -> tuple[str, list[Cell]]:
    """What a learner may have left of a lesson, with some cells of another one in it."""
    slug, other = draw(st.sampled_from(PAIRS))
    kept = draw(st.sets(st.integers(0, 60)))
    cells = [cell for at, cell in enumerate(answered(slug)) if at in kept]
    if draw(st.booleans()):
        cells = [replace(cell, metadata={}) for cell in cells]
    if draw(st.booleans()):
        cells = [replace(cell, id="") for cell in cells]
    others = [cell for cell in answered(other) if cell.grade_id]
    most = min(8, len(others) // 3)  # of a short lesson, more would be most of it
    return slug, cells + draw(st.lists(st.sampled_from(others), max_size=most))


@settings(max_examples=300)
@given(honest())
def test_an_honest_notebook_is_never_taken_for_another_lessons(
    found: tuple[str, list[Cell]],
) -> None:
    slug, cells = found
    refuse_others(slug, cells, released(slug))


@pytest.mark.parametrize("slug", SLUGS)
def test_one_cell_of_the_lesson_is_enough_by_its_label_its_id_or_its_source(slug: str) -> None:
    for other in {*SLUGS} - {slug}:
        names = {cell.grade_id for cell in released(other)}
        mine = [cell for cell in released(slug) if cell.kind == "code"]
        own = [cell for cell in mine if cell.grade_id not in names]
        for cell in own[:3]:
            refuse_others(slug, [*answered(other), cell], released(slug))
            refuse_others(slug, [*answered(other), replace(cell, metadata={})], released(slug))
        locked = next(cell for cell in own if not cell.nbgrader["solution"])
        bare = Cell("code", locked.source)
        refuse_others(slug, [*answered(other), bare], released(slug))


def test_a_notebook_in_which_the_lessons_function_is_written_is_graded_whatever_it_is() -> None:
    own = Cell("code", "def causal_mask(n):\n    return 1")
    refuse_others("06-causal-mask", [*answered("03-numpy"), own], released("06-causal-mask"))


def test_two_lessons_in_one_are_told_by_neither() -> None:
    both = [*answered("03-numpy"), *answered("06-causal-mask")]
    for slug in ("03-numpy", "06-causal-mask"):
        refuse_others(slug, both, released(slug))


@pytest.mark.parametrize("slug", SLUGS)
def test_a_notebook_tells_its_lesson_by_its_name_else_by_its_cells(
    slug: str, tmp_path: Path
) -> None:
    content = released_path(slug).read_bytes()
    assert lesson_of(tmp_path / "homework.ipynb", content, LIMITS) == slug
    for name in (f"{slug} (1)", f"{slug}-1", f"{slug}_late_3", f"Ann_assignsubmission_file_{slug}"):
        assert lesson_of(tmp_path / f"{name}.ipynb", b"{", LIMITS) == slug
    assert lesson_of(tmp_path / slug / "homework.ipynb", b"{", LIMITS) == slug
    assert lesson_of(tmp_path / f"{SLUGS[0]} and {SLUGS[1]}.ipynb", content, LIMITS) == slug


def test_a_file_of_no_lesson_is_asked_about(tmp_path: Path) -> None:
    empty = json.dumps({"nbformat": 4, "cells": []}).encode()
    for content in (b"{", empty, Unreadable("It is a folder.")):
        with pytest.raises(Usage, match="Say it with --lesson"):
            lesson_of(tmp_path / "homework.ipynb", content, LIMITS)
