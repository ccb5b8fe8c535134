"""Who is in the class, and whose a row of an LMS's table is. Nothing is guessed."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from attnlab.ipynb.handed_in import in_nfc
from autograder.gradebook.scores import Score
from autograder.submission.collected import Collected
from autograder.term import moodle, roster
from autograder.term.tables import Row


@dataclass(frozen=True, slots=True)
class Person:
    """One of the class.

    Attributes:
        lms: what each LMS calls them, by the roster.
        score: what the gradebook has of them; None if it does not know them.
    """

    id: str
    name: str
    email: str
    lms: Mapping[str, str]
    score: Score | None

    def __str__(self) -> str:
        return f"{self.name} ({self.id})" if self.name else self.id


def everyone(path: Path, scores: Mapping[str, Score]) -> list[Person]:
    """Those of the roster, in its order, if there is one, then those of the gradebook alone.

    Raises:
        Problem: the roster cannot be read.
    """
    listed = roster.read(path) if path.exists() else []
    named = {student.id for student in listed}
    people = [
        Person(
            student.id,
            student.name or (score.name if score else ""),
            student.email or (score.email if score else ""),
            student.lms,
            score,
        )
        for student in listed
        for score in [scores.get(student.id)]
    ]
    others = [each for each in scores if each not in named]
    return people + [Person(i, scores[i].name, scores[i].email, {}, scores[i]) for i in others]


class Finder:
    """Finds whose a row is: by the number with which something was collected, else by the roster's
    name for that LMS, else by id or e-mail. Whose number is known and another has no other row: in
    Moodle it is another in each assignment, and a worksheet of the wrong one is nobody's.

    Args:
        found: what was collected.
    """

    def __init__(self, lms: str, people: Iterable[Person], found: Iterable[Collected]) -> None:
        self._collected: dict[str, set[str]] = defaultdict(set)
        self._number: dict[str, str] = {}
        self._listed: dict[str, set[str]] = defaultdict(set)
        self._called: dict[str, set[str]] = defaultdict(set)
        people = list(people)
        known = {person.id for person in people}
        for each in found:
            if each.lms == lms and each.known_as and each.student in known:
                number = moodle.own(each.known_as) if lms == "moodle" else each.known_as
                self._collected[_key(number)].add(each.student)
                if number.isdecimal():  # else it is of an anonymous hand-in, and no row has it
                    self._number[each.student] = _key(number)
        for person in people:
            if lms in person.lms:
                self._listed[_key(person.lms[lms])].add(person.id)
            for name in filter(None, (person.id, person.email)):
                self._called[_key(name)].add(person.id)

    def __call__(self, row: Row) -> str:
        """The student's id; '' if it is nobody's, or may be that of more than one."""
        others = [_key(name) for name in row.others]
        own = _key(row.own)
        for known, names in (
            (self._collected, [own]),
            (self._listed, [own, _key(row.name), *others]),
            (self._called, others),
        ):
            students = {student for name in names for student in known.get(name, ())}
            if students:
                [student, *others] = students
                is_it = not others and self._number.get(student, own) == own
                return student if is_it else ""
        return ""


def _key(text: str) -> str:
    return in_nfc(text.strip()).casefold()
