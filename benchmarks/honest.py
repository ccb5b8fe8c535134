"""The honest class, graded by plain nbgrader and by our grader: are the scores the same?

    python -m benchmarks.honest --students 34 --course /tmp/honest

Six lessons of 34 learners are 204 notebooks, and nbgrader takes seconds for each. With `--course`
its half is kept in that folder, and a second run grades with ours alone.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from tests.learners.submissions import LESSONS, Submission, the_class

from .side_by_side import Course

# Threads that wait for each other on a busy machine cost minutes and change no score.
ONE_THREAD = {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}


class Graded(Protocol):
    """A course whose gradebook can be read."""

    def scores(self, lesson: str) -> dict[str, dict[str, float | None]]: ...


@dataclass(frozen=True, slots=True)
class Difference:
    """An exercise with two scores."""

    submission: Submission
    exercise: str
    nbgrader: float | None
    ours: float | None

    def __str__(self) -> str:
        who = self.submission
        return (
            f"{who.student} {who.lesson} {self.exercise}: nbgrader {self.nbgrader}, "
            f"ours {self.ours}; answer {who.answers.get(self.exercise, 'untouched')}; "
            f"habits {', '.join(who.habits) or 'none'}; saved by {who.front_end}"
        )


@dataclass(slots=True)
class Row:
    """A lesson's comparison.

    Attributes:
        earned: points by nbgrader's scores.
        broken: submissions that nbgrader could not grade, left out of the comparison.
    """

    lesson: str
    submissions: int = 0
    exercises: int = 0
    identical: int = 0
    earned: float = 0.0
    differences: list[Difference] = field(default_factory=list)
    broken: list[Submission] = field(default_factory=list)


def grade_both(
    plain: Course, ours: Course, submissions: Sequence[Submission], jobs: int = 2
) -> None:
    """Grade a class on both sides; what nbgrader has graded already stays."""
    lessons = sorted({submission.lesson for submission in submissions})
    graded = {lesson: plain.scores(lesson) for lesson in lessons}
    missing = [each for each in submissions if each.student not in graded[each.lesson]]
    ours.hand_in(submissions)
    if missing:
        plain.hand_in(missing)
        _say(f"nbgrader took {plain.autograde():.0f} s for {len(missing)} notebooks.")
    for lesson in lessons:
        _say(f"{lesson}: ours took {ours.grade(lesson, '--jobs', str(jobs)):.1f} s.")


def compare(plain: Graded, ours: Graded, submissions: Iterable[Submission]) -> list[Row]:
    """Scores side by side, exercise by exercise."""
    rows: dict[str, Row] = {}
    books = {}
    for submission in submissions:
        lesson = submission.lesson
        if lesson not in rows:
            rows[lesson] = Row(lesson)
            books[lesson] = plain.scores(lesson), ours.scores(lesson)
        row = rows[lesson]
        theirs, mine = (book.get(submission.student, {}) for book in books[lesson])
        if not theirs or None in theirs.values():
            row.broken.append(submission)
            continue
        row.submissions += 1
        for exercise, score in theirs.items():
            row.exercises += 1
            row.earned += score or 0.0
            if mine.get(exercise) == score:
                row.identical += 1
            else:
                row.differences.append(Difference(submission, exercise, score, mine.get(exercise)))
    return list(rows.values())


def as_text(rows: Sequence[Row], broken: Sequence[Submission]) -> str:
    """The table, then each difference with what made it.

    Args:
        broken: submissions that nbgrader was not given, as it stops at them.
    """
    lines = [f"{'lesson':<16} {'submissions':>11} {'exercises':>9} {'identical':>9} {'points':>7}"]
    total = Row("all")
    for row in rows:
        lines.append(_line(row))
        total.submissions += row.submissions
        total.exercises += row.exercises
        total.identical += row.identical
        total.earned += row.earned
    lines.append(_line(total))
    lines += [f"  {each}" for row in rows for each in row.differences]
    broken = [*broken, *(each for row in rows for each in row.broken)]
    if broken:
        lines.append("Left out, as nbgrader itself cannot grade them:")
        lines += [f"  {each.student} {each.lesson}: {', '.join(each.habits)}" for each in broken]
    return "\n".join(lines)


def _line(row: Row) -> str:
    return (
        f"{row.lesson:<16} {row.submissions:>11} {row.exercises:>9} {row.identical:>9} "
        f"{row.earned:>7g}"
    )


def _say(sentence: str) -> None:
    print(sentence, file=sys.stderr, flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.honest", description=__doc__)
    parser.add_argument("--students", type=int, default=34, metavar="N")
    parser.add_argument("--lesson", choices=LESSONS, help="one lesson; all of them if left out")
    parser.add_argument("--seed", type=int, default=1, help="of the class")
    parser.add_argument("--course", type=Path, metavar="FOLDER", help="keep nbgrader's half here")
    arguments = parser.parse_args()
    lessons = [arguments.lesson] if arguments.lesson else LESSONS
    submissions = list(the_class(arguments.students, lessons, arguments.seed))
    # One of them in nbgrader's half would leave the others ungraded.
    broken = [each for each in submissions if each.breaks_nbgrader]
    submissions = [each for each in submissions if not each.breaks_nbgrader]
    with tempfile.TemporaryDirectory() as scratch:
        kept = arguments.course or Path(scratch) / "nbgrader"
        ours = Course(Path(scratch) / "ours")
        plain = Course(kept, ONE_THREAD, like=ours)
        grade_both(plain, ours, submissions)
        rows = compare(plain, ours, submissions)
    print(as_text(rows, broken))
    return int(any(row.differences for row in rows))


if __name__ == "__main__":
    sys.exit(main())
