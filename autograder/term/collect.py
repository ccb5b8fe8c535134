"""An LMS's download, brought to where `grade` finds it: `class/submitted/STUDENT/LESSON/`.

    opened (sources) → whose is it (placing) → the newest of each → written, recorded, told

What is there is replaced only by what is known to be newer: by the time of handing in, Canvas's
number, the time of Moodle's archive, or a table of times, whichever of these both have first.

Everything is written beside its place; then the gradebook's rows; then all is renamed. Stopped in
between, the same command goes on.
"""

from __future__ import annotations

import hashlib
import itertools
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from attnlab.ipynb.files import NotWritten, Parts, link_on, open_file, taken, write_whole
from attnlab.ipynb.handed_in import SECRET, TIMESTAMP, in_nfc, is_zip, notebook
from attnlab.ipynb.read import Unreadable
from attnlab.ipynb.words import few, printable, short
from autograder import Problem
from autograder.gradebook.course import Course
from autograder.gradebook.gradebook import Gradebook, wrong_name
from autograder.gradebook.rows import Person
from autograder.pages.summary import from_here
from autograder.run.lock import sole_grader
from autograder.sandbox.limits import Limits
from autograder.submission import collected, handed_in
from autograder.submission.collected import Collected
from autograder.submission.folder import small_files
from autograder.submission.timestamps import time_of
from autograder.term import roster, times
from autograder.term.layouts import PLAIN, HandIn, canvas_name
from autograder.term.placing import Placing, Unplaced, folded
from autograder.term.roster import Student
from autograder.term.sources import opened

_TIME = "%Y-%m-%d %H:%M:%S UTC"  # as nbgrader writes and reads it
_SHOWN = 20  # of a list; the file has them all
_LMS = {"canvas": "Canvas", "moodle": "Moodle", "gradescope": "Gradescope", "": "a plain file"}


