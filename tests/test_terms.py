"""No lesson uses a word before the course has said it: those of the glossary."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from tests.course import ROOT, SLUGS, fail_for, read, solution_path

ENTRY = re.compile(r"^## (.+)\n((?:(?!## ).*\n)*)", re.MULTILINE)
SAID_IN = re.compile(r"Lessons? (\d\d)[^.]*\.")
SOURCES = re.compile(r"^\W+Sources\W*$.*?(?=^\*\*To carry over|\Z)", re.MULTILINE | re.DOTALL)
NO_PROSE = re.compile(r"^\|.*$|`[^`]*`|\$[^$]*\$|(?<=\])\([^)]*\)|<[^>]+>", re.MULTILINE)
MARKED = re.compile(r"#+ .*|\*\*[^*]+\*\*|\*[^*\s][^*]*\*|\[[^\]]+\]")
# Where a word has its sense of every day.
EVERYDAY = re.compile(
    r"in its context|one exact key|no loss|the pointer or|wherever on the scale", re.IGNORECASE
)


@cache
def paragraphs() -> list[tuple[str, bool, str]]:
    """Lesson, whether it is of the card, and paragraph: no table, code, formula or source."""
    found = []
    for slug in SLUGS:
        cells = [each for each in read(solution_path(slug)).cells if each.cell_type == "markdown"]
        for number, cell in enumerate(cells):
            said = NO_PROSE.sub("x", SOURCES.sub("", cell.source))
            parts = (" ".join(each.split()) for each in re.split(r"\n\s*\n", said))
            found += [(slug[:2], not number, EVERYDAY.sub("", part)) for part in parts]
    return found


def entries() -> Iterator[tuple[str, str]]:
    """The glossary's words, each with the lesson that brings it in."""
    glossary = (ROOT / "solutions" / "glossary.md").read_text(encoding="utf-8")
    for word, text in ENTRY.findall(glossary):
        said = SAID_IN.search(text)
        assert said, word
        yield word, said[1]


def any_form(word: str) -> re.Pattern[str]:
    stem = re.sub("[ –-]", "[ –-]", re.sub("y$|(?<!s)s$", "", word))
    return re.compile(rf"\b{stem}(y|s|ies|es|ys)?\b", re.IGNORECASE)


def told(word: str, lesson: str) -> str:
    """What is wrong with a word's first use; '' if it is marked, and in its lesson.

    A card may promise it, and an earlier lesson may say which one explains it.
    """
    form, explained = any_form(word), set()
    for at, card, text in paragraphs():
        if not form.search(text):
            continue
        if at == lesson and any(form.search(each[0]) for each in MARKED.finditer(text)):
            return ""
        if at < lesson and "lesson" in text.lower():
            explained.add(at)
        if not card and at not in explained:
            return f"{word}, of lesson {lesson}, stands in {at}, not marked:\n    {text}"
    return f"{word}, of lesson {lesson}, stands in no lesson"


def test_each_word_is_marked_where_it_first_stands_in_the_lesson_of_its_glossary() -> None:
    fail_for(filter(None, (told(*each) for each in entries())))
