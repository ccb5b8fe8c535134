"""What each claim of a lesson's checks cost the class."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from autograder.term.class_results import ClassResults

BEFORE = "before any claim was tried: nothing written, stopped, or refused"


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
