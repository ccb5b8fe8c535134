"""Answers as learners write them: wrong ones that a check has to name, right ones it has to pass.

Each module is for the lesson whose name it has, `causal_mask` for '06-causal-mask', in the stage's
own means and written without looking at the bank of mistakes. `python -m tests.answers` checks them
all and prints a table.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from attnlab.lessons import known, name_of, slugs

Function = Callable[..., Any]
Mark = Callable[[Function], Function]


@dataclass(frozen=True, slots=True)
class Answer:
    """One function that a learner may hand in.

    Attributes:
        lesson: slug.
        exercise: name of the exercise that it answers.
        slug: the mistake that it makes, '' if it makes none.
        label: what to call it in a test's name.
    """

    lesson: str
    exercise: str
    slug: str
    label: str
    function: Function

    def __str__(self) -> str:
        made = self.slug or "right"
        return f"{self.lesson}-{self.exercise}-{made}-{self.label}"


_answers: list[Answer] = []


class Lesson:
    """Decorators that file a lesson's answers."""

    def __init__(self, slug: str) -> None:
        self.slug = known(slug)

    def wrong(self, exercise: str, slug: str, label: str = "") -> Mark:
        """File a mistake under the slug that a check should name it by."""
        return lambda function: self._file(exercise, slug, label, function)

    def right(self, exercise: str, label: str = "") -> Mark:
        """File another correct way to write it."""
        return lambda function: self._file(exercise, "", label, function)

    def _file(self, exercise: str, slug: str, label: str, function: Function) -> Function:
        name = label or getattr(function, "__name__", type(function).__name__)
        _answers.append(Answer(self.slug, exercise, slug, name, function))
        return function


def all_answers() -> tuple[Answer, ...]:
    """Every answer of every lesson, in the order in which they are written down."""
    for slug in slugs():
        import_module(f"{__name__}.{name_of(slug)}")
    return tuple(_answers)
