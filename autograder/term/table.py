"""A class's results as a table for a spreadsheet: a row for each student and exercise."""

from __future__ import annotations

import csv
import io
import unicodedata
from collections.abc import Iterator

from autograder.term.class_results import ClassResults

COLUMNS = ("id", "exercise", "status", "score", "max_score", "diagnosis", "hand_ins")
_ABSENT, _WAITING = "NOT HANDED IN", "NOT GRADED"


def as_csv(results: ClassResults) -> str:
    """CSV, in which no cell is a formula."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\r\n")
    writer.writerow(COLUMNS)
    writer.writerows(map(harmless, row) for row in _rows(results))
    return text.getvalue()


def harmless(cell: object) -> str:
    """A cell that a spreadsheet takes for text: an apostrophe stands before what begins a formula.

    What forges a row, as a line break does, is a blank.
    """
    text = f"{cell:g}" if isinstance(cell, float) else str(cell)
    text = "".join(each if each.isprintable() else " " for each in text)
    begins = unicodedata.normalize("NFKC", text.lstrip())[:1]
    return f"'{text}" if begins in tuple("=+-@") else text


def _rows(results: ClassResults) -> Iterator[tuple[object, ...]]:
    for student in results.students:
        said = {item["name"]: item for item in student.result["exercises"]}
        for name, worth in results.exercises.items():
            item = said.get(name, {"status": student.result["status"], "diagnosis": None})
            score, hand_ins = student.marks.get(name, 0.0), len(student.scores)
            diagnosis = item["diagnosis"] or ""
            yield student.id, name, item["status"], score, worth, diagnosis, hand_ins
    for status, names in ((_WAITING, results.waiting), (_ABSENT, results.absent)):
        hand_ins = int(status == _WAITING)
        for student_id in names:
            for name, worth in results.exercises.items():
                yield student_id, name, status, "", worth, "", hand_ins
