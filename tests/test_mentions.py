"""Where a lesson is named by its number, that lesson is meant: in prose, on cards, in code."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from attnlab.lessons import exercises_of, name_of, slugs
from tests.course import ROOT

NUMBER = re.compile(r"[Ll]essons? (\d\d)(?:(?:,| and| to|, and) (\d\d))*")
EXERCISES = {int(slug[:2]): set(exercises_of(slug)) for slug in slugs()}
LINK = re.compile(r"\[([^\]]*)\]\(\.\./(\d\d)-[a-z-]+/([\w-]+)\.ipynb")
FILES = sorted(
    path
    for folder, pattern in (
        ("solutions", "*/*.py"),
        ("solutions", "*.md"),
        ("src/attnlab", "**/*.py"),
        ("src/attnlab", "**/*.md"),
        ("autograder", "**/*.py"),
        ("tests", "**/*.py"),
        (".", "*.md"),
        ("bundle", "*.md"),
    )
    for path in (ROOT / folder).glob(pattern)
    if path != Path(__file__)
)


def sentences(path: Path) -> Iterator[str]:
    text = re.sub(r"\s*\n[ \t]*#?[ \t]*", " ", path.read_text(encoding="utf-8"))
    yield from re.split(r"(?<=[.:;?])\s", text)


def numbers(text: str) -> set[int]:
    """The lessons that are named; 'lessons 05 to 07' names three."""
    found: set[int] = set()
    for mention in NUMBER.finditer(text):
        for first, last in re.findall(r"(\d\d)(?: to (\d\d))?", mention[0]):
            found |= set(range(int(first), int(last or first) + 1))
    return found


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_lesson_named_by_number_is_the_one_that_is_meant(path: Path) -> None:
    own = [slug for slug in slugs() if slug in path.parts or name_of(slug) in path.parts]
    for sentence in sentences(path):
        named = numbers(sentence)
        assert named <= EXERCISES.keys(), sentence
        for said, number, file in LINK.findall(sentence):
            assert file.startswith(number), sentence
            assert not numbers(said) or int(number) in numbers(said), sentence
        if not named:
            continue
        for exercise in re.findall(r"`(\w+)", sentence):
            homes = {number for number, names in EXERCISES.items() if exercise in names}
            here = {int(slug[:2]) for slug in own}
            assert not homes or homes & (named | here), f"{exercise} is in {homes}: {sentence}"


def test_a_number_of_old_would_be_found() -> None:
    assert numbers("lessons 05 to 07 and 11") == {5, 6, 7, 11}
    assert numbers("as in Lesson 03, and lessons 08 and 12") == {3, 8, 12}
