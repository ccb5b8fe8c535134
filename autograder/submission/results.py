"""What grading one submission yields."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import Any

from attnlab.checks.verdict import Verdict

A_PERSON = "A person has to look at it."  # the end of a message where the grader is at a loss


@dataclass(frozen=True, slots=True)
class ExerciseResult:
    """One exercise of one submission.

    Attributes:
        status: 'PASS', 'FAIL', 'ERROR', 'TIMEOUT', 'OOM', 'CRASH', 'POLICY' or 'MISSING'.
        score: points earned, of max_score.
        diagnosis: slug of the likely cause, None if none is certain.
        message: what differed, without any expected value, why, and what to try; on a pass only
            what the course's helper gave back, if it did.
        seconds: wall-clock time of its calls.
    """

    name: str
    status: str
    score: float
    max_score: float
    diagnosis: str | None
    message: str
    seconds: float


@dataclass(frozen=True, slots=True)
class Result:
    """One submission.

    Attributes:
        status: 'GRADED', or 'INVALID' where there is no notebook to grade; `message` says why.
        repaired: what of the locked parts had to be put right.
        flags: what a person should look at; never scored.
    """

    student: str
    lesson: str
    status: str
    message: str
    score: float
    max_score: float
    repaired: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()
    exercises: tuple[ExerciseResult, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """The object that `--json` writes, one per line."""
        return asdict(self) | {
            "repaired": list(self.repaired),
            "flags": list(self.flags),
            "exercises": [asdict(exercise) for exercise in self.exercises],
        }


@dataclass(frozen=True, slots=True)
class Written:
    """A code cell that a learner wrote.

    Attributes:
        name: of the exercise that it answers, '' for a cell of their own.
        errors: what it stopped with, as text.
    """

    name: str
    source: str
    errors: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Past:
    """What was recorded of a student before; results are as JSON.

    Attributes:
        again: the last result of this very hand-in, if it is what stands.
        before: the result of the hand-in that stood before it.
        handed_in: when that one was handed in, in UTC.
    """

    again: Mapping[str, Any] | None = None
    before: Mapping[str, Any] | None = None
    handed_in: datetime | None = None


@dataclass(frozen=True, slots=True)
class Graded:
    """A result, with what a person is shown of it.

    Attributes:
        notebook: text of the autograded notebook, '' where the submission is INVALID.
        written: what the learner wrote in it, in order.
        cards: a Verdict for each exercise, with no expected value in it.
        seconds: wall-clock time by phase: 'read', 'rebuild', 'cells', 'calls', 'judge', 'report'.
        page: the student's feedback, HTML; '' until it is made, of all the rest.
        past: what was recorded of the student before.
    """

    result: Result
    notebook: str = ""
    written: tuple[Written, ...] = ()
    cards: Mapping[str, Verdict] = field(default_factory=dict)
    seconds: Mapping[str, float] = field(default_factory=dict)
    page: str = ""
    past: Past = Past()


def outcome(result: Mapping[str, Any]) -> dict[str, Any]:
    """What a person looks at in a result, as JSON: less what changes with the seed."""
    exercises = {item["name"]: (item["status"], item["score"]) for item in result["exercises"]}
    return {**{key: result[key] for key in ("status", "message", "flags", "repaired")}, **exercises}