@dataclass(slots=True)
class Outcome:
    """What came of a collection; each list has students' ids, in the roster's order.

    Attributes:
        of: how many students the roster has.
        new, same, replaced: put there, there already, and put in the place of another hand-in.
        older: left, as what is there was handed in later.
        unknown: left, as nothing says which of the two is newer.
        changed: left, as somebody changed the file since it was collected.
        late: whom the LMS calls late.
        late_when: those of them of whom no time is known.
        timed: whose time a table said.
        own_time: whose time is left, as a person wrote it, or a table's is earlier.
        strange: whose time a table puts before the lesson's release, or after now.
        several: how often who handed in, where that was more than once.
        typed: who typed something into the LMS's page, beside a file or in its place.
        apart: whose hand-in says another time than the exchange's disk, and both.
        untimed: by LMS, of how many nothing says when they handed in.
        absent: nothing is there of them.
        extended: who has a due date of one's own in the gradebook now, and which.
        waiting: who has one in the roster, and the gradebook has none of the lesson.
        beside: files that are not taken.
        odd: what else lies in an exchange.
        trouble: a sentence for each file that was not placed.
        written: whether a file was.
        whole: where all of it stands, if it is longer than what is shown.
    """

    lesson: str
    of: int
    new: list[str] = field(default_factory=list)
    same: list[str] = field(default_factory=list)
    replaced: list[str] = field(default_factory=list)
    older: list[str] = field(default_factory=list)
    unknown: list[str] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)
    late: list[str] = field(default_factory=list)
    late_when: list[str] = field(default_factory=list)
    timed: list[str] = field(default_factory=list)
    own_time: list[str] = field(default_factory=list)
    strange: list[str] = field(default_factory=list)
    several: dict[str, int] = field(default_factory=dict)
    typed: list[str] = field(default_factory=list)
    apart: list[str] = field(default_factory=list)
    untimed: Counter[str] = field(default_factory=Counter)
    absent: list[str] = field(default_factory=list)
    extended: list[str] = field(default_factory=list)
    waiting: list[str] = field(default_factory=list)
    beside: list[str] = field(default_factory=list)
    odd: list[str] = field(default_factory=list)
    trouble: list[str] = field(default_factory=list)
    written: bool = False
    whole: Path | None = None

    def lines(self, most: int = _SHOWN) -> list[str]:
        """It in sentences, for people.

        Args:
            most: of what a list has; the rest is counted.
        """
        there = sum(map(len, (self.same, self.older, self.unknown, self.changed)))
        found = [
            f"{self.lesson}: {len(self.new)} new, {len(self.replaced)} replaced, {there} left as "
            f"they are. Of {self.of} in the roster, {self.of - len(self.absent)} have handed in."
        ]
        for what, each_of in (("Not placed", self.trouble), ("Left in the exchange", self.odd)):
            if each_of:
                found += [f"{what}: {len(each_of)}", *(f"  {one}" for one in few(each_of, most))]
        if not self.written:
            found.append(f"No file was changed{', as all of it was there' if there else ''}.")
        several = [f"{printable(who)} ({count})" for who, count in self.several.items()]
        lists = [
            ("Replaced by what was collected now", _names(self.replaced)),
            ("Left, as what is there was handed in later", _names(self.older)),
            (
                "Left, as nothing says whether what was collected now is newer. Name a table of "
                "times that says it, or remove what is there and collect again",
                _names(self.unknown),
            ),
            ("Left, as somebody changed the file since it was collected", _names(self.changed)),
            ("Canvas says late", _names(self.late)),
            (
                f"For you to do: say when these handed in, who are late by what Canvas says, in a "
                f"table of times or in their {TIMESTAMP}",
                _names(self.late_when),
            ),
            ("A time from the table", _names(self.timed)),
            (f"Left, as the {TIMESTAMP} there is a person's, or later", self.own_time),
            ("A time before the lesson was released, or one to come: look at it", self.strange),
            ("Handed in more than once, and the newest was taken", several),
            (
                "Typed into the LMS's page, beside a file or in its place, and not collected: read "
                "it there",
                _names(self.typed),
            ),
            ("It says another time than the disk", self.apart),
            ("A due date of one's own", self.extended),
        ]
        found += [f"{what}: {', '.join(few(names, most))}" for what, names in lists if names]
        many = [
            ("Handed in nothing", _names(self.absent)),
            ("Not taken, as it is no notebook", [short(name) for name in self.beside]),
        ]
        found += [
            f"{what}: {len(names)} ({', '.join(few(names, most))})" for what, names in many if names
        ]
        if self.untimed:
            told = ", ".join(f"{count} from {_LMS[lms]}" for lms, count in self.untimed.items())
            found.append(
                f"No time of handing in is known, and no {TIMESTAMP} written, for {told}: what "
                "was given does not say it, so none of them is late for the grader."
            )
        if self.waiting:
            found.append(
                f"A due date of one's own waits for {len(self.waiting)}, as the gradebook has none "
                f"of everyone's for {self.lesson}: set that, then collect again."
            )
        if self.whole:
            found.append(f"All names stand in {from_here(self.whole)}.")
        return found


@dataclass(frozen=True, slots=True)
class _There:
    """What is in a student's place already.

    Attributes:
        data: the notebook's bytes, None where there is none.
        time: of handing in, as timestamp.txt says, None if it does not.
        secret: nbgrader's, by which a page finds its way back; empty if there is none.
        record: of its collection, None if there was none.
    """

    data: bytes | None
    time: datetime | None
    secret: bytes
    record: Collected | None

    @property
    def recorded(self) -> datetime | None:
        """When it was handed in, as was known when it was collected."""
        return time_of(self.record.time.encode()) if self.record else None

    @property
    def is_ours(self) -> bool:
        """Whether no person wrote its time."""
        return self.time in (None, self.recorded)

    @property
    def last(self) -> datetime | None:
        """The latest that is known of when it was handed in."""
        return max(filter(None, (self.time, self.recorded)), default=None)


