"""The page about a class: what it got wrong, what that cost, and who may need a person.

It comes in two: one without names, to be shown in class, and the teacher's. Neither needs a network
or a script. All that a learner chose, code and names included, is escaped; a policy in the head
stops scripts even so.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import mean, median
from textwrap import shorten
from types import MappingProxyType

from attnlab.ipynb.words import printable
from attnlab.lessons import Lesson
from autograder.pages.feedback import text_of as _text
from autograder.pages.feedback import whole
from autograder.term.anonymous import Anonymous
from autograder.term.class_results import ClassResults, Student
from autograder.term.look import STYLE, histogram
from autograder.term.mistakes import BEFORE, Mistake, lost_by_claim

_NAMES, _EXAMPLES = 20, 8
_LINES = 60  # of an answer that is shown
# What becomes of an exercise: a class of the style, and what a table says.
_KINDS = {
    "passed": "right",
    "partly": "part of the points",
    "failed": "no points",
    "missing": "not written",
}


@dataclass(frozen=True, slots=True)
class Page:
    """What there is to show; with names it is the teacher's page."""

    results: ClassResults
    lesson: Lesson
    mistakes: Mapping[str, Sequence[Mistake]]
    anonymous: Anonymous
    names: bool

    def text(self) -> str:
        """All of it, as HTML."""
        title = f"Lesson {self.lesson.number:02}, {self.lesson.title.lower()}: the class"
        if self.names:
            whose, said = "named", "With names: for the teacher alone. Do not show it in class."
        else:
            whose, said = "shown", "Without names: made to be shown in class."
        sections = {"Who may need a person": self._people()} if self.names else {}
        if self.results.graded:
            sections |= {"Exercises": self._exercises(), "Mistakes": self._mistakes()}
            sections["What each claim cost"] = self._claims()
        body = "".join(
            f"<section>\n<h2>{head}</h2>\n{part}</section>\n" for head, part in sections.items()
        )
        head = f'<p class="{whose}">{said}</p>\n<h1>{_text(title)}</h1>\n{self._glance()}'
        return whole(title, head + body, STYLE)

    def _glance(self) -> str:
        """What the class came to."""
        results, graded = self.results, self.results.graded
        others = {
            "handed in what is no notebook of this lesson": len(results.students) - len(graded),
            "not graded yet": len(results.waiting),
            "handed in nothing": len(results.absent),
        }
        said = "".join(f"; {count} {what}" for what, count in others.items() if count)
        head = f'<p class="lead">{_students(len(graded))} graded{said}.</p>\n'
        if not graded:
            return f"{head}<p>So there is nothing to tell of their answers.</p>\n"
        scores, most = [student.score for student in graded], sum(results.exercises.values())
        hardest = min(results.exercises, key=self._share)
        numbers = {
            "mean": f"{mean(scores):.2f} of {most:g} points",
            "median": f"{median(scores):g}",
            "hardest": f"{hardest}, {self._share(hardest):.0%} of its points",
        }
        rows = "".join(f"<div><dt>{k}</dt><dd>{_text(v)}</dd></div>" for k, v in numbers.items())
        alt = f"Histogram of {len(scores)} scores from 0 to {most:g}, median {median(scores):g}."
        note = "Points are the gradebook's, before lateness takes any off."
        if by_hand := sum(map(_is_by_hand, graded)):
            own = mean(student.result["score"] for student in graded)
            note += (
                f" Of {_students(by_hand)} a person set points: the autograder's own mean, which "
                f"the summary says, is {own:.2f}."
            )
        if late := sum(student.penalty > 0 for student in graded):
            note += f" Lateness costs {_students(late)} points."
        return (
            f'{head}<dl class="numbers">{rows}</dl>\n<figure>{histogram(scores, most, alt)}'
            f"<figcaption>How many students reached how many points. {note}</figcaption></figure>\n"
        )

    def _share(self, exercise: str) -> float:
        """The part of an exercise's points that the class reached."""
        worth = self.results.exercises[exercise]
        marks = [student.marks.get(exercise, 0.0) for student in self.results.graded]
        return mean(marks) / worth if worth else 1.0

    def _exercises(self) -> str:
        rows = []
        for name, worth in self.results.exercises.items():
            counts = dict.fromkeys(_KINDS, 0)
            for student in self.results.graded:
                for item in student.result["exercises"]:
                    if item["name"] == name:
                        mark = student.marks.get(name, 0.0)
                        counts[_kind(item["status"], mark, worth)] += 1
            share = self._share(name)
            points = f"{share * worth:.2f} of {worth:g}, {share:.0%}"
            rows.append([_ticked(f"`{name}`"), _bar(counts), *map(str, counts.values()), points])
        kinds = [f'<i class="{kind}"></i> {said}' for kind, said in _KINDS.items()]
        return _table(["exercise", "the class", *kinds, "mean"], rows)

    def _mistakes(self) -> str:
        """What went wrong: for each exercise a table, and an answer for each of the first."""
        parts = [
            "<p>A mistake has a name where an answer's numbers are that mistake's, or where what "
            "Python raised tells it; else it is called by what differed. Examples are answers of "
            "this class, without comments and names.</p>\n"
        ]
        for exercise, mistakes in self.mistakes.items():
            most = max((len(each.students) for each in mistakes), default=1)
            rows = [
                [
                    self._mistake(exercise, each, at < _EXAMPLES) + self._who(each.students),
                    str(len(each.students)),
                    _bar({"failed": len(each.students)}, most),
                    f"{each.lost:g}",
                ]
                for at, each in enumerate(mistakes)
            ]
            if rows:
                table = _table(["mistake", "students", "", "points lost"], rows)
                parts.append(f"<h3><code>{_text(exercise)}</code></h3>\n{table}")
        return "".join(parts) if parts[1:] else "<p>Nobody made a mistake in what was written.</p>"

    def _mistake(self, exercise: str, mistake: Mistake, whole: bool) -> str:
        """Its name; and what is said of it, with an answer that shows it."""
        said, count = mistake.said, len(mistake.students)
        name = f"<b>{_ticked(self.anonymous.text(mistake.name))}</b>"
        if not whole:
            return name
        differed = shorten(self.anonymous.text(said.differed), 400, placeholder=" …")
        told = {"": said.reason, "<b>Try</b> ": said.remedy, "For this one: ": differed}
        notes = [
            f"In {'all' if number == count else number} of them `{of}`, which it calls, fails."
            for of, number in sorted(mistake.follows.items())
        ]
        code = ""
        if mistake.example and (self.names or count > 1):
            label = f"An answer to {exercise} with this mistake"
            code = _pre(self.anonymous.code(mistake.example), label)
        elif mistake.example:
            notes.append("Their answer is not shown: they would know it.")
        elif mistake.follows.total() == count:
            notes.append("What they wrote here may be right.")
        else:
            notes.append("No answer with it can be read any more.")
        parts = [f"<p>{what}{_ticked(text)}</p>\n" for what, text in told.items() if text]
        parts += [f'<p class="quiet">{_ticked(note)}</p>\n' for note in notes]
        whose = f'<p class="quiet">Written by {_name(mistake.whose)}:</p>' * self.names * bool(code)
        return "".join([name, *parts, whose, code])

    def _claims(self) -> str:
        """What each claim of the checks cost."""
        claims, unknown = lost_by_claim(self.results)
        most = max((claim.lost for claim in claims), default=1.0)
        rows = [
            [
                _ticked(f"`{each.exercise}`"),
                f"<i>{BEFORE}</i>" if each.text == BEFORE else _ticked(each.text),
                *(str(each.students[holds]) for holds in (False, None, True)),
                f"{each.lost:g}",
                _bar({"failed": each.lost}, most),
            ]
            for each in claims
        ]
        said = "<p>No claim cost anybody a point.</p>\n"
        if rows:
            head = ["exercise", "claim", "does not hold", "not tried", "holds, and waits"]
            said = (
                "<p>By the autograder's points, the dearest first. A claim that holds earns "
                "nothing until the first of its exercise holds.</p>\n"
                + _table([*head, "points lost", ""], rows)
            )
        if unknown:
            said += (
                f"<p>Of {_students(len(unknown))} it was not kept which claims failed: they were "
                "graded before that was noted. To know it, grade the lesson again.</p>\n"
            )
        return said

    def _people(self) -> str:
        """Who may need a person, and why."""
        results = self.results
        stuck = {each.id: each.why_stuck for each in results.graded if each.why_stuck}
        invalid = [each.id for each in results.students if not each.is_graded]
        known = "the roster" if results.from_roster else "the gradebook"
        why = "several hand-ins that came to no more, or 0 points for what they wrote"
        lists: tuple[tuple[str, Collection[str]], ...] = (
            (f"Seem stuck: {why}", stuck),
            ("Handed in what could not be graded", invalid),
            ("Handed in, and not graded yet", results.waiting),
            (f"Handed in nothing, of {known}", results.absent),
        )
        items = "".join(
            f"<li><b>{len(those)}</b> {what}{self._who(those, stuck)}</li>"
            for what, those in lists
            if those
        )
        return f'<ul class="people">{items}</ul>\n' if items else "<p>Nobody.</p>\n"

    def _who(self, students: Collection[str], why: Mapping[str, str] = MappingProxyType({})) -> str:
        """Their names, on the teacher's page alone."""
        if not self.names:
            return ""
        told = [
            _name(each) + (f" ({_text(why[each])})" if each in why else "")
            for each in sorted(students)
        ]
        more = f", and {len(told) - _NAMES:,} more, in the table" * (len(told) > _NAMES)
        return f'<p class="who">{", ".join(told[:_NAMES])}{more}</p>\n'


