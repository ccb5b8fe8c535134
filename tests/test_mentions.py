"""Where a lesson is named by its number, that lesson is meant: in prose, on cards, in code."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from attnlab.lessons import exercises_of, name_of, slugs
from tests.course import ROOT, fail_for

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


def mistaken(path: Path) -> Iterator[str]:
    here = {int(slug[:2]) for slug in slugs() if slug in path.parts or name_of(slug) in path.parts}
    for sentence in sentences(path):
        named = numbers(sentence)
        links = LINK.findall(sentence)
        if (
            not named <= EXERCISES.keys()
            or any(not file.startswith(number) for _, number, file in links)
            or any(numbers(said) and int(number) not in numbers(said) for said, number, _ in links)
        ):
            yield f"{path}: {sentence}"
        for exercise in re.findall(r"`(\w+)", sentence) if named else ():
            homes = {number for number, names in EXERCISES.items() if exercise in names}
            if homes and not homes & (named | here):
                yield f"{path}: {exercise} is in {homes}: {sentence}"


def test_a_lesson_named_by_number_is_the_one_that_is_meant() -> None:
    fail_for(told for path in FILES for told in mistaken(path))


def test_a_number_that_is_not_meant_is_found(tmp_path: Path) -> None:
    path = tmp_path / "text.md"
    link = "[lesson 03](../04-scaling/04-scaling.ipynb)"
    path.write_text(f"As `softmax` of lesson 06. See lesson 99. And {link}.")
    assert len(list(mistaken(path))) == 3


def test_a_number_of_old_would_be_found() -> None:
    assert numbers("lessons 05 to 07 and 11") == {5, 6, 7, 11}
    assert numbers("as in Lesson 03, and lessons 08 and 12") == {3, 8, 12}
