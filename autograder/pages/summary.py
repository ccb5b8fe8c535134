"""What a class's results come to: its exercises, and whom to look at first.

Made of the journal's results and of what the gradebook knows besides, so that a run that was
resumed says what an uninterrupted one says. Names, messages and labels may be a learner's words:
whatever is shown of them is printable, and cut.
"""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from attnlab.ipynb.words import few, printable
from autograder.submission.results import A_PERSON

_COLUMNS, _NAME_COLUMNS = 80, 30
_LINES, _NAMES, _CAUSES = 5, 10, 3  # printed for a reason to look, in a list, of a status
_CHARACTERS = 300  # of what is said of one student
_MUCH = 5  # repairs; no editor and no habit of honest learners that we know needs more than 3

# Why a person should look, in this order: what a new file mends, what may be the machine's doing,
# what only a person can judge, what is our fault; then results that may well be right.
_INVALID = "INVALID, 0 points: nothing could be graded"
_LEFT_OUT = "Not graded: what lies among the submissions and is in no place of theirs"
_STOPPED = "CRASH, OOM or TIMEOUT: their code was stopped"
_BANNED = "POLICY or flagged: for a person to judge"
_TROUBLE = "The grader's own trouble: what it could not judge"
_REPAIRED = f"Much repaired: {_MUCH} or more cells had to be put right"
_NOTHING = "0 points, though something was written"
_BY_HAND = "Waiting in formgrader for a score by hand"
_CALLED_LATE = "Late by what the LMS says, and no time is known: say when"
_FIRST, _AGAIN = "Look at first", "To look at, as the last summary said"
_REASONS = (
    *(_INVALID, _LEFT_OUT, _STOPPED, _BANNED, _TROUBLE, _REPAIRED, _NOTHING, _BY_HAND),
    _CALLED_LATE,
)
# What is to be seen is not in the autograded notebook.
_AS_HANDED_IN = (_INVALID, _LEFT_OUT, _REPAIRED)
_WORSE = "Worse than the hand-in before"

_Looks = dict[str, list[tuple[str, str]]]  # by reason: a student, and what was found
_Lists = dict[str, list[tuple[str, str]]]  # an item to print, and a line to write


class Worse(NamedTuple):
    """A hand-in that comes to less than the one before it.

    Attributes:
        score, earlier: the autograder's, of both.
        stands: it counts all the same; else the one before it does.
        said: why nothing of it was graded, '' if something was.
    """

    score: float
    earlier: float
    stands: bool = True
    said: str = ""


@dataclass(frozen=True, slots=True)
class Remarks:
    """What is known of a lesson's submissions besides their results, by student.

    Attributes:
        worse: whose last hand-in comes to less than the one before.
        told: of whom an earlier summary has said the same.
        late: seconds past the due date, extensions granted, by student; None for whom it has no
            time of handing in. Empty where there is no due date.
        by_hand: students with a score that a person has to give, or to look at again.
        known: everyone in the gradebook.
        called_late: whom the LMS calls late, and nothing says when they handed in.
    """

    late: Mapping[str, float | None] = field(default_factory=dict)
    by_hand: Collection[str] = ()
    known: Set[str] = frozenset()
    worse: Mapping[str, Worse] = field(default_factory=dict)
    told: Set[str] = frozenset()
    called_late: Set[str] = frozenset()


class Texts(NamedTuple):
    """A summary: in short for a terminal, in full for a file."""

    printed: str
    written: str


def summarise(
    lesson: str,
    results: Iterable[Mapping[str, Any]],
    remarks: Remarks,
    left_out: Mapping[str, str],
    submitted: Path,
    autograded: Path,
) -> Texts:
    """What results come to.

    Args:
        results: objects as `Result.as_json` makes them.
        remarks: what the gradebook knows of the lesson's submissions besides.
        left_out: why what lies among the submissions is not graded, by name; '' where nothing of
            the lesson is there.
        submitted, autograded: nbgrader's folders, for what to open.
    """
    seen, students = _Class(), set()
    for result in results:
        seen.add(result, remarks)
        students.add(result["student"])
    for name, why in left_out.items():
        if why:
            seen.looks[_LEFT_OUT].append((printable(name), why))
            students.add(name)
    absent = (remarks.known | left_out.keys()) - students
    seen.absent = [printable(name) for name in sorted(absent)]
    looks, told = _some(seen.looks), _some(seen.told)
    lists = _lists(seen)
    again = {_AGAIN: [(_name(who), who) for found in told.values() for who, _ in found]}
    head = _wrapped(_headline(lesson, seen), "", "  ")
    files = _Files(lesson, from_here(submitted), from_here(autograded))
    return Texts(
        _joined(
            head,
            _table(seen, _CAUSES),
            _short_looks(looks, files),
            _short_lists(lists | again if told else lists),
        ),
        _joined(
            head,
            _table(seen),
            _full_looks(_FIRST, looks, files),
            _full_looks(_AGAIN, told, files),
            _full_lists(lists),
        ),
    )