def collect(course: Course, lesson: str, files: Iterable[Path], zone: str = "") -> Outcome:
    """Bring hand-ins to where they are graded.

    Args:
        files: also tables of times.
        zone: of times in these that name none.
    Raises:
        Usage: a file is not there.
        Problem: roster, record or a table cannot be read, and nothing was written.
        GradebookError, NotWritten: it cannot go on; the same command does.
    """
    home = course.submitted(".", ".").parent
    students = _roster(home / roster.NAME)
    told = Outcome(lesson, len(students))
    files = list(files)
    said = [each for path in filter(times.is_table, files) for each in times.read(path, zone)]
    with ExitStack() as archives:
        placing = Placing(students)
        given = opened(
            itertools.filterfalse(times.is_table, files), lesson, Limits(), archives, placing
        )
        told.trouble, told.beside, told.odd = given.trouble, given.beside, given.odd
        when = _times(placing, said, course.released(lesson), told)
        whose = _placed(placing, given.hand_ins, told)
        with (
            sole_grader(home / "runs" / "lock", lesson, _say),
            Gradebook(course) as gradebook,
            Parts() as parts,
        ):
            work = _Collecting(course, lesson, home, parts, told, when)
            for student in students:
                if student.id in whose:
                    work.student(student, whose[student.id])
                elif student.id in when:
                    work.time(student)
            work.record()
            _enrol(gradebook, lesson, students, work.handed_in(), told)
            work.place()
    present = {in_nfc(name) for name in handed_in.students(course.submitted(".", "."), lesson)}
    names = [*told.beside, *(each.place for each in given.hand_ins)]
    present |= set(whose).union(*map(_named_after, names))
    told.absent = [student.id for student in students if student.id not in present]
    told.whole = _whole(home / collected.FOLDER / f"{lesson}.txt", told)
    return told


def _named_after(name: str) -> set[str]:
    """Whose a file may be that was not placed: what the outermost part of its path is called."""
    top = in_nfc(name).partition("/")[0]
    return {top, top.partition(".")[0]}


def _whole(path: Path, told: Outcome) -> Path | None:
    """Write down all of it, if it is longer than what is shown; where."""
    lines = told.lines(most=sys.maxsize)
    if lines == told.lines():
        path.unlink(missing_ok=True)
        return None
    text = "\n".join([*lines, ""]).encode(errors="backslashreplace")
    if not path.is_file() or path.read_bytes() != text:
        write_whole(path, text)
    return path


def _roster(path: Path) -> list[Student]:
    """Raises: Problem, also where an id cannot be a folder's or a gradebook's."""
    students = roster.read(path)
    for student in students:
        if wrong := wrong_name(student.id):
            raise Problem(f"{path}: the id {wrong}. Give the student another one.")
    return students


def _placed(placing: Placing, found: Iterable[HandIn], told: Outcome) -> dict[str, list[HandIn]]:
    """Hand-ins by whose they are; those of nobody are told."""
    whose = defaultdict[str, list[HandIn]](list)
    names = defaultdict[tuple[str, str], dict[str, str]](dict)
    found = list(found)
    for handed in found:
        names[handed.lms, handed.known_as][folded(handed.name)] = handed.name
    for handed in found:
        called = names[handed.lms, handed.known_as]
        try:
            if handed.known_as and len(called) > 1:
                both = " and ".join(few([repr(short(name)) for name in called.values()]))
                raise Unplaced(f"{short(handed.known_as)!r} is the id of {both}.")
            whose[placing.student(handed).id].append(handed)
        except Unplaced as error:
            class_s = handed.lms == PLAIN and is_zip(handed.place)
            advice = " If it is an LMS's download, collect it by itself." if class_s else ""
            told.trouble.append(f"{short(handed.place)}: {error}{advice}")
    return whose


def _times(
    placing: Placing, said: Iterable[times.Said], released: Path, told: Outcome
) -> dict[str, datetime]:
    """What tables say, by student; whom they name in vain, and what cannot be right, is told."""
    when: dict[str, datetime] = {}
    first = datetime.min
    with suppress(FileNotFoundError):
        first = datetime.fromtimestamp(released.stat().st_mtime, UTC).replace(tzinfo=None)
    for each in said:
        try:
            student = placing.student(each.who).id
        except Unplaced as error:
            told.trouble.append(f"{each.where}: {error}")
            continue
        if when.setdefault(student, each.time) != each.time:
            raise Problem(f"{each.where}, has another time of {printable(student)} than before.")
        if not first <= each.time <= datetime.now(UTC).replace(tzinfo=None):
            told.strange.append(f"{printable(student)} ({each.time:{_TIME}})")
    return when


