"""The page about a class: what it got wrong, what that cost, and who may need a person.

It comes in two: one without names, to be shown in class, and the teacher's. Neither needs a network
or a script. All that a learner chose, code and names included, is escaped; a policy in the head
stops scripts even so.
"""

from __future__ import annotations

import html
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import mean, quantiles

from attnlab.ipynb.words import POLICY, printable
from attnlab.lessons import Lesson
from autograder.term.anonymous import Anonymous
from autograder.term.claims import Lost, dearest
from autograder.term.class_results import ClassResults, Student
from autograder.term.mistakes import Mistake
from autograder.term.plots import Bar, Parts, bars, histogram, stacked
from autograder.term.style import STYLE

_NAMES, _EXAMPLES, _CLAIMS = 20, 8, 8
_LINES = 60  # of an answer that is shown


@dataclass(frozen=True, slots=True)
class Found:
    """What there is to show.

    Attributes:
        answers: by student and exercise.
    """

    results: ClassResults
    lesson: Lesson
    mistakes: Mapping[str, Sequence[Mistake]]
    lost: Mapping[str, Lost]
    answers: Mapping[str, Mapping[str, str]]
    anonymous: Anonymous


def render(found: Found, names: bool) -> str:
    """The page.

    Args:
        names: whether it is the teacher's, which names students.
    """
    return _Page(found, names).text()


