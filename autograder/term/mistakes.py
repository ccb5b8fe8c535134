"""Which mistakes a class made: by exercise and name, who made each, and an answer that shows it."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from autograder.term.class_results import ClassResults, Student
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
        is_named: whether it is a diagnosis.
        students: who made it, in order.
        lost: points that it cost them in all.
        follows: of them, in how many an earlier exercise fails, by that one's name.
        said: what the example's card said.
        example: an answer that shows it, '' where no one's can be read, or all have it from the
            earlier exercise.
        whose: the student who wrote that.
    """

    name: str
    is_named: bool
    students: list[str] = field(default_factory=list)
    lost: float = 0.0
    follows: Counter[str] = field(default_factory=Counter)
    said: Said | None = None
    example: str = ""
    whose: str = ""


def mistakes_of(
    results: ClassResults, answers: Mapping[str, Mapping[str, str]], stage: str
) -> dict[str, list[Mistake]]:
    """The mistakes in each exercise, the most frequent first; exercises without any are there too.

    Args:
        answers: by student and exercise, as far as they can be read.
        stage: the lesson's, whose words are spoken.
    """
    found: dict[str, dict[str, Mistake]] = {name: {} for name in results.exercises}
    told: dict[tuple[str, str], list[tuple[Student, Said]]] = defaultdict(list)
    for student in results.graded:
        named = {item["name"]: item["diagnosis"] for item in student.result["exercises"]}
        for item in student.result["exercises"]:
            if item["status"] in ("PASS", "MISSING"):
                continue
            said = taken_apart(item["message"], item["diagnosis"] or "", results.lesson, stage)
            name = _name(item, said)
            mistake = found[item["name"]].setdefault(name, Mistake(name, bool(item["diagnosis"])))
            mistake.students.append(student.id)
            mistake.lost += item["max_score"] - item["score"]
            mistake.follows.update(filter(None, [said.follows]))
            # Where the earlier exercise has the same mistake, this answer may be right.
            if not (said.follows and item["diagnosis"] == named.get(said.follows)):
                told[item["name"], name].append((student, said))
            else:
                mistake.said = mistake.said or said
    for (exercise, name), those in told.items():
        _show(found[exercise][name], exercise, those, answers)
    return {
        exercise: sorted(of.values(), key=lambda each: (-len(each.students), each.name))
        for exercise, of in found.items()
    }


def _name(item: Mapping[str, Any], said: Said) -> str:
    """What a mistake is called, so that the same has the same name whatever the numbers were."""
    slug, status = item["diagnosis"], item["status"]
    if slug and slug != "raised":
        return f"{slug}: {said.key}" if said.key and said.key != slug else str(slug)
    if slug:
        return f"raised: {said.key}" if said.key not in ("", "raised") else _raised(said)
    if status in _STOPPED:
        return _STOPPED[status]
    if said.follows:
        return f"follows from `{said.follows}`"
    if status == "ERROR":
        return _raised(said)
    what = _NUMBER.sub("…", _PLACE.sub("[…]", said.differed.partition(";")[0].rstrip(".")))
    return what if len(what) <= _KEY_CHARACTERS else f"{what[: _KEY_CHARACTERS - 1]}…"


def _raised(said: Said) -> str:
    found = _RAISED.search(said.differed)
    return f"raised: {found[1][:_KEY_CHARACTERS]}" if found else "raised"


def _show(
    mistake: Mistake,
    exercise: str,
    those: Sequence[tuple[Student, Said]],
    answers: Mapping[str, Mapping[str, str]],
) -> None:
    """Choose an example: the shortest.

    Whose mistake follows from an earlier one is no example if there is another.
    """
    own = [(student, said) for student, said in those if not said.follows] or list(those)
    written = []
    for student, said in own:
        source = answers.get(student.id, {}).get(exercise, "").strip()
        if source and len(source) <= _SHOWN_CHARACTERS:
            written.append((source, student.id, said))
    mistake.said = own[0][1]
    if not written:
        return
    mistake.example, mistake.whose, mistake.said = min(
        written, key=lambda each: (len(each[0]), *each[:2])
    )
