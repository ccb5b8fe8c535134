"""A lesson's scores as a plain table, for whatever reads CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence

from autograder.gradebook.scores import UNGRADED
from autograder.term.tables import harmless
from autograder.term.who import Person

NOTHING = "nothing handed in"
_COLUMNS = ("id", "name", "email", "score", "max_score", "late_penalty", "status", "handed_in")


def plain(people: Iterable[Person], exercises: Sequence[str]) -> bytes:
    """One line for each of a class, with a column for each exercise.

    Whose score waits, or who was not graded, has none.
    """
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([*_COLUMNS, *exercises])
    for person in people:
        writer.writerow(map(harmless, _cells(person, exercises)))
    return text.getvalue().encode(errors="replace")


def _cells(person: Person, exercises: Sequence[str]) -> list[str]:
    score = person.score
    known = score.standing if score and score.status != UNGRADED else None
    marks = known.marks if known else {}
    standing = score.graded if score else None
    return [
        person.id,
        person.name,
        person.email,
        *([_number(standing.total), _number(standing.most)] if standing else ["", ""]),
        _number(standing.penalty) if standing else "",
        (score.status if score else "") or NOTHING,
        f"{score.handed_in:%Y-%m-%d %H:%M:%S} UTC" if score and score.handed_in else "",
        *(_number(marks[name].score) if name in marks else "" for name in exercises),
    ]


def _number(value: float) -> str:
    return f"{value:.5f}".rstrip("0").rstrip(".")