class _Page:
    """One page, by its sections."""

    def __init__(self, found: Found, names: bool) -> None:
        self._found, self._names, self._results = found, names, found.results
        self._graded = {student.id: student for student in found.results.graded}

    def text(self) -> str:
        title = f"Lesson {self._found.lesson.number:02}, {self._found.lesson.title.lower()}"
        if self._names:
            whose, said = "named", "With names: for the teacher alone. Do not show it in class."
        else:
            whose, said = "shown", "Without names: made to be shown in class."
        sections = [self._glance(), self._people(), self._exercises()]
        sections += [self._mistakes(), self._claims()]
        return (
            '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
            f"{POLICY}"
            '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
            f"<title>{_text(title)}: the class</title>\n<style>{STYLE}</style>\n</head>\n<body>\n"
            f'<main>\n<p class="{whose}">{said}</p>\n<h1>{_text(title)}: the class</h1>\n'
            + "".join(sections)
            + "</main>\n</body>\n</html>\n"
        )

    # What the class came to

    def _glance(self) -> str:
        results, graded = self._results, self._results.graded
        invalid = len(results.students) - len(graded)
        said = [f"{_students(len(graded))} graded"]
        said += [f"{invalid} handed in what is no notebook of this lesson"] if invalid else []
        said += [f"{len(results.waiting)} not graded yet"] if results.waiting else []
        said += [f"{len(results.absent)} handed in nothing"] if results.absent else []
        head = f'<p class="lead">{"; ".join(said)}.</p>\n'
        if not graded:
            return f"{head}<p>So there is nothing to tell of their answers.</p>\n"
        scores, most = [student.score for student in graded], results.points
        low, middle, upper = _quartiles(scores)
        numbers = [
            ("mean", f"{mean(scores):.2f} of {most:g} points"),
            ("lower quartile", f"{low:g}"),
            ("median", f"{middle:g}"),
            ("upper quartile", f"{upper:g}"),
        ]
        hardest = min(results.exercises, key=self._share)
        numbers.append(("hardest", f"{hardest}, {self._share(hardest):.0%} of its points"))
        rows = "".join(f"<div><dt>{_text(k)}</dt><dd>{_text(v)}</dd></div>" for k, v in numbers)
        alt = (
            f"Histogram of {len(scores)} scores from 0 to {most:g} points. Mean {mean(scores):.2f},"
            f" quartiles {low:g}, {middle:g} and {upper:g}."
        )
        note = "Points are the gradebook's, before lateness takes any off."
        if by_hand := sum(map(_is_by_hand, graded)):
            note += f" Of {_students(by_hand)} a person set points."
        if late := [student for student in graded if student.penalty]:
            note += f" Lateness costs {_students(len(late))} points."
        return (
            f'{head}<dl class="numbers">{rows}</dl>\n'
            f"<figure>{histogram(scores, most, (low, middle, upper), alt)}"
            f"<figcaption>How many students reached how many points. {note}</figcaption></figure>\n"
        )

    def _share(self, exercise: str) -> float:
        """The part of an exercise's points that the class reached."""
        worth = self._results.exercises[exercise]
        marks = [student.marks.get(exercise, 0.0) for student in self._results.graded]
        return mean(marks) / worth if worth else 1.0

    def _exercises(self) -> str:
        if not self._results.graded:
            return ""
        rows, cells, said = [], [], []
        for name, worth in self._results.exercises.items():
            counts = self._counts(name)
            rows.append(Parts(f"{name}, {self._share(name):.0%} of {worth:g}", counts))
            right, part, none, _ = counts
            said.append(f"{name}: {right} right, {part} with part of the points, {none} with none")
            points = self._share(name) * worth
            cells.append([_code(name), *map(str, counts), f"{points:.2f} of {worth:g}"])
        head = ["exercise", "right", "part of the points", "no points", "not written", "mean"]
        alt = f"A bar for each exercise, in parts. {'; '.join(said)}."
        return _section(
            "Exercises",
            f"<figure>{stacked(rows, alt)}<figcaption>What became of each exercise. The percentage "
            f"is of its points, over the class.</figcaption></figure>\n{_table(head, cells)}",
        )

    def _counts(self, exercise: str) -> tuple[int, ...]:
        """How many were right, partly right, wrong, and not written."""
        kinds = [0, 0, 0, 0]
        for student in self._results.graded:
            for item in student.result["exercises"]:
                if item["name"] == exercise:
                    kinds[_kind(item["status"], item["score"])] += 1
        return tuple(kinds)

    # What went wrong

    def _mistakes(self) -> str:
        if not self._results.graded:
            return ""
        parts = [
            "<p>A mistake has a name where an answer's numbers are that mistake's, or where what "
            "Python raised tells it; else it is called by what differed. "
            + (
                "Examples have no comments and no names; whose they are stands below.</p>\n"
                if self._names
                else "Examples are answers of this class, without comments and names.</p>\n"
            )
        ]
        for exercise, mistakes in self._found.mistakes.items():
            if not mistakes:
                continue
            rows = [
                Bar(each.name, len(each.students), str(len(each.students)))
                for each in mistakes[:_EXAMPLES]
            ]
            told = ", ".join(f"{row.label} {row.number}" for row in rows)
            alt = f"Bars: how many students made which mistake in {exercise}: {told}."
            cards = "".join(self._card(exercise, each) for each in mistakes[:_EXAMPLES])
            parts.append(
                f"<h3>{_code(exercise)}</h3>\n<figure>{bars(rows, alt)}<figcaption>Students by "
                f'mistake.</figcaption></figure>\n<div class="side">{cards}</div>\n'
            )
            if rest := mistakes[_EXAMPLES:]:
                items = "".join(
                    f"<li>{_ticked(self._shown(each.name))}: {len(each.students)}"
                    f"{self._who(each.students)}</li>"
                    for each in rest
                )
                parts.append(f"<p>Rarer:</p><ul>{items}</ul>\n")
        if len(parts) == 1:
            parts = ["<p>Nobody made a mistake in what was written.</p>\n"]
        return _section("Mistakes", "".join(parts))

    def _card(self, exercise: str, mistake: Mistake) -> str:
        said, count = mistake.said, len(mistake.students)
        points = f"{_points(mistake.lost)} lost"
        parts = [
            f"<h4>{_ticked(self._shown(mistake.name))}</h4>\n",
            f'<p class="quiet">{_students(count)}, {points}{_following(mistake)}</p>\n',
        ]
        if said is not None:
            parts += [f"<p>{_ticked(said.reason)}</p>\n" if said.reason else ""]
            parts += [f"<p><b>Try</b> {_ticked(said.remedy)}</p>\n" if said.remedy else ""]
            if said.differed:
                differed = self._found.anonymous.text(said.differed)
                parts.append(f'<p class="quiet">For this one: {_ticked(_cut(differed))}</p>\n')
        if mistake.example and count == 1 and not self._names:
            parts.append('<p class="quiet">Their answer is not shown: they would know it.</p>\n')
        elif mistake.example:
            shown = self._found.anonymous.code(mistake.example)
            parts.append(_pre(shown, f"An answer to {exercise} with this mistake"))
            if self._names:
                parts.append(f'<p class="quiet">Written by {_name(mistake.whose)}</p>\n')
        elif mistake.follows.total() == count:
            parts.append('<p class="quiet">What they wrote here may be right.</p>\n')
        else:
            parts.append('<p class="quiet">No answer with it can be read any more.</p>\n')
        if count > 1 or not mistake.example:
            parts.append(self._who(mistake.students, before=f"All {count}: "))
        return f"<article>{''.join(parts)}</article>\n"

    def _shown(self, name: str) -> str:
        return self._found.anonymous.text(name)

    # What it cost

    def _claims(self) -> str:
        lost = self._found.lost
        costly = [each for each in dearest(lost, _CLAIMS) if each[1].lost > 0]
        parts = []
        if costly:
            rows = [
                Bar(f"{name}: {claim.text}", claim.lost, f"{claim.lost:g}")
                for name, claim in costly
            ]
            alt = "Bars: points that the class lost by the dearest claims. " + "; ".join(
                f"{row.label}, {row.number}" for row in rows
            )
            parts.append(
                f"<figure>{bars(rows, alt)}<figcaption>Points that the class lost, by claim: the "
                f"dearest {len(rows)}.</figcaption></figure>\n"
            )
        unknown: set[str] = set()
        head = ["claim", "does not hold", "not tried", "holds, and waits", "points lost"]
        for name, each in lost.items():
            unknown.update(each.unknown)
            cells = [
                [
                    _ticked(claim.text),
                    *(str(len(those)) for those in (claim.false, claim.untried, claim.waiting)),
                    f"{claim.lost:g}",
                ]
                for claim in each.claims
            ]
            if each.before:
                before = "<i>before any claim was tried: nothing written, stopped, or refused</i>"
                cells.append([before, "", str(len(each.before)), "", f"{each.before_points:g}"])
            if cells:
                parts.append(f"<h3>{_code(name)}</h3>\n{_table(head, cells)}")
        if parts:
            parts.insert(
                0,
                "<p>What each claim of the checks cost, by the autograder's points. A claim that "
                "holds earns nothing until the first of its exercise holds.</p>\n",
            )
        if unknown:
            parts.append(
                f"<p>Of {_students(len(unknown))} it was not kept which claims failed: they were "
                "graded before that was noted. To know it, grade the lesson again.</p>\n"
            )
        if not parts:
            parts = ["<p>No claim cost anybody a point.</p>\n"] if self._results.graded else []
        return _section("What each claim cost", "".join(parts)) if parts else ""

    # Who may need a person

    def _people(self) -> str:
        """On the teacher's page alone; the other has the numbers at its top."""
        if not self._names:
            return ""
        results = self._results
        stuck = {each.id: each.why_stuck for each in results.graded if each.why_stuck}
        invalid = [each.id for each in results.students if not each.is_graded]
        lists: list[tuple[str, Collection[str]]] = [
            ("Seem stuck: several hand-ins that came to no more, or 0 points for what they wrote",
             stuck),
            ("Handed in what could not be graded", invalid),
            ("Handed in, and not graded yet", results.waiting),
            (f"Handed in nothing, of {'the roster' if results.from_roster else 'the gradebook'}",
             results.absent),
        ]  # fmt: skip
        items = "".join(
            f"<li><b>{len(those)}</b> {_text(what)}{self._who(those, stuck)}</li>"
            for what, those in lists
            if those
        )
        if not items:
            return ""
        return _section("Who may need a person", f'<ul class="people">{items}</ul>\n')

    def _who(
        self, students: Collection[str], why: Mapping[str, str] | None = None, before: str = ""
    ) -> str:
        """Their names, on the teacher's page alone."""
        if not self._names or not students:
            return ""
        names = [_name(each) + _because(why, each) for each in sorted(students)[:_NAMES]]
        if len(students) > _NAMES:
            names.append(f"and {len(students) - _NAMES:,} more, in the table")
        return f'<p class="who">{before}{", ".join(names)}</p>\n'


