"""What a card said of a wrong answer, taken apart again: what differed, why, and what to try.

A result keeps it in one text, its `message`. Reason and remedy are the course's own words, so that
they are found at its end.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

from attnlab.checks.words import CHECKS, known, read, spoken

_FIRST = re.compile(r"This calls `(\w+)`, which fails its own check: begin there\. ")
_BLANK = re.compile(r"\{\d\}")  # where the words have a name of the learner's


@dataclass(frozen=True, slots=True)
class Said:
    """What a card said.

    Attributes:
        differed: what differed or was raised.
        key: section of the words that say why, '' where none does.
        reason, remedy: these words; '' the same.
        follows: the exercise that it calls and that fails itself, '' if there is none.
    """

    differed: str
    key: str = ""
    reason: str = ""
    remedy: str = ""
    follows: str = ""


def taken_apart(message: str, slug: str, lesson: str, stage: str) -> Said:
    """A result's message in its parts.

    Args:
        slug: the diagnosis, '' where there is none: then no reason is looked for.
        stage: 'pure', 'numpy' or 'torch', whose words the lesson speaks.
    """
    follows = ""
    if first := _FIRST.match(message):
        follows, message = first[1], message[first.end() :]
    if slug:
        sections = _sections(lesson, stage)
        for section in [*filter(None, [sections.get(slug)]), *sections.values()]:
            if message.endswith(section.end) and (found := section.whole.search(message)):
                differed = message[: found.start()].rstrip()
                return Said(differed, section.key, found[1], found[2], follows)
    return Said(message, follows=follows)


@dataclass(frozen=True, slots=True)
class _Section:
    """The words of a section.

    Attributes:
        end: what they end with, whatever names are in them.
        whole: finds reason and remedy at the end of a message.
    """

    key: str
    end: str
    whole: re.Pattern[str]


@cache
def _sections(lesson: str, stage: str) -> dict[str, _Section]:
    """Everything that a card of the lesson may say, the lesson's own words first."""
    found = {}
    everywhere = read(CHECKS / "crashes.md") | read(CHECKS / "unparsed.md")
    for key, words in (known(lesson) | everywhere).items():
        reason, remedy = (spoken(text, stage) for text in words)
        pattern = "{} {}$".format(*(f"({_with_any_name(text)})" for text in (reason, remedy)))
        found[key] = _Section(key, _BLANK.split(remedy)[-1], re.compile(pattern, re.DOTALL))
    return found


def _with_any_name(text: str) -> str:
    return ".+?".join(map(re.escape, _BLANK.split(text)))