def _some(looks: _Looks) -> _Looks:
    return {reason: found for reason, found in looks.items() if found}


def from_here(path: Path) -> Path:
    """A path as one would type it in the course's folder."""
    return path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path


@dataclass(frozen=True, slots=True)
class _Files:
    """What to open of a student's."""

    lesson: str
    submitted: Path
    autograded: Path

    def path(self, student: str, reason: str) -> str:
        if reason == _LEFT_OUT:
            return f"{self.submitted}/{student}"
        if reason == _INVALID:  # there may be no file of that name
            return f"{self.submitted}/{student}/{self.lesson}/"
        folder = self.submitted if reason in _AS_HANDED_IN else self.autograded
        return f"{folder}/{student}/{self.lesson}/{self.lesson}.ipynb"


@dataclass(slots=True)
class _Exercise:
    """What became of one exercise."""

    max_score: float
    scores: list[float] = field(default_factory=list)
    statuses: Counter[str] = field(default_factory=Counter)
    causes: dict[str, Counter[str]] = field(default_factory=dict)  # slugs, by status

    def add(self, result: Mapping[str, Any]) -> None:
        status = result["status"]
        self.scores.append(result["score"])
        self.statuses[status] += 1
        if result["diagnosis"]:
            self.causes.setdefault(status, Counter())[result["diagnosis"]] += 1


@dataclass(slots=True)
class _Class:
    """What is kept of all results: little, for a class may be large."""

    scores: list[float] = field(default_factory=list)
    max_score: float = 0.0
    invalid: int = 0
    exercises: dict[str, _Exercise] = field(default_factory=dict)
    looks: _Looks = field(default_factory=lambda: {reason: [] for reason in _REASONS})
    told: _Looks = field(default_factory=lambda: {reason: [] for reason in _REASONS})
    repaired: list[tuple[str, str]] = field(default_factory=list)
    noted: list[tuple[str, str]] = field(default_factory=list)  # a word on their files
    absent: list[str] = field(default_factory=list)
    late: list[tuple[str, float | None]] = field(default_factory=list)  # as in Remarks
    worse: list[tuple[str, Worse]] = field(default_factory=list)

    def add(self, result: Mapping[str, Any], remarks: Remarks) -> None:
        name = result["student"]
        student = printable(name)
        self.invalid += result["status"] == "INVALID"
        if result["status"] != "INVALID":
            self.scores.append(result["score"])
            self.max_score = result["max_score"]
        for exercise in result["exercises"]:
            empty = _Exercise(exercise["max_score"])
            self.exercises.setdefault(exercise["name"], empty).add(exercise)
        found = _found(result)
        if not found and name in remarks.by_hand:
            found[_BY_HAND] = f"the grader's own score is {result['score']:g}"
        if name in remarks.called_late:
            say = "collect a table of times, or write their timestamp.txt"
            found[_CALLED_LATE] = f"late by what the LMS says: {say}"
        if found:
            first = min(found, key=_REASONS.index)
            looks = self.told if name in remarks.told else self.looks
            looks[first].append((student, "; ".join(found.values())))
        if result["message"] and result["status"] != "INVALID":
            self.noted.append((student, _told([result["message"]])))
        if result["repaired"]:
            self.repaired.append((student, _told(result["repaired"])))
        if name in remarks.worse:
            self.worse.append((student, remarks.worse[name]))
        if name in remarks.late:
            self.late.append((student, remarks.late[name]))


