"""`python -m tests.readme`: write into README and lessons' first cells what is known elsewhere.

Rows and totals of the course come from the registry of lessons and the declared points, what the
checks are tested with from the bank, the answers and the record of `make prove`, how one gets the
course from where it is published. Each stands between two comments of its name.
"""

from __future__ import annotations

import re
import sys

from attnlab import lessons, published
from attnlab.checks.bank import bank
from docs import doors
from tests.answers import all_answers
from tests.course import ROOT
from tests.mutants import reviewed
from tests.registry import of_the_registry

README = ROOT / "README.md"
RECORD = ROOT / "tests" / "proved.md"
_FIRST = re.compile(r"^from attnlab import .*# is it missing\?.*$", re.MULTILINE)


def table() -> str:
    """A row for each lesson, planned ones too, and what those that are there add up to."""
    there = [lessons.lesson(slug) for slug in lessons.slugs()]
    exercises = {about.slug: lessons.exercises_of(about.slug).values() for about in there}
    minutes = sum(about.minutes for about in there)
    points = {slug: sum(each.points for each in asked) for slug, asked in exercises.items()}
    worth, number = sum(points.values()), sum(map(len, exercises.values()))
    return "\n".join(
        [
            "",
            "| lesson | what you build | minutes | points | status |",
            "|---|---|---|---|---|",
            *(_row(about, f"{points[about.slug]:g}", "available") for about in there),
            *(_row(about, "–", "planned") for about in lessons.planned()),
            "",
            f"Available: {len(there)} lessons, about {minutes} minutes, {worth:g} points in "
            f"{number} exercises.",
            "",
        ]
    )


def ways() -> str:
    """The ways through, a line each, and what to read of a lesson that is skipped."""
    rows = (f"- **{way.name}**{str(way).removeprefix(way.name)}." for way in lessons.ROUTES)
    return "\n".join(["", *rows, "", lessons.SKIPPED, ""])


def start(places: published.Places) -> str:
    """How the course is tried and got."""
    return f"\n{doors.tried(places)}{doors.got(places)}"


def first_cell(text: str, places: published.Places) -> str:
    """A lesson's text, with the first cell's hint for whoever has no such package."""
    return _FIRST.sub(lambda found: published.imported(places), text)


def of_answers() -> str:
    """What the checks are tried with, if all of it fares as the tests say that it does."""
    exercises = [each for slug in lessons.slugs() for each in lessons.exercises_of(slug).values()]
    declared = sum(len({mistake.slug for mistake in bank(each)}) for each in exercises)
    answers = all_answers()
    written, slips = ([a for a in answers if a.written is whole] for whole in (True, False))
    wrong, right = ([a for a in written if bool(a.slug) is is_wrong] for is_wrong in (True, False))
    kept = sum(not slip.slug for slip in slips)
    return (
        f"{len(exercises)} exercises, {declared} declared mistakes that are named; "
        f"{len(wrong)} wrong answers rejected and {len(right)} right ones accepted that are "
        f"written by hand; and {len(slips)} slips made by rule around one right answer for each "
        f"kind of result, {len(slips) - kept} rejected and {kept} that spoil nothing"
    )


def of_mutants() -> str:
    """What became of mutants and answers when `make prove` ran last, as it wrote it down."""
    rows = re.findall(r"^\| \d\S+ \|(.*)\|$", RECORD.read_text(encoding="utf-8"), re.MULTILINE)
    cells = [[cell.strip().replace(",", "") for cell in row.split("|")] for row in rows]
    made, left, seeds, judged, other = (
        [int(row[column]) for row in cells] for column in range(2, 7)
    )
    known = len(reviewed())
    rejected = sum(made) - sum(left) - known
    alike = f"{sum(judged) - sum(other):,} of {sum(judged):,} judgements of answers"
    return (
        f"{rejected} of {sum(made)} mutants rejected and {known} reviewed, as they are right as "
        f"well; on {min(seeds)} seeds or more, {alike} as in the lesson"
    )


def _row(about: lessons.Lesson, points: str, status: str) -> str:
    lesson = f"{about.number:02} {about.title}"
    return f"| {lesson} | {about.builds} | {about.minutes} | {points} | {status} |"


def replaced(text: str, name: str, content: str) -> str:
    """A text with other content between the comments of this name.

    Raises:
        LookupError: they are not there, once, in this order.
    """
    opening, closing = f"<!-- {name} -->", f"<!-- /{name} -->"
    found = re.findall(f"{opening}.*?{closing}", text, re.DOTALL)
    if len(found) != 1:
        raise LookupError(f"README.md has no {opening} with a {closing} after it, or several")
    return text.replace(found[0], f"{opening}{content}{closing}")


def main() -> None:
    places = published.PUBLISHED_AT
    if slips := [*filter(None, [published.wrong(places)]), *of_the_registry()]:
        sys.exit("\n".join(slips))
    for slug in lessons.slugs():
        path = ROOT / "solutions" / slug / f"{slug}.py"
        was = path.read_text(encoding="utf-8")
        if (now := first_cell(was, places)) != was:
            path.write_text(now, encoding="utf-8")
    text = replaced(README.read_text(encoding="utf-8"), "lessons", table())
    text = replaced(text, "ways", ways())
    text = replaced(text, "start", start(places))
    text = replaced(text, "totals", of_answers())
    text = replaced(text, "mutants", of_mutants())
    README.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
