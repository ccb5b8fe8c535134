"""How a submission stands in the gradebook: the autograder's points, and what a person set."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

PLACES = 6  # of points: beyond them a sum of floats says nothing


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
class Other:
    """Another hand-in: an earlier one that came to more, or a later one that came to less.

    Attributes:
        score: the autograder's.
        is_later: the page's own hand-in came before it, and counts all the same.
    """

    score: float
    is_later: bool


@dataclass(frozen=True, slots=True)
class Late:
    """How late a hand-in was.

    Attributes:
        due: in UTC, with an extension if the student has one.
        handed_in: in UTC.
        rule: what the course's says in a sentence, '' where it has none.
    """

    due: datetime
    handed_in: datetime
    rule: str = ""


@dataclass(frozen=True, slots=True)
class Standing:
    """One submission.

    Attributes:
        marks: by exercise.
        penalty: points taken off for lateness.
        other: None for what the page has said of it.
        late: None where it was in time, or nobody knows.
        name: the student's, '' where the gradebook has none.
    """

    marks: dict[str, Mark]
    penalty: float = 0.0
    other: Other | None = None
    late: Late | None = None
    name: str = ""

    @property
    def earned(self) -> float:
        """Points before the penalty."""
        return round(sum(mark.score for mark in self.marks.values()), PLACES)

    @property
    def most(self) -> float:
        """Points that could be earned."""
        return sum(mark.most for mark in self.marks.values())

    @property
    def total(self) -> float:
        """The score that `nbgrader export` writes."""
        return round(max(0.0, self.earned - self.penalty), PLACES)