def _found(result: Mapping[str, Any]) -> dict[str, str]:
    """Why a person should look at a result, and what was found."""
    if result["status"] == "INVALID":
        reason = _TROUBLE if A_PERSON in result["message"] else _INVALID
        return {reason: _told([result["message"]])}
    exercises, repaired = result["exercises"], result["repaired"]
    baffling = [item["name"] for item in exercises if item["message"].endswith(A_PERSON)]
    found = {
        _STOPPED: _told(_with_status(exercises, "CRASH", "OOM", "TIMEOUT")),
        _BANNED: _told([*_with_status(exercises, "POLICY"), *result["flags"]]),
        _TROUBLE: ", ".join(baffling),
        _REPAIRED: _told(repaired) if len(repaired) >= _MUCH else "",
    }
    found = {reason: said for reason, said in found.items() if said}
    if not found and result["score"] == 0 and any(map(is_written, exercises)):
        found[_NOTHING] = _counted(_most_first(Counter(item["status"] for item in exercises)))
    return found


def _with_status(exercises: Sequence[Mapping[str, Any]], *statuses: str) -> list[str]:
    """'attention POLICY, decoder_mask POLICY: ' and what is said of the first."""
    found = [item for item in exercises if item["status"] in statuses]
    names = ", ".join(f"{item['name']} {item['status']}" for item in found)
    return [f"{names}: {found[0]['message']}"] if found else []


def is_written(exercise: Mapping[str, Any]) -> bool:
    """Whether a cell is not as it was given out; under another name, an answer is MISSING too."""
    untouched = f"Write `{exercise['name']}` in the cell above"
    return exercise["status"] != "MISSING" or not exercise["message"].startswith(untouched)


def _headline(lesson: str, seen: _Class) -> str:
    mean = invalid = ""
    if seen.scores:
        mean = f", mean {sum(seen.scores) / len(seen.scores):.2f} of {seen.max_score:g} points"
    if count := seen.invalid:
        invalid = f"; {count} INVALID, with 0 points"
    return f"{lesson}: {len(seen.scores)} graded, by the autograder{mean}{invalid}."


def _table(seen: _Class, causes: int | None = None) -> list[str]:
    """Each exercise, and under it what points were lost for.

    Args:
        causes: how many to name of each status, None for all.
    """
    width = max(map(len, ["exercise", *seen.exercises]))
    lines = [f"{'exercise':{width}}  passed  failed  mean points"] if seen.exercises else []
    for name, exercise in seen.exercises.items():
        passed, count = exercise.statuses["PASS"], len(exercise.scores)
        mean = f"{sum(exercise.scores) / count:.2f} of {exercise.max_score:g}"
        lines.append(f"{name:{width}}  {passed:6}  {count - passed:6}  {mean:>11}")
        failed = [
            f"{status} {number}{_because(exercise.causes.get(status), number, causes)}"
            for status, number in _most_first(exercise.statuses)
            if status != "PASS"
        ]
        lines += _packed(", ".join(failed), "    ", "    ")
    return lines


def _because(causes: Counter[str] | None, number: int, most: int | None) -> str:
    """' (wrong-type 3, no-scale 1, other 2)', '' where no cause is known."""
    if not causes:
        return ""
    shown = _most_first(causes)[:most]
    other = number - sum(count for _, count in shown)
    return f" ({_counted([*shown, ('other', other)] if other else shown)})"


def _most_first(counts: Counter[str]) -> list[tuple[str, int]]:
    """By number, then by name, whatever the order in which they were met."""
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))


def _counted(counts: Iterable[tuple[str, int]]) -> str:
    return ", ".join(f"{name} {count}" for name, count in counts)


def _short_looks(looks: _Looks, files: _Files) -> list[str]:
    """For each reason a line for each of the first few students, cut to fit."""
    lines = _title(_FIRST, looks)
    for reason, found in looks.items():
        shown = [(_name(student), said) for student, said in found[:_LINES]]
        width = max(len(student) for student, _ in shown)
        lines.append(f"{reason} ({len(found)})")
        lines += [_cut(f"  {student:{width}}  {said}", _COLUMNS) for student, said in shown]
        if len(found) > _LINES:
            lines.append(f"  and {len(found) - _LINES} more, in the whole summary")
    if looks:
        lines.append(f"To open: {files.path('STUDENT', '')}")
    if not looks.keys().isdisjoint(_AS_HANDED_IN):
        lines.append(f"  INVALID, not graded or repaired: under {files.submitted}/")
    return lines