def _kind(status: str, score: float, worth: float) -> str:
    """What became of an exercise, by the points that the gradebook has: a person's, if one did."""
    if score >= worth:
        return "passed"
    return "partly" if score > 0 else "missing" if status == "MISSING" else "failed"


def _is_by_hand(student: Student) -> bool:
    """Whether the gradebook has other points than the autograder gave."""
    given = {item["name"]: item["score"] for item in student.result["exercises"]}
    return any(abs(student.marks.get(name, 0.0) - score) > 1e-6 for name, score in given.items())


def _table(head: Iterable[str], rows: Iterable[Sequence[str]]) -> str:
    """Rows of HTML, the first column of words; a bar is for the eye, and its number beside it."""
    top = "".join(f'<th scope="col">{each}</th>' for each in head)
    body = "".join(
        f'<tr><th scope="row">{row[0]}</th>{"".join(f"<td>{each}</td>" for each in row[1:])}</tr>\n'
        for row in rows
    )
    return f"<table><thead><tr>{top}</tr></thead>\n<tbody>{body}</tbody></table>\n"


def _bar(parts: Mapping[str, float], most: float = 0.0) -> str:
    """A bar in parts, by their classes; as long as there is room, or as its share of the most."""
    whole = most or sum(parts.values()) or 1.0
    widths = {kind: 100 * length / whole for kind, length in parts.items() if length}
    each = (f'<i class="{kind}" style="width:{w:.1f}%"></i>' for kind, w in widths.items())
    return f'<span class="bar" aria-hidden="true">{"".join(each)}</span>'


def _pre(source: str, label: str) -> str:
    """Code, to be read."""
    lines = source.strip("\n").expandtabs(4).splitlines()
    shown = _text("\n".join([*lines[:_LINES], *["… (cut here)"] * (len(lines) > _LINES)]))
    return f'<pre tabindex="0" role="group" aria-label="{_text(label)}">{shown}</pre>\n'


def _students(count: int) -> str:
    return "1 student" if count == 1 else f"{count:,} students"


def _name(student: str) -> str:
    return f"<bdi>{_text(printable(student))}</bdi>"


def _ticked(text: str) -> str:
    """Text with `code` between backticks, and a *word* between stars, as on a card."""
    marked = re.sub("`([^`]+)`", r"<code>\1</code>", _text(" ".join(text.split())))
    return re.sub(r"(?<![\w*])\*(\w+)\*(?![\w*])", r"<em>\1</em>", marked)