class _Collecting:
    """One collection of one lesson, written beside its places and then into them."""

    def __init__(
        self,
        course: Course,
        lesson: str,
        home: Path,
        parts: Parts,
        told: Outcome,
        when: Mapping[str, datetime],
    ) -> None:
        self._course, self._lesson, self._parts, self._told = course, lesson, parts, told
        self._when = when
        self._path = home / collected.FOLDER / f"{lesson}.json"
        self._records = {each.student: each for each in collected.read(self._path)}
        self._before = dict(self._records)
        self._outdated: list[Path] = []  # what came with hand-ins that are replaced

    def student(self, student: Student, found: Sequence[HandIn]) -> None:
        """Write the newest of one student's hand-ins, if it is to be."""
        if any(each.typed for each in found):
            self._told.typed.append(student.id)
        try:
            handed, data = self._newest(found)
            there = self._there(student.id)
        except Unreadable as none:
            names = ", ".join(few([short(each.place) for each in found]))
            self._told.trouble.append(f"{names} of {printable(student.id)}: {none}")
            return
        if len(found) > 1:
            self._told.several[student.id] = len(found)
        if handed.late:
            self._told.late.append(student.id)
        if handed.on_disk:
            both = f"says {handed.time:{_TIME}}, the disk {handed.on_disk:{_TIME}}"
            self._told.apart.append(f"{printable(student.id)} ({both})")
        said = self._when.get(student.id)
        newer = _newer(handed, there, said)
        kind = self._kind(data, there, newer)
        kind.append(student.id)
        if newer is False or kind is self._told.changed:
            self.time(student)
            return
        if kind is self._told.unknown:
            return
        place = self._course.submitted(student.id, self._lesson)
        if kind is not self._told.same:
            self._write(place / f"{self._lesson}.ipynb", data)
        time = handed.time or said or (there.recorded if kind is self._told.same else None)
        outdated = there.is_ours or (handed.time and kind is self._told.replaced)
        if not outdated and time != there.time:
            self._told.own_time.append(f"{printable(student.id)} ({there.time:{_TIME}})")
        elif time is not None and time != there.time:
            self._write(place / TIMESTAMP, f"{time:{_TIME}}\n".encode())
            if handed.time is None:
                self._told.timed.append(student.id)
        elif time is None and kind is self._told.replaced:
            self._outdated.append(place / TIMESTAMP)
        if handed.secret and handed.secret != there.secret:
            self._write(place / SECRET, handed.secret)
        elif not handed.secret and kind is self._told.replaced:
            self._outdated.append(place / SECRET)
        if time is None and outdated:
            self._told.untimed[handed.lms] += 1
            if handed.late:
                self._told.late_when.append(student.id)
        record = Collected(
            student.id,
            handed.lms,
            handed.known_as,
            handed.place.encode(errors="backslashreplace").decode(),
            f"{time:{_TIME}}" if time else "",
            _digest(data),
            handed.made,
            "late" if handed.late else "",
        )
        before = there.record
        if handed.lms or before is None or before.digest != record.digest:
            self._records[student.id] = record  # a plain file says less than an LMS has said

    def time(self, student: Student) -> None:
        """Let what is in a student's place have the time that a table says, if that is later."""
        said = self._when.get(student.id)
        try:
            there = self._there(student.id)
        except Unreadable:
            return
        if said is None or there.data is None or said == there.time:
            return
        if there.time and (not there.is_ours or said < there.time):
            self._told.own_time.append(f"{printable(student.id)} ({there.time:{_TIME}})")
            return
        text = f"{said:{_TIME}}"
        place = self._course.submitted(student.id, self._lesson) / TIMESTAMP
        self._write(place, f"{text}\n".encode())
        self._told.timed.append(student.id)
        if there.record:
            self._records[student.id] = replace(there.record, time=text)

    def _kind(self, data: bytes, there: _There, newer: bool | None) -> list[str]:
        """The list of the outcome to which a hand-in belongs."""
        told, record = self._told, there.record
        if there.data is None:
            return told.new
        if there.data == data:
            return told.same
        if newer is False:
            return told.older
        if record and record.digest == _digest(data):
            return told.changed
        return told.replaced if newer else told.unknown

    def _newest(self, found: Sequence[HandIn]) -> tuple[HandIn, bytes]:
        """The newest of some hand-ins, and its notebook.

        Raises:
            Unreadable: it has none, or nothing says which it is.
        """
        if len(found) == 1:
            return found[0], _notebook(found[0], self._lesson)
        known: list[Any] = []
        if all(each.time for each in found):
            known = [(each.time, each.number) for each in found]
        elif not any(each.time for each in found) and len({each.lms for each in found}) == 1:
            known = [each.number or each.made for each in found]
        latest = list(found)
        if known and all(known):
            last = max(known)
            latest = [each for each, is_of in zip(found, known, strict=True) if is_of == last]
        read = [(each, _notebook(each, self._lesson)) for each in latest]
        if len({_digest(data) for _, data in read}) > 1:
            raise Unreadable(
                "Nothing says which of these is the newest. Collect them one after the other, the "
                "newest last."
            )
        return read[0]

    def _there(self, student: str) -> _There:
        """Raises: Unreadable, where something else than a notebook's file is in the place."""
        top = self._course.submitted(".", ".")
        folder = self._course.submitted(student, self._lesson)
        path = folder / f"{self._lesson}.ipynb"
        if link := link_on(path, top):
            raise Unreadable(f"{printable(str(link))} is a link, and nothing is written there.")
        try:
            data = taken(open_file(path, top), path.name, path.stat().st_size)
        except FileNotFoundError:
            data = None
        except OSError as error:
            raise NotWritten(path, error) from error
        beside = small_files(folder)
        time, secret = time_of(beside.get(TIMESTAMP, b"")), beside.get(SECRET, b"")
        return _There(data, time, secret, self._records.get(student))

    def _write(self, path: Path, data: bytes) -> None:
        self._parts.write(path, data)
        self._told.written = True

    def record(self) -> None:
        """Write down what was collected, with what was before."""
        if self._records != self._before:
            self._write(self._path, collected.written(self._records.values()))

    def handed_in(self) -> set[str]:
        """Who has something to be graded, once all is in its place."""
        there = handed_in.students(self._course.submitted(".", "."), self._lesson)
        return {*map(in_nfc, there), *self._told.new}

    def place(self) -> None:
        """Rename all into place; what came with another hand-in goes before."""
        for path in self._outdated:
            with suppress(FileNotFoundError):
                path.unlink()
        self._parts.place()


