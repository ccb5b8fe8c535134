"""What a card said of a wrong answer, taken apart again: what differed, why, and what to try.

A result keeps it in one text, its `message`. Reason and remedy are the course's own words, so that
they are found at its end.
"""

from __future__ import annotations

import re
from functools import cache
from typing import NamedTuple

from attnlab.checks.words import CHECKS, Words, known, read, spoken

_FIRST = re.compile(r"This calls `(\w+)`, which fails its own check: begin there\. ")
_BLANK = re.compile(r"\{\d\}")  # where the words have a name of the learner's


class Said(NamedTuple):
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
    sections = _sections(lesson, stage) if slug else {}
    for key in (slug, *sections) if slug in sections else sections:
        reason, remedy = sections[key]
        begins = _begins(message, f"{reason} {remedy}")
        if begins >= 0:
            tries = _begins(message, remedy)
            why = message[begins:tries].rstrip()
            return Said(message[:begins].rstrip(), key, why, message[tries:], follows)
    return Said(message, follows=follows)


@cache
def _sections(lesson: str, stage: str) -> dict[str, Words]:
    """Everything that a card of the lesson may say, the lesson's own words first."""
    found = known(lesson) | read(CHECKS / "crashes.md") | read(CHECKS / "unparsed.md")
    return {key: Words(*(spoken(text, stage) for text in words)) for key, words in found.items()}


def _begins(message: str, words: str) -> int:
    """Where words stand at a message's end, with any names in their blanks; −1 if they do not.

    Found from the end, part by part: a learner's own text in between costs no more.
    """
    parts, at = _BLANK.split(words), len(message)
    if not message.endswith(parts[-1]):
        return -1
    for part in reversed(parts):
        at = message.rfind(part, 0, at)
        if at < 0:
            return -1
    return at
