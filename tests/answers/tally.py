"""Marking: every answer is checked, and the results are added up."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from attnlab.judging.verdict import Verdict
from attnlab.notebook import check

from . import Answer


@dataclass(frozen=True, slots=True)
class Mark:
    """What a check made of an answer."""

    answer: Answer
    verdict: Verdict

    @property
    def rejected(self) -> bool:
        return self.verdict.status != "PASS" and self.verdict.score < self.verdict.max_score

    @property
    def named(self) -> bool:
        diagnosis = self.verdict.diagnosis
        return diagnosis is not None and diagnosis.slug == self.answer.slug

    @property
    def as_it_should_be(self) -> bool:
        if self.answer.slug:
            return self.rejected and self.named
        return self.verdict.status == "PASS" and self.verdict.score == self.verdict.max_score

    def __str__(self) -> str:
        diagnosis = self.verdict.diagnosis
        said = diagnosis.slug if diagnosis else "no diagnosis"
        return f"{self.answer}: {self.verdict.status}, {said}. {self.verdict.message}"


@dataclass(slots=True)
class Row:
    """How an exercise's answers fared."""

    mistakes: int = 0
    rejected: int = 0
    named: int = 0
    alternates: int = 0
    accepted: int = 0


def mark(answer: Answer) -> Mark:
    """Check one answer as a notebook would."""
    card = check(answer.function, name=answer.exercise, lesson=answer.lesson)
    return Mark(answer, card.verdict)


def rows(marks: Iterable[Mark]) -> dict[tuple[str, str], Row]:
    """A row for each (lesson, exercise), in the order of the marks."""
    table: dict[tuple[str, str], Row] = {}
    for each in marks:
        row = table.setdefault((each.answer.lesson, each.answer.exercise), Row())
        if each.answer.slug:
            row.mistakes += 1
            row.rejected += each.rejected
            row.named += each.rejected and each.named
        else:
            row.alternates += 1
            row.accepted += each.as_it_should_be
    return table


def totals(table: dict[tuple[str, str], Row]) -> str:
    """The sentence that the README repeats."""
    named = sum(row.named for row in table.values())
    accepted = sum(row.accepted for row in table.values())
    return (
        f"{named} mistakes rejected and named, {accepted} alternates accepted, "
        f"in {len(table)} exercises"
    )


def as_text(table: dict[tuple[str, str], Row]) -> str:
    """The table, for a terminal."""
    names = [f"{slug} {exercise}" for slug, exercise in table]
    width = max(map(len, names))
    lines = [f"{'exercise':{width}}  mistakes rejected  named  alternates accepted"]
    for name, row in zip(names, table.values(), strict=True):
        rejected = f"{row.rejected} of {row.mistakes}"
        named = f"{row.named}"
        accepted = f"{row.accepted} of {row.alternates}"
        lines.append(f"{name:{width}}  {rejected:>17}  {named:>5}  {accepted:>19}")
    return "\n".join([*lines, totals(table)])
