"""What is known of an LMS's table of grades: whose row each is, and where a score goes."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass

from autograder import Problem
from autograder.term.sheets import Sheet


@dataclass(frozen=True, slots=True)
class Row:
    """One student's row.

    Attributes:
        at: which of the sheet's rows.
        name: what people call the student.
        own: the LMS's own number of the student.
        others: what else it knows the student by, which no two have: logins, numbers, e-mail.
        kept: why its score is not to be replaced; '' if it may be.
    """

    at: int
    name: str
    own: str
    others: tuple[str, ...]
    kept: str = ""

    def __str__(self) -> str:
        return f"{self.name} ({self.own})"


@dataclass(frozen=True, slots=True)
class Table:
    """A table of grades.

    Attributes:
        rows: of students alone.
        column: where scores go.
        worth: the points that the LMS gives for it; None if it does not say.
        comma: decimals are written with one.
    """

    rows: tuple[Row, ...]
    column: int
    worth: float | None
    comma: bool = False

    def number(self, score: float) -> str:
        """A score as this table has numbers."""
        text = f"{score:.5f}".rstrip("0").rstrip(".")
        return text.replace(".", ",") if self.comma else text


def number(text: str) -> float | None:
    """What a cell with a number in it says, with a point or a comma for its decimals."""
    try:
        return float(text.strip().replace(",", "."))
    except ValueError:
        return None


def refuse_two(sheet: Sheet, rows: Iterable[Row]) -> None:
    """Raises: Problem, two rows have one number."""
    seen: dict[str, Row] = {}
    for row in rows:
        if row.own and row.own in seen:
            first, second = sheet.lines[seen[row.own].at], sheet.lines[row.at]
            raise Problem(
                f"{sheet.where}, lines {first} and {second}, are both of {row.own}. Leave one, "
                "or export the table again."
            )
        seen[row.own] = row


def refuse_short(sheet: Sheet, at: int, cells: int) -> None:
    """Raises: Problem, a row has fewer cells than it needs."""
    if len(sheet.rows[at]) < cells:
        raise Problem(
            f"{sheet.where}, line {sheet.lines[at]}, has {len(sheet.rows[at])} cells, and the "
            f"first line has {len(sheet.rows[0])} columns. Export the table again."
        )


def harmless(cell: object) -> str:
    """A cell that a spreadsheet takes for text: an apostrophe stands before what begins a formula.

    What forges a row, as a line break does, is a blank.
    """
    text = f"{cell:g}" if isinstance(cell, float) else str(cell)
    text = "".join(each if each.isprintable() else " " for each in text)
    begins = unicodedata.normalize("NFKC", text.lstrip())[:1]
    return f"'{text}" if begins in tuple("=+-@") else text
