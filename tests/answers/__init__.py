"""Answers as learners write them: wrong ones that a check has to name, right ones it has to pass.

Each module is for the lesson whose name it has, `causal_mask` for '06-causal-mask', in the stage's
own means and written without looking at the bank of mistakes. What can go wrong anywhere is written
once, in `general`, and made in one exercise for each kind of result.
`tests/test_answers.py` checks them all; a table of them ends `make test`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Any

from attnlab.checks.edits import edited
from attnlab.checks.exercise import Exercise
from attnlab.lessons import exercises_of, known, name_of, slugs

from .general import slips

Function = Callable[..., Any]
Decorator = Callable[[Function], Function]


@dataclass(frozen=True, slots=True)
class Answer:
    """One function that a learner may hand in.

    Attributes:
        lesson: slug.
        exercise: name of the exercise that it answers.
        slug: the mistake that it makes, '' if it makes none.
        label: what to call it in a test's name.
        written: whether it is written out in its lesson's module, and not made of another one.
    """

    lesson: str
    exercise: str
    slug: str
    label: str
    function: Function
    written: bool = True

    def __str__(self) -> str:
        made = self.slug or "right"
        return f"{self.lesson}-{self.exercise}-{made}-{self.label}"


_answers: list[Answer] = []


class Lesson:
    """Decorators that file a lesson's answers."""

    def __init__(self, slug: str) -> None:
        self.slug = known(slug)

    def wrong(self, exercise: str, slug: str, label: str = "") -> Decorator:
        """File a mistake under the slug that a check should name it by."""
        return lambda function: self._file(exercise, slug, label, function)

    def right(self, exercise: str, label: str = "") -> Decorator:
        """File another correct way to write it."""
        return lambda function: self._file(exercise, "", label, function)

    def edits(self, original: Function, *rows: str) -> None:
        """File mistakes that are a right answer with a part exchanged.

        Args:
            original: the right answer.
            rows: "slug | label | edit", where an edit is what `attnlab.checks.edits` takes.
        """
        home = next(each for each in _answers if each.function is original)
        for row in rows:
            slug, label, edit = row.split(" | ", 2)
            self._file(home.exercise, slug, label, edited(original, edit))

    def _file(self, exercise: str, slug: str, label: str, function: Function) -> Function:
        name = label or getattr(function, "__name__", type(function).__name__)
        _answers.append(Answer(self.slug, exercise, slug, name, function))
        return function


def all_answers(*lessons: str) -> tuple[Answer, ...]:
    """Every answer of these lessons, or of all: those that are written down, then those of them."""
    wanted = lessons or slugs()
    for slug in wanted:
        import_module(f"{__name__}.{name_of(slug)}")
    written = [each for each in _answers if each.lesson in wanted]
    made = (answer for home in slipped() if home[0] in wanted for answer in _made(*home))
    return (*written, *made)


@cache
def slipped() -> tuple[tuple[str, str], ...]:
    """For each kind of result the exercise that has most results of it: slips are made in these."""
    most: dict[tuple[str, bool], Exercise] = {}
    for exercise in (each for slug in slugs() for each in exercises_of(slug).values()):
        kind = exercise.returns[0].kind, bool(exercise.state)
        if kind not in most or len(most[kind].returns) < len(exercise.returns):
            most[kind] = exercise
    return tuple((exercise.lesson, exercise.name) for exercise in most.values())


@cache
def _made(slug: str, exercise: str) -> tuple[Answer, ...]:
    """Slips of every kind, made in the first right answer to an exercise."""
    home = (slug, exercise)
    right = next((a for a in _answers if (a.lesson, a.exercise) == home and not a.slug), None)
    if right is None:
        return ()
    return tuple(
        Answer(slug, exercise, mistake, label, function, written=False)
        for mistake, label, function in slips(exercises_of(slug)[exercise], right.function)
    )
