"""What the checks made of the answers, added up."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple


class Mark(NamedTuple):
    """How an answer fared.

    Attributes:
        wrong: whether it is one that has to be rejected.
        held: whether it was rejected if it is wrong, accepted if it is right.
        named: whether the mistake that it makes was.
    """

    lesson: str
    exercise: str
    wrong: bool
    held: bool
    named: bool


@dataclass(slots=True)
class Row:
    """How an exercise's answers fared."""

    mistakes: int = 0
    rejected: int = 0
    named: int = 0
    alternates: int = 0
    accepted: int = 0


def rows(marks: Iterable[Mark]) -> dict[tuple[str, str], Row]:
    """A row for each (lesson, exercise), in the order of the marks."""
    table: dict[tuple[str, str], Row] = {}
    for mark in marks:
        row = table.setdefault((mark.lesson, mark.exercise), Row())
        if mark.wrong:
            row.mistakes += 1
            row.rejected += mark.held
            row.named += mark.held and mark.named
        else:
            row.alternates += 1
            row.accepted += mark.held
    return table


def totals(table: dict[tuple[str, str], Row]) -> str:
    """The last line of the table."""
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
