"""What a class got wrong: its mistakes, by exercise and name, with an answer that shows each; and
what each claim of the checks cost.

What a card said is one text in a result, its `message`. Why and what to try are the course's own
words, so that they are found at its end.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any, NamedTuple

from attnlab.checks.words import CHECKS, Words, known, read, spoken
from autograder.term.class_results import ClassResults

BEFORE = "before any claim was tried: nothing written, stopped, or refused"
_STOPPED = {
    "TIMEOUT": "did not finish in time",
    "OOM": "ran out of memory",
    "CRASH": "ended the program it ran in",
    "POLICY": "refused here",
}
_PLACE = re.compile(r"\[[\d, :]+\]")
_NUMBER = re.compile(r"(?<![\w.])[-−]?\d[\d.,]*(?:e[-+]?\d+)?%?")
_RAISED = re.compile(r"raised ([\w.]+)")
_SHOWN_CHARACTERS, _KEY_CHARACTERS = 4000, 90  # of an example, of what a mistake is called
_FIRST = re.compile(r"This calls `(\w+)`, which fails its own check: begin there\. ")
# With the course's in its place it is wrong as well: a mistake of its own.
_JUDGED_AGAIN = re.compile(
    r"This calls `.{1,300}?, which fail.{1,20}? own checks?\. "
    r"With the course's in .{1,100}?(?:points|the better counts)\. "
)
_BLANK = re.compile(r"\{\d\}")  # where the words have a name of the learner's


@dataclass(slots=True)
class Mistake:
    """One mistake in one exercise.

    Attributes:
        name: the diagnosis; what differed, or which exercise it follows from, where there is none.
        said: what the example's card said.
        students: who made it, in order.
        lost: points that it cost them in all.
        follows: of them, in how many an earlier exercise fails, by that one's name.
        example: an answer that shows it, the shortest; '' where no one's can be read, or all have
            it from the earlier exercise.
        whose: the student who wrote that.
    """

    name: str
    said: Said
    students: list[str] = field(default_factory=list)
    lost: float = 0.0
    follows: Counter[str] = field(default_factory=Counter)
    example: str = ""
    whose: str = ""
    rank: tuple[Any, ...] = (2,)  # of the example: whose is smaller is a better one


def mistakes_of(
    results: ClassResults, answers: Mapping[str, Mapping[str, str]], stage: str
) -> dict[str, list[Mistake]]:
    """The mistakes in each exercise, the most frequent first; exercises without any are there too.

    Args:
        answers: by student and exercise, as far as they can be read.
        stage: the lesson's, whose words are spoken.
    """
    found: dict[str, dict[str, Mistake]] = {name: {} for name in results.exercises}
    for student in results.graded:
        named = {item["name"]: item["diagnosis"] for item in student.result["exercises"]}
        for item in student.result["exercises"]:
            if item["status"] in ("PASS", "MISSING"):
                continue
            said = taken_apart(item["message"], item["diagnosis"] or "", results.lesson, stage)
            name = _name(item, said)
            mistake = found[item["name"]].setdefault(name, Mistake(name, said))
            mistake.students.append(student.id)
            mistake.lost += item["max_score"] - item["score"]
            mistake.follows.update(filter(None, [said.follows]))
            # Where the earlier exercise has the same mistake, this answer may be right.
            if said.follows and item["diagnosis"] == named.get(said.follows):
                continue
            source = answers.get(student.id, {}).get(item["name"], "").strip()
            source = source if len(source) <= _SHOWN_CHARACTERS else ""
            rank = bool(said.follows), not source, len(source), source, student.id
            if rank < mistake.rank:
                mistake.rank, mistake.said = rank, said
                mistake.example, mistake.whose = source, student.id
    return {
        exercise: sorted(of.values(), key=lambda each: (-len(each.students), each.name))
        for exercise, of in found.items()
    }


def _name(item: Mapping[str, Any], said: Said) -> str:
    """What a mistake is called, so that the same has the same name whatever the numbers were."""
    slug, status = item["diagnosis"], item["status"]
    if slug and slug != "raised":
        return f"{slug}: {said.key}" if said.key and said.key != slug else str(slug)
    if slug and said.key not in ("", "raised"):
        return f"raised: {said.key}"
    if not slug and status in _STOPPED:
        return _STOPPED[status]
    if not slug and said.follows:
        return f"follows from `{said.follows}`"
    if slug or status == "ERROR":
        raised = _RAISED.search(said.differed)
        return f"raised: {raised[1][:_KEY_CHARACTERS]}" if raised else "raised"
    what = _NUMBER.sub("…", _PLACE.sub("[…]", said.differed.partition(";")[0].rstrip(".")))
    return what if len(what) <= _KEY_CHARACTERS else f"{what[: _KEY_CHARACTERS - 1]}…"


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
    if judged := _JUDGED_AGAIN.match(message):
        message = message[judged.end() :]
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


@dataclass(slots=True)
class Claim:
    """One claim of one exercise.

    Attributes:
        text: BEFORE stands for what was lost before any was tried.
        students: how many lost by it, as it does not hold (False); was not tried or could not be
            told (None); or holds, and earns nothing until the first one does (True).
        lost: points in all.
    """

    exercise: str
    text: str
    students: Counter[bool | None] = field(default_factory=Counter)
    lost: float = 0.0


def lost_by_claim(results: ClassResults) -> tuple[list[Claim], set[str]]:
    """The autograder's points that were lost by each claim, the dearest first; and of whom it was
    not kept, when they were graded, which claim cost what.
    """
    found: dict[tuple[str, str], Claim] = {}
    unknown: set[str] = set()
    for student in results.graded:
        for item in student.result["exercises"]:
            name, missing = item["name"], item["max_score"] - item["score"]
            if missing > 0 and student.lost is None:
                unknown.add(student.id)
            elif missing > 0 and student.lost is not None:
                at_once = [{"claim": BEFORE, "holds": None, "points": missing}]
                for told in student.lost.get(name, at_once):
                    claim = found.setdefault((name, told["claim"]), Claim(name, told["claim"]))
                    claim.students[told["holds"]] += 1
                    claim.lost += told["points"]
    return sorted(found.values(), key=lambda each: (-each.lost, each.text)), unknown
