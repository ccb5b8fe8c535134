"""Whose a hand-in is, by the roster. Nothing is guessed: who is not found is told."""

from __future__ import annotations

import difflib
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence

from attnlab.ipynb.handed_in import in_nfc
from attnlab.ipynb.words import few, printable, short
from autograder.term.layouts import MOODLE, HandIn
from autograder.term.roster import Student

_NEAREST = 3
_WORD = ("L", "M", "Nd")  # what Canvas leaves of a name, by Unicode's categories; underscores go


class Unplaced(Exception):
    """It cannot be told whose a hand-in is; the sentence says why."""


def folded(name: str) -> str:
    """A name as it is compared: in small letters, composed, without blanks and punctuation."""
    lower = in_nfc(in_nfc(name).lower())
    return "".join(each for each in lower if unicodedata.category(each).startswith(_WORD))


def ways_to_write(name: str) -> set[str]:
    """A name folded, with the family name last or first.

    Where there is no comma nothing says which words are the family name: each part may be.
    """
    last, comma, first = name.partition(",")
    if comma:
        return {folded(last + first), folded(first + last)}
    words = name.split()
    return {folded("".join([*words[cut:], *words[:cut]])) for cut in range(max(len(words), 1))}


class Placing:
    """The students of a roster, to be found by what an LMS says of them."""

    def __init__(self, students: Sequence[Student]) -> None:
        self._students = students
        self._by_name: dict[str, list[Student]] = defaultdict(list)
        for student in students:
            for written in ways_to_write(student.name) - {""}:
                self._by_name[written].append(student)

    def student(self, handed: HandIn) -> Student:
        """Whose it is: by the LMS's id, else an id or e-mail, else a name that one student has.

        Raises:
            Unplaced: nobody's, or that of more than one; or what is said of it names two students.
        """
        named = self._named(handed)
        if not named:
            raise Unplaced(self._nobody(handed))
        [first, *others] = named
        if len(first) > 1:
            raise Unplaced(f"It may be {_or(first)}: the roster says the same of both.")
        for other in others:
            if first[0] not in other:
                raise Unplaced(
                    f"It names {_or([first[0], *other])}: by its id or e-mail the one, and the "
                    "other by what else it says. Mend the roster."
                )
        return first[0]

    def knows(self, handed: HandIn) -> bool:
        """Whether what is said of a hand-in names anybody, be it more than one."""
        return bool(self._named(handed))

    def _named(self, handed: HandIn) -> list[list[Student]]:
        """Whom each part of what is said may mean, without the parts that mean nobody."""
        means = (self._by_lms, self._by_id, self._by_email, self._by_their_name)
        return [found for mean in means if (found := mean(handed))]

    def _by_lms(self, handed: HandIn) -> list[Student]:
        called = self._ids(handed)
        return [each for each in self._students if each.lms.get(handed.lms) in called]

    def _by_id(self, handed: HandIn) -> list[Student]:
        ids = {in_nfc(each) for each in handed.ids}
        return self._not_another(handed, lambda each: each.id in ids)

    def _by_email(self, handed: HandIn) -> list[Student]:
        email = handed.email.lower()
        return self._not_another(handed, lambda each: bool(email) and each.email.lower() == email)

    def _by_their_name(self, handed: HandIn) -> list[Student]:
        namesakes = self._by_name.get(folded(handed.name), [])
        return self._not_another(handed, lambda each: each in namesakes)

    def _not_another(self, handed: HandIn, is_it: Callable[[Student], bool]) -> list[Student]:
        """Students, without those who are known to be somebody else to the LMS.

        Moodle's numbers change with each assignment: another one says nothing.
        """
        called = self._ids(handed)
        anyone = handed.lms == MOODLE or not called
        return [
            each
            for each in self._students
            if is_it(each) and (anyone or each.lms.get(handed.lms, "") in {"", *called})
        ]

    def _ids(self, handed: HandIn) -> set[str]:
        """What the roster's column may have: of Moodle also the name as it stands there."""
        names = {handed.name} if handed.lms == MOODLE else set()
        return {each for each in {handed.known_as, *handed.ids, *names} if each and handed.lms}

    def _nobody(self, handed: HandIn) -> str:
        if handed.known_as.startswith("anon_"):
            return "Canvas left the names out: let the assignment show them, and download it again."
        said = list(dict.fromkeys(filter(None, (handed.name, handed.email, handed.known_as))))
        listed = ", ".join(repr(short(each)) for each in said) or "nothing"
        near = ", ".join(self.nearest(handed))
        return f"It says {listed}, and the roster has nobody like that." + (
            f" Nearest: {near}." if near else ""
        )

    def nearest(self, handed: HandIn) -> list[str]:
        """Ids, with the name, of those who are called most alike."""
        wanted = [folded(each) for each in (handed.name, handed.email, *handed.ids) if each]
        score: dict[str, float] = {}
        for student in self._students:
            called = {folded(student.id), folded(student.email), *ways_to_write(student.name)}
            score[student.id] = max(
                (_alike(one, other) for one in wanted for other in called - {""}), default=0.0
            )
        near = sorted(self._students, key=lambda each: -score[each.id])[:_NEAREST]
        return [_named(each) for each in near if score[each.id] >= 0.6]


def _alike(one: str, other: str) -> float:
    return difflib.SequenceMatcher(None, one, other).ratio()


def _or(students: Iterable[Student]) -> str:
    return " or ".join(few([printable(each.id) for each in students]))


def _named(student: Student) -> str:
    name = f" ({short(student.name)})" if student.name else ""
    return f"{printable(student.id)}{name}"
