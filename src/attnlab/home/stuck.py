"""`attnlab.solution("attention")`: a way out for those who are stuck, after a try of their own.

The package holds no solution. They are in `solutions.json`, in the course's folder or in work/,
where whoever handed the course out has put it: `make bundle SOLUTIONS=1`.
"""

from __future__ import annotations

import html
import json
import os
from dataclasses import dataclass
from typing import Any

from attnlab import begun, cells, lessons
from attnlab.home.standing import NO_ATTEMPT
from attnlab.ipynb.read import Unreadable
from attnlab.said import speaks
from attnlab.work import progress

FILE = "solutions.json"


@dataclass(frozen=True, slots=True)
class Solution:
    """A right answer and its idea, as Jupyter shows them."""

    exercise: str
    code: str
    why: str

    @property
    def _yours(self) -> str:
        return f"Close this, write your own version of it, and run check({self.exercise}) on that."

    def __repr__(self) -> str:
        return f"{self.code}\n\n{self.why}\n\n{self._yours}"

    def _repr_html_(self) -> str:
        why = "".join(f"<p>{html.escape(part)}</p>" for part in self.why.split("\n\n") if part)
        return (
            f'<section aria-label="A solution of {html.escape(self.exercise, quote=True)}" '
            'style="border-left:6px solid #8a8a8a;padding:4px 0 6px 12px;margin:4px 0;'
            'max-width:60em;line-height:1.5">'
            f"<p><strong>One way to write <code>{html.escape(self.exercise)}</code></strong></p>"
            f"<pre>{html.escape(self.code)}</pre>{why}"
            f"<p><strong>{html.escape(self._yours)}</strong></p></section>"
        )


@speaks
def solution(exercise: object, lesson: str = "") -> Solution | str:
    """A solution and why it is written so, once a check has seen an attempt of your own.

    Args:
        exercise: its name, or your function.
        lesson: slug; without it, the lesson that was begun.
    Returns:
        What Jupyter shows; a sentence where there is nothing to show.
    """
    name = exercise if isinstance(exercise, str) else cells.name_of(exercise)
    slug = lesson or begun.slug
    if slug not in lessons.slugs():
        return lessons.absent(slug) if slug else 'Begin a lesson first: begin("01-soft-lookup")'
    if name not in lessons.exercises_of(slug):
        return f"Lesson {slug} has no exercise {name!r}: {', '.join(lessons.exercises_of(slug))}."
    course = progress.place()
    places = (course.work / FILE, course.root / FILE) if course else ()
    path = next(filter(os.path.isfile, places), None)
    if course is None or path is None:
        return (
            "This course came without solutions. Open the last hint, read the card's likely "
            "cause again, and ask whoever teaches it."
        )
    if not any(
        (record.lesson, record.exercise) == (slug, name) and record.status not in NO_ATTEMPT
        for record in progress.here().records
    ):
        return f"Try it yourself first: write something, however wrong, and run check({name})."
    try:
        found = json.loads(course.read(path))["solutions"][slug][name]
        shown = Solution(name, _text(found["code"]), _text(found["why"]))
    except (Unreadable, ValueError, KeyError, TypeError, RecursionError):
        return f"{path} holds no solution of {name} that can be read. Unpack the course again."
    progress.note(slug, name, progress.READ)
    return shown


def _text(found: Any) -> str:
    if not isinstance(found, str):
        raise TypeError("not a text")
    return found
