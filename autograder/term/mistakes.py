"""Which mistakes a class made: by exercise and name, who made each, and an answer that shows it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from autograder.term.class_results import ClassResults
from autograder.term.said import Said, taken_apart

_STOPPED = {
    "TIMEOUT": "did not finish in time",
    "OOM": "ran out of memory",
    "CRASH": "ended the program it ran in",
    "POLICY": "refused here",
}
_PLACE = re.compile(r"\[[\d, :]+\]")
_NUMBER = re.compile(r"(?<![\w.])[-−]?\d[\d.,]*(?:e[-+]?\d+)?%?")
_RAISED = re.compile(r"raised ([\w.]+)")
_SHOWN_CHARACTERS = 4000  # an answer that is longer is no example
_KEY_CHARACTERS = 90


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
