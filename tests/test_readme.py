"""What the README says of the lessons is what the registry and the exercises say."""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module

import pytest

from attnlab import lessons
from tests.readme import README, of_answers, of_mutants, replaced, table, ways

TEXT = README.read_text(encoding="utf-8")


def in_step() -> bool:
    return replaced(TEXT, "lessons", table()) == TEXT


@pytest.mark.lessons(*lessons.slugs())
def test_the_readme_has_a_row_for_each_lesson_and_their_totals() -> None:
    assert in_step(), "make readme"


@pytest.mark.lessons(*lessons.slugs())
def test_readme_states_what_the_checks_are_tested_with() -> None:
    assert replaced(TEXT, "totals", of_answers()) == TEXT, "make readme"
    assert replaced(TEXT, "mutants", of_mutants()) == TEXT, "make readme"
    assert replaced(TEXT, "ways", ways()) == TEXT, "make readme"


def test_another_line_in_the_registry_puts_the_readme_out_of_step(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    more = lessons.Lesson("13-more", "More", "more of it", 60)
    monkeypatch.setattr(lessons, "REGISTRY", (*lessons.REGISTRY, more))
    assert not in_step()
    assert "\n| 13 More | more of it | 60 | – | planned |\n" in table()


@pytest.mark.parametrize(
    ("what", "value"), [("title", "Scale"), ("builds", "a scale"), ("minutes", 45)]
)
def test_what_a_lesson_says_puts_the_readme_out_of_step(
    what: str, value: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = import_module("attnlab.lessons.scaling")
    monkeypatch.setattr(module, "LESSON", replace(module.LESSON, **{what: value}))
    assert not in_step()


def test_other_points_put_the_readme_out_of_step(monkeypatch: pytest.MonkeyPatch) -> None:
    declared = lessons.exercises_of("04-scaling")
    name, exercise = next(iter(declared.items()))
    core, *others = exercise.claims
    dearer = replace(exercise, claims=(replace(core, worth=core.worth + 1), *others))
    monkeypatch.setitem(declared, name, dearer)
    assert not in_step()


@pytest.mark.parametrize("text", ["", "<!-- /lessons --><!-- lessons -->", "<!-- lessons -->"])
def test_a_readme_without_a_place_for_the_rows_is_an_error(text: str) -> None:
    with pytest.raises(LookupError, match=r"README\.md has no <!-- lessons -->"):
        replaced(text, "lessons", "rows")
