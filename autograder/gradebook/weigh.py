"""What a hand-in comes to, and whether the one before it came to more.

Both are weighed as nbgrader would now: a person's scores stand in place of their own, and each
loses what its own lateness costs. So it does not matter in which order they were recorded, nor
whether a run was killed meanwhile.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from nbgrader.plugins import LateSubmissionPlugin
from nbgrader.plugins.base import BasePlugin

from autograder.gradebook.database import GradebookError
from autograder.gradebook.rows import CHECK, Rows
from autograder.pages.standing import PLACES
from autograder.submission.results import Graded


@dataclass(frozen=True, slots=True)
class Recorded:
    """What became of a submission in the gradebook.

    Attributes:
        handed_in: when, in UTC; None if nobody knows.
        earlier: the autograder's score of the hand-in before it, if that comes to more.
        stands: whether the gradebook has this one; else it keeps the one before.
    """

    handed_in: datetime | None = None
    earlier: float | None = None
    stands: bool = True


def weigh(
    rows: Rows,
    graded: Graded,
    handed_in: datetime | None,
    due: datetime | None,
    plugin: BasePlugin | None,
    keep_best: bool,
) -> Recorded:
    """Whether a hand-in is worse than the one before it, and which of them stands.

    Args:
        rows: as they are before it is recorded.
        due: when the lesson is, without extensions.
        plugin: the course's rule for what is late.
    """
    past, result = graded.past, graded.result.as_json()
    before = past.before
    if before is None or before["max_score"] != result["max_score"]:
        return Recorded(handed_in)

    def comes_to(result: Mapping[str, Any], when: datetime | None) -> float:
        own = {item["name"] + CHECK: item["score"] for item in result["exercises"]}
        earned = sum(
            (own.get(name, 0.0) if grade.manual_score is None else grade.manual_score)
            + (grade.extra_credit or 0.0)
            for name, grade in rows.grades.items()
        )
        if plugin is None or when is None or due is None:
            return earned
        submission = rows.submission
        late = (when - due - (submission.extension or timedelta())).total_seconds()
        return earned - (penalty(plugin, submission.student_id, earned, late) or 0.0)

    if comes_to(before, past.handed_in) <= comes_to(result, handed_in):
        return Recorded(handed_in)
    held = sum(grade.auto_score or 0.0 for grade in rows.grades.values())
    is_held = past.again is None and abs(held - before["score"]) < 1e-6
    return Recorded(handed_in, before["score"], stands=not (keep_best and is_held))


def penalty(plugin: BasePlugin, student: str, earned: float, late: float) -> float | None:
    """The late penalty, as nbgrader's AssignLatePenalties.

    Raises:
        GradebookError: the plugin stopped.
    """
    if late <= 0:
        return None
    try:
        taken = plugin.late_submission_penalty(student, earned, late)
    except Exception as error:  # it is the instructor's own code
        raise GradebookError(
            f"The late submission plugin {type(plugin).__name__} stopped at {student!r} with "
            f"{type(error).__name__}: {error}. Mend it, then run this again."
        ) from error
    return None if taken is None else round(min(max(float(taken), 0.0), earned), PLACES)


def rule(plugin: BasePlugin) -> str:
    """What a late submission plugin does, in its own words: the first of its docstring."""
    if type(plugin) is LateSubmissionPlugin:
        return "What is late earns no points."
    said = (inspect.cleandoc(type(plugin).__doc__ or "")).partition("\n\n")[0]
    return " ".join(said.split()) if said != inspect.cleandoc(BasePlugin.__doc__ or "") else ""
