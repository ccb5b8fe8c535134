"""How far a learner is: of each exercise the best that was reached, and what to do next."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from attnlab import lessons, quizzes
from attnlab.ipynb.read import Cell, Unreadable
from attnlab.work.places import Course, lesson_path
from attnlab.work.progress import CHOSE, READ, Record

STOPPED = {"ERROR": "raised", "TIMEOUT": "still-running", "OOM": "out-of-memory"}
NO_ATTEMPT = ("BEGUN", "READ", "MISSING", "UNKNOWN")


@dataclass(frozen=True, slots=True)
class Exercise:
    """One exercise.

    Attributes:
        score: the most that a check has given.
        passed: whether one gave all.
        tried: whether a check has seen more than the stub.
        read: whether its solution was looked at before it passed.
        earlier: points that a check gave when it asked for something else.
        asked: whether the lesson asks for it still.
    """

    name: str
    points: float
    score: float
    passed: bool
    tried: bool
    read: bool
    earlier: float = 0.0
    asked: bool = True

    @property
    def said(self) -> str:
        if self.passed:
            return "right, after reading the solution" if self.read else "right"
        if self.tried:
            return "not right yet, solution read" if self.read else "not right yet"
        if self.earlier:
            now = "it asks for something else" if self.asked else "the lesson does not ask for it"
            return f"{_points(self.earlier)} earlier; {now} now"
        return "open"


@dataclass(frozen=True, slots=True)
class Standing:
    """One lesson.

    Attributes:
        begun: whether anything was done in it.
        quiz: how many of its questions were right, and how many answered; guesses left out.
        gone: exercises that it asks for no more, and that had earned points.
    """

    lesson: lessons.Lesson
    exercises: tuple[Exercise, ...]
    begun: bool
    quiz: tuple[int, int] = (0, 0)
    gone: tuple[Exercise, ...] = ()

    @property
    def score(self) -> float:
        return sum(exercise.score for exercise in self.exercises)

    @property
    def points(self) -> float:
        return sum(exercise.points for exercise in self.exercises)

    @property
    def passed(self) -> int:
        return sum(exercise.passed for exercise in self.exercises)

    @property
    def done(self) -> bool:
        return self.passed == len(self.exercises) > 0

    @property
    def said(self) -> str:
        """'4 of 6 points, 2 of 3 exercises'."""
        number = len(self.exercises)
        exercises = f"{self.passed} of {number} exercise{'' if number == 1 else 's'}"
        return f"{self.score:g} of {_points(self.points)}, {exercises}"

    @property
    def worth(self) -> str:
        """'6 points, 3 exercises', of one that was not begun."""
        number = len(self.exercises)
        return f"{_points(self.points)}, {number} exercise{'' if number == 1 else 's'}"

    @property
    def lost(self) -> list[Exercise]:
        """What earned points once that do not count now."""
        return [one for one in (*self.exercises, *self.gone) if one.earlier and not one.score]

    @property
    def open(self) -> list[Exercise]:
        return [exercise for exercise in self.exercises if not exercise.passed]


@dataclass(frozen=True, slots=True)
class Mistake:
    """A mistake that checks have named.

    Attributes:
        times: in how many answers, as far as can be told: an answer that is checked again and
            comes out alike is the same one.
        where: 'lesson 06, attention', each once.
        mended: whether all exercises that had it are right now.
        why: that is wrong, as a card said; '' if none did.
    """

    slug: str
    times: int
    where: tuple[str, ...]
    mended: bool
    why: str

    @property
    def said(self) -> str:
        """'2 times (lesson 06, attention), mended. Why…'."""
        times = "once" if self.times == 1 else f"{self.times} times"
        state = "mended" if self.mended else "still there"
        return f"{times} ({'; '.join(self.where)}), {state}. {self.why}".strip()


def standing(slug: str, declared: Mapping[str, float], records: Iterable[Record]) -> Standing:
    """A lesson's, from its exercises' points and from what was noted."""
    mine = [record for record in records if record.lesson == slug]
    found = []
    for name, points in declared.items():
        every = [record for record in mine if record.exercise == name]
        about = [record for record in every if not record.is_earlier]
        earlier = max([0.0, *(record.score for record in every if record.is_earlier)])
        passes = [at for at, record in enumerate(about) if record.status == "PASS"]
        reads = [at for at, record in enumerate(about) if record.status == READ]
        best = max([0.0, *(min(record.score, points) for record in about)])
        found.append(
            Exercise(
                name,
                points,
                points if passes else best,
                bool(passes),
                any(record.status not in NO_ATTEMPT for record in about),
                bool(reads) and (not passes or reads[0] < passes[0]),
                earlier,
            )
        )
    had: dict[str, float] = {}
    for record in mine:
        if record.exercise not in declared and record.status != CHOSE:
            had[record.exercise] = max(record.score, had.get(record.exercise, 0.0))
    gone = [
        Exercise(name, 0.0, 0.0, False, False, False, earlier=score, asked=False)
        for name, score in had.items()
        if score
    ]
    asked = lessons.lesson(slug)
    return Standing(asked, tuple(found), bool(mine), quizzes.counted(slug, mine), tuple(gone))


def _points(number: float) -> str:
    return f"{number:g} {'point' if number == 1 else 'points'}"


def standings(course: Course, records: Sequence[Record]) -> list[Standing]:
    """Of all lessons that were handed out."""
    found = []
    for slug in lessons.slugs():
        if points := declared(course, slug):
            found.append(standing(slug, points, records))
    return found


def next_up(found: Sequence[Standing], records: Sequence[Record]) -> Standing | None:
    """The lesson to go on with: the last one touched, else the first after it that is not done."""
    slugs = [each.lesson.slug for each in found]
    touched = [slugs.index(record.lesson) for record in records if record.lesson in slugs]
    last = touched[-1] if touched else 0
    return next((each for each in (*found[last:], *found[:last]) if not each.done), None)


def mistakes(found: Sequence[Standing], records: Iterable[Record]) -> list[Mistake]:
    """Those that were met, crashes and time-outs too: what still stands first, then by how often.

    Crashes are one, `raised`, with the last one's reason.
    """
    passed = {(each.lesson.slug, one.name): one.passed for each in found for one in each.exercises}
    before: dict[tuple[str, str], tuple[str, float, str]] = {}
    met: dict[str, list[tuple[str, str]]] = {}
    why: dict[str, str] = {}
    for record in records:
        home = (record.lesson, record.exercise)
        if home not in passed or record.status == READ or record.is_earlier:
            continue
        slug = record.mistake or STOPPED.get(record.status, "")
        outcome = (record.status, record.score, slug)
        if slug and before.get(home) != outcome:
            met.setdefault(slug, []).append(home)
            why[slug] = record.why or why.get(slug, "")
        before[home] = outcome
    told = [
        Mistake(
            slug,
            len(homes),
            tuple(dict.fromkeys(f"lesson {lesson[:2]}, {name}" for lesson, name in homes)),
            all(passed[home] for home in homes),
            why[slug],
        )
        for slug, homes in met.items()
    ]
    return sorted(told, key=lambda one: (one.mended, -one.times, one.slug))


def declared(course: Course, slug: str) -> dict[str, float]:
    """The points of a lesson's exercises, without loading PyTorch to ask them; {} if unreadable."""
    try:
        stamp = (course.released / lesson_path(slug)).stat().st_mtime_ns
    except OSError:
        return {}
    return _points_in(course, slug, stamp)


@cache
def _points_in(course: Course, slug: str, stamp: int) -> dict[str, float]:
    try:
        cells = course.handed_out(slug)
    except Unreadable:
        return {}
    return points_in(cells)


def points_in(cells: Iterable[Cell]) -> dict[str, float]:
    """What the exercises of a lesson are worth, by its notebook."""
    points = {cell.exercise: cell.nbgrader.get("points") for cell in cells if cell.is_check}
    return {name: float(each) for name, each in points.items() if isinstance(each, (int, float))}