def _full_looks(title: str, looks: _Looks, files: _Files) -> list[str]:
    """For each reason all students, what was found, and the file to open."""
    lines = _title(title, looks)
    for reason, found in looks.items():
        lines.append(f"{reason} ({len(found)})")
        for student, said in found:
            lines += [f"  {student}", *_wrapped(said, "    ", "    ")]
            lines.append(f"    {files.path(student, reason)}")
    return lines


def _title(title: str, looks: _Looks) -> list[str]:
    return [f"{title}: {sum(map(len, looks.values()))}"] if looks else []


def _lists(seen: _Class) -> _Lists:
    """Who was late, who did worse than before, whose notebooks were repaired, and the like."""
    timed = [(-late, student) for student, late in seen.late if late is not None]
    late = [(student, _span(-early)) for early, student in sorted(timed) if early < 0]
    lists: _Lists = {}
    if timed:
        lists["Late"] = [(f"{_name(who)} by {by}", f"{who} by {by}") for who, by in late]
    untimed = [student for student, late in seen.late if late is None]
    if untimed:
        lists["Handed in at an unknown time"] = [(_name(student), student) for student in untimed]
    for title, stands in ((_WORSE, True), (f"{_WORSE}, which was kept", False)):
        if worse := [_worse(*each) for each in seen.worse if each[1].stands == stands]:
            lists[title] = worse
    if seen.noted:
        lists["With a word on their files"] = [(_name(who), f"{who}: {w}") for who, w in seen.noted]
    if seen.absent:
        lists["Nothing handed in"] = [(_name(w), w) for w in seen.absent]
    if seen.repaired:
        lists["Repaired"] = [(_name(who), f"{who}: {what}") for who, what in seen.repaired]
    return lists


def _worse(student: str, told: Worse) -> tuple[str, str]:
    """'ann 5 after 7', and a sentence."""
    sentence = f"{student}: {told.score:g} points, after {told.earlier:g}"
    said = f": {_told([told.said])}" if told.said else ""
    return f"{_name(student)} {told.score:g} after {told.earlier:g}", f"{sentence}{said}"


def _short_lists(lists: _Lists) -> list[str]:
    lines = []
    for what, items in lists.items():
        names = ", ".join(few([item for item, _ in items], _NAMES))
        lines += _packed(f"{what}: {len(items)}" + (f" ({names})" if names else ""), "", "  ")
    return lines


def _full_lists(lists: _Lists) -> list[str]:
    lines = []
    for what, items in lists.items():
        lines.append(f"{what}: {len(items)}")
        for _, line in items:
            lines += _wrapped(line, "  ", "    ")
    return lines


def _span(seconds: float) -> str:
    """'3 d 4 h', '4 h 10 min', '10 min'; what is less than a minute is one."""
    minutes = max(1, round(seconds / 60))
    days, hours, minutes = minutes // 1440, minutes // 60 % 24, minutes % 60
    parts = [(days, "d"), (hours, "h"), (0 if days else minutes, "min")]
    return " ".join(f"{count} {unit}" for count, unit in parts if count)


def _told(sentences: Sequence[str]) -> str:
    """A few sentences in one line that is safe to print."""
    return _cut(printable(" ".join("; ".join(few(sentences)).split())), _CHARACTERS)


def _name(student: str) -> str:
    return _cut(student, _NAME_COLUMNS)


def _cut(text: str, characters: int) -> str:
    return text if len(text) <= characters else text[: characters - 1] + "…"


def _packed(text: str, first: str, others: str) -> list[str]:
    """Lines that end only where an item of a list does."""
    glue = "\xa0"
    items = [item.replace(" ", glue) for item in text.split(", ")]
    return [line.replace(glue, " ") for line in _wrapped(", ".join(items), first, others)]


def _wrapped(text: str, first: str, others: str) -> list[str]:
    """Lines that begin with `first` and `others`; no word is broken."""
    return textwrap.wrap(
        text,
        _COLUMNS,
        initial_indent=first,
        subsequent_indent=others,
        break_long_words=False,
        break_on_hyphens=False,
    )


def _joined(*parts: Iterable[str]) -> str:
    """Parts with an empty line between them."""
    return "\n\n".join(filter(None, map("\n".join, parts))) + "\n"
