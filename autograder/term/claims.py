"""What each claim of a lesson's checks cost the class."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from autograder.term.class_results import ClassResults


@dataclass(slots=True)
class Claim:
    """One claim of one exercise.

    Attributes:
        false, untried, waiting: students for whom it does not hold; was not tried, or could not be
            told; holds, and earns nothing until the first one does.
        lost: points in all.
    """

    text: str
    false: list[str] = field(default_factory=list)
    untried: list[str] = field(default_factory=list)
    waiting: list[str] = field(default_factory=list)
    lost: float = 0.0

    @property
    def students(self) -> int:
        return len(self.false) + len(self.untried) + len(self.waiting)


@dataclass(slots=True)
class Lost:
    """What an exercise cost.

    Attributes:
        claims: the dearest first.
        before: who lost points before any claim was tried: nothing written, stopped, refused.
        before_points: points that these lost in all.
        unknown: who was graded when it was not kept which claim cost what.
    """

    claims: list[Claim] = field(default_factory=list)
    before: list[str] = field(default_factory=list)
    before_points: float = 0.0
    unknown: list[str] = field(default_factory=list)


def lost_by_claim(results: ClassResults) -> Mapping[str, Lost]:
    """The autograder's points that were lost, by exercise and claim."""
    found = {name: Lost() for name in results.exercises}
    by_text: dict[tuple[str, str], Claim] = {}
    for student in results.graded:
        for item in student.result["exercises"]:
            name, missing = item["name"], item["max_score"] - item["score"]
            if missing <= 0:
                continue
            if student.lost is None:
                found[name].unknown.append(student.id)
            elif name not in student.lost:
                found[name].before.append(student.id)
                found[name].before_points += missing
            for told in (student.lost or {}).get(name, ()):
                claim = by_text.setdefault((name, told["claim"]), Claim(told["claim"]))
                whose = {False: claim.false, None: claim.untried, True: claim.waiting}
                whose[told["holds"]].append(student.id)
                claim.lost += told["points"]
    for (name, _), claim in by_text.items():
        found[name].claims.append(claim)
    for lost in found.values():
        lost.claims.sort(key=lambda each: (-each.lost, each.text))
    return found


def dearest(lost: Mapping[str, Lost], most: int) -> Sequence[tuple[str, Claim]]:
    """The claims that cost the class most, with their exercises."""
    claims = [(name, claim) for name, each in lost.items() for claim in each.claims]
    return sorted(claims, key=lambda each: -each[1].lost)[:most]