def _notebook(handed: HandIn, lesson: str) -> bytes:
    """Raises: Unreadable, there is none, or nothing says which of several."""
    return notebook(handed.files, lesson, Limits())[0]


def _newer(handed: HandIn, there: _There, said: datetime | None) -> bool | None:
    """Whether a hand-in is newer than what is in its place; None if nothing tells.

    Args:
        said: when the student handed in last, by a table.
    """
    record = there.record
    known: list[tuple[Any, Any]] = [(handed.time, there.last)]
    if record and record.lms == handed.lms:
        known += [(handed.number, _number(record)), (handed.made, record.made)]
    known.append((said, there.last))
    return next((one > other for one, other in known if one and other and one != other), None)


def _number(record: Collected) -> int:
    """Of the attachment that was collected from Canvas, 0 if that is not known."""
    said = canvas_name(record.name)
    return said.number if said else 0


def _enrol(
    gradebook: Gradebook,
    lesson: str,
    students: Sequence[Student],
    present: set[str],
    told: Outcome,
) -> None:
    """Make the class known to nbgrader, and due dates of one's own."""
    due = {each.id: each.due[lesson] for each in students if lesson in each.due}
    due = {student: when for student, when in due.items() if student in present}
    has_date = gradebook.enrol([_person(each) for each in students], lesson, due)
    if has_date:
        told.extended += [
            f"{printable(who)} ({when:%Y-%m-%d %H:%M} UTC)" for who, when in due.items()
        ]
    else:
        told.waiting += due


def _person(student: Student) -> Person:
    last, comma, first = map(str.strip, student.name.partition(","))
    if not comma:
        first, _, last = map(str.strip, student.name.strip().rpartition(" "))
    lms = next((student.lms[each] for each in roster.LMS if each in student.lms), "")
    return Person(student.id, first, last, student.email, lms)


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _names(students: Iterable[str]) -> list[str]:
    return [printable(student) for student in students]


def _say(sentence: str) -> None:
    print(sentence, file=sys.stderr, flush=True)
