"""How a submission stands in the gradebook: the autograder's points, and what a person set."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Mark:
    """One exercise.

    Attributes:
        score: points as nbgrader adds them: a person's, else the autograder's, and extra credit.
        most: points that it is worth.
        manual: what a person gave, None if nobody did.
        extra: extra credit, which a person gave.
        comment: what a person wrote, '' if nobody did.
    """

    score: float
    most: float
    manual: float | None = None
    extra: float = 0.0
    comment: str = ""


@dataclass(frozen=True, slots=True)
class Standing:
    """One submission.

    Attributes:
        marks: by exercise.
        penalty: points taken off for lateness.
    """

    marks: dict[str, Mark]
    penalty: float = 0.0

    @property
    def earned(self) -> float:
        """Points before the penalty."""
        return sum(mark.score for mark in self.marks.values())

    @property
    def most(self) -> float:
        """Points that could be earned."""
        return sum(mark.most for mark in self.marks.values())

    @property
    def total(self) -> float:
        """The score that `nbgrader export` writes."""
        return max(0.0, self.earned - self.penalty)
