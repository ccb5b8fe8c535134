"""`attnlab.summary()`: the last cell of a lesson, which sums it up."""

from __future__ import annotations

import html
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from attnlab import begun, lessons
from attnlab.checks.card import first_sentence, lesson_arcs
from attnlab.home.own import OWN, drawn
from attnlab.home.sheet import ticked
from attnlab.home.standing import Mistake, Standing, mistakes, next_up, standing, standings
from attnlab.ipynb.words import few
from attnlab.said import speaks
from attnlab.work import progress
from attnlab.work.progress import Record

# The course home's address on the server that started this kernel; set by attnlab.home.server.
HOME_ADDRESS = "ATTNLAB_HOME"
MENDED = 5  # mistakes that are looked back on


@dataclass(frozen=True, slots=True)
class Summary:
    """A lesson's exercises and points, and the way on.

    Attributes:
        next: the lesson to go on with, as on the course home, None if there is none.
        home: address of the course home, '' where there is none.
        mended: mistakes that checks have named here, and that are mended.
        course: where no lesson is next, of each lesson whether it is done.
        drawn: what the learner's own function makes of the course's first words, as arcs; ''
            where the lesson has none that gives weights, or it gives others.
    """

    lesson: Standing
    next: Standing | None
    home: str
    mended: tuple[Mistake, ...] = ()
    drawn: str = ""
    course: Mapping[str, bool] = field(default_factory=dict)

    @property
    def _way(self) -> str:
        """What is next, in a line."""
        if self.next is None:
            return ""
        about = self.next.lesson
        if about == self.lesson.lesson:
            return f"Next: {self.next.open[0].name}, in this lesson"
        return f"Next: lesson {about.number:02}, {about.title}"

    def __repr__(self) -> str:
        each = self.lesson
        lines = [f"Lesson {each.lesson.number:02}, {each.lesson.title}: {each.said}"]
        lines += [f"  {_mark(one.passed)} {one.name}: {one.said}" for one in each.exercises]
        lines += [f"  mended: {each}" for each in self._mended]
        if self.drawn:
            lines.append(f"  {self._own} draws what the small model's own attention draws")
        if self._way:
            lines.append(self._way)
        return "\n".join(lines)

    @property
    def _own(self) -> str:
        return f"your own `{OWN[self.lesson.lesson.slug]}`"

    @property
    def _mended(self) -> list[str]:
        """Of each mended mistake why it was wrong, as its card began."""
        return few([first_sentence(one.why)[0] or one.slug for one in self.mended], MENDED)

    @property
    def _finish(self) -> str:
        """Of the whole course, where there is nothing left of it."""
        if not self.course:
            return ""
        drawn = lesson_arcs(self.course, of="the course")
        keep = "The course home makes a page of all this, to keep." if self.home else ""
        return f'<p style="margin:6px 0 0"><strong>Every lesson is done.</strong> {keep}</p>{drawn}'

    def _repr_html_(self) -> str:
        each = self.lesson
        accent = "#2a7f9e" if each.done else "#8a8a8a"
        title = f"Lesson {each.lesson.number:02}, {each.lesson.title}: {each.said}"
        rows = "".join(
            f'<li style="margin:0"><span aria-hidden="true">{_mark(one.passed)}</span> '
            f"<code>{html.escape(one.name)}</code>: {one.said} "
            f"({one.score:g} of {one.points:g})</li>"
            for one in each.exercises
        )
        passed = {one.name: one.passed for one in each.exercises}
        picture = ""
        if self.drawn:
            fitting = self.drawn.replace("<svg ", '<svg style="max-width:100%;height:auto" ', 1)
            picture = (
                f'<figure style="margin:8px 0 0">{fitting}<figcaption>'
                f"Drawn by {ticked(self._own)}, from what a small language "
                "model gives to one of its heads.</figcaption></figure>"
            )
        mended = "".join(f'<li style="margin:0">{ticked(one)}</li>' for one in self._mended)
        if mended:
            mended = (
                '<p style="margin:6px 0 0"><strong>Mended on the way</strong></p>'
                f'<ul style="margin:2px 0 4px">{mended}</ul>'
            )
        links = []
        if self.next:
            slug, way = self.next.lesson.slug, html.escape(self._way)
            here = slug == each.lesson.slug
            links.append(way if here else f'<a href="../{slug}/{slug}.ipynb">{way}</a>')
        if self.home:
            links.append(f'<a href="{html.escape(self.home, quote=True)}">Course home</a>')
        on = f'<p style="margin:6px 0 0">{" · ".join(links)}</p>' if links else ""
        return (
            f'<section aria-label="Summary of lesson {each.lesson.number:02}" '
            f'style="border-left:6px solid {accent};padding:4px 0 6px 12px;margin:4px 0;'
            'max-width:46em;line-height:1.5">'
            f'<p style="margin:0;font-weight:bold">{html.escape(title)}</p>'
            f"{lesson_arcs(passed)}"
            f'<ul style="list-style:none;margin:4px 0;padding:0">{rows}</ul>'
            f"{picture}{mended}{self._finish}{on}</section>"
        )


@speaks
def summary(lesson: str = "") -> Summary | str:
    """The lesson's exercises, what is open, and the link to the next lesson.

    Args:
        lesson: slug; without it, the lesson that was begun.
    Returns:
        What Jupyter shows; a sentence where no lesson was begun.
    """
    slug = lesson or begun.slug
    if slug not in lessons.slugs():
        return lessons.absent(slug) if slug else 'Begin a lesson first: begin("01-soft-lookup")'
    declared = {name: one.points for name, one in lessons.exercises_of(slug).items()}
    records = progress.here().records
    mine = standing(slug, declared, records)
    met = [one for one in mistakes([mine], records) if one.slug not in progress.NO_MISTAKE]
    mended = tuple(one for one in met if one.mended)
    own = drawn(slug, vars(sys.modules["__main__"]))
    course = progress.place()
    found = standings(course, records) if course else []
    done = {each.lesson.slug: each.done for each in found}
    return Summary(
        mine,
        _next(mine, found, records),
        os.environ.get(HOME_ADDRESS, ""),
        mended,
        own,
        done if all(done.values()) else {},
    )


def _next(mine: Standing, found: list[Standing], records: Sequence[Record]) -> Standing | None:
    """What the course home says is next; where there is none, this lesson or those after it.

    Args:
        found: all lessons that were handed out.
    """
    if not found:
        after = lessons.slugs()[lessons.slugs().index(mine.lesson.slug) + 1 :]
        found = [mine, *(standing(slug, {}, records) for slug in after)]
    return next_up(found, records)


def _mark(passed: bool) -> str:
    return "✓" if passed else "○"