def _kind(status: str, score: float) -> int:
    if status == "PASS":
        return 0
    if status == "MISSING":
        return 3
    return 1 if score > 0 else 2


def _is_by_hand(student: Student) -> bool:
    """Whether the gradebook has other points than the autograder gave."""
    given = {item["name"]: item["score"] for item in student.result["exercises"]}
    return any(abs(student.marks.get(name, 0.0) - score) > 1e-6 for name, score in given.items())


def _quartiles(scores: Sequence[float]) -> tuple[float, float, float]:
    if len(scores) == 1:
        return scores[0], scores[0], scores[0]
    low, middle, upper = (round(each, 2) for each in quantiles(scores, n=4, method="inclusive"))
    return low, middle, upper


def _following(mistake: Mistake) -> str:
    """'; in 4 of them `causal_mask` fails already'."""
    everyone = len(mistake.students)
    said = [
        f"in {'all' if count == everyone else count} of them {_code(name)}, which it calls, fails "
        "itself"
        for name, count in sorted(mistake.follows.items())
    ]
    return "; " + "; ".join(said) if said else ""


def _because(why: Mapping[str, str] | None, student: str) -> str:
    said = (why or {}).get(student, "")
    return f" ({_text(said)})" if said else ""


def _section(title: str, body: str) -> str:
    return f"<section>\n<h2>{_text(title)}</h2>\n{body}</section>\n"


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Rows of HTML, the first column of words and the others of numbers."""
    top = "".join(f'<th scope="col">{_text(each)}</th>' for each in head)
    body = "".join(
        f'<tr><th scope="row">{row[0]}</th>' + "".join(f"<td>{each}</td>" for each in row[1:])
        + "</tr>\n"
        for row in rows
    )  # fmt: skip
    return f"<table><thead><tr>{top}</tr></thead>\n<tbody>{body}</tbody></table>\n"


def _pre(source: str, label: str) -> str:
    """Code, to be read."""
    lines = source.strip("\n").expandtabs(4).splitlines()
    cut = [*lines[:_LINES], "… (cut here)"] if len(lines) > _LINES else lines
    shown = _text("\n".join(cut)[:6000])
    return (
        f'<pre tabindex="0" role="group" aria-label="{_text(label)}"><code>{shown}</code></pre>\n'
    )


def _cut(text: str, most: int = 400) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"


def _students(count: int) -> str:
    return "1 student" if count == 1 else f"{count:,} students"


def _points(points: float) -> str:
    return f"{points:g} point" + ("" if points == 1 else "s")


def _name(student: str) -> str:
    return f"<bdi>{_text(printable(student))}</bdi>"


def _code(name: str) -> str:
    return f"<code>{_text(name)}</code>"


def _ticked(text: str) -> str:
    """Text with `code` between backticks, and a *word* between stars, as on a card."""
    marked = re.sub("`([^`]+)`", r"<code>\1</code>", _text(" ".join(text.split())))
    return re.sub(r"(?<![\w*])\*(\w+)\*(?![\w*])", r"<em>\1</em>", marked)


def _text(text: str) -> str:
    return html.escape(text, quote=True)
