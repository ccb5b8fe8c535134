"""Who is in the class, and what each hands in: the same for the same seed."""

from __future__ import annotations

import copy
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TypeVar

import nbformat
from nbformat import NotebookNode

from attnlab.lessons import exercises_of, slugs
from attnlab.lessons import lesson as about

from .answers import Written, bank, unfinished
from .draft import Draft, is_exercise, name_of
from .front_ends import FRONT_ENDS
from .habits import Habit, habits_for

ROOT = Path(__file__).parents[2]
LESSONS = slugs()
Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class Submission:
    """What one learner hands in for one lesson.

    Attributes:
        answers: what they wrote in each exercise.
        habits, front_end: what else they did to the notebook, and what saved it.
        text: the file.
        breaks_nbgrader: see Habit.
    """

    student: str
    lesson: str
    answers: dict[str, str]
    habits: tuple[str, ...]
    front_end: str
    text: str
    breaks_nbgrader: bool


def the_class(students: int, lessons: Sequence[str], seed: int) -> Iterator[Submission]:
    """All submissions, lesson by lesson. A larger class begins with the smaller one."""
    for lesson in lessons:
        yield from _handed_in(lesson, students, seed)


def names(students: int) -> list[str]:
    """s001, s002, …"""
    return [f"s{number:03}" for number in range(1, students + 1)]


def _handed_in(lesson: str, students: int, seed: int) -> Iterator[Submission]:
    """Deal a lesson's decks out, so that a class of enough learners shows everything."""
    rng = random.Random(f"{seed}/{lesson}")
    stage = about(lesson).stage
    habits = _deal(rng, habits_for(stage))
    front_ends = _deal(rng, list(FRONT_ENDS))
    desks = {name: _Desk(rng, lesson, name) for name in exercises_of(lesson)}
    for student in names(students):
        ability = rng.random()
        draft = Draft(lesson, stage, copy.deepcopy(_released(lesson)), rng)
        if ability < 0.05:
            yield _saved(student, draft, {}, (), next(front_ends))
            continue
        chosen = {name: desk.write(ability) for name, desk in desks.items()}
        for name, written in chosen.items():
            _answer(draft, name, written)
        kept = tuple(next(habits) for _ in range(rng.choice((1, 2, 2, 3))))
        for each in kept:
            each.do(draft)
        yield _saved(student, draft, chosen, kept, next(front_ends))


def _saved(
    student: str,
    draft: Draft,
    chosen: dict[str, Written],
    kept: tuple[Habit, ...],
    front_end: str,
) -> Submission:
    text = FRONT_ENDS[front_end](draft.notebook, draft.rng)
    answers = {name: str(written) for name, written in chosen.items()}
    habits = tuple(each.name for each in kept)
    breaks = any(each.breaks_nbgrader for each in kept)
    return Submission(student, draft.lesson, answers, habits, front_end, text, breaks)


class _Desk:
    """Where a class answers one exercise: decks of right, wrong and unfinished answers."""

    def __init__(self, rng: random.Random, lesson: str, exercise: str) -> None:
        of_bank = [written for written in bank(lesson) if written.exercise == exercise]
        solution = Written(exercise, "", "as in the lesson", (), (), _solved(lesson)[exercise])
        [stub] = [cell.source for cell in _released(lesson).cells if name_of(cell) == exercise]
        self.rng = rng
        self.right = _deal(rng, [solution, *(each for each in of_bank if not each.made)])
        left = list(unfinished(exercise, stub))
        self.unfinished = _deal(rng, left)
        # Where each wrong answer that we hold is made of parts, none stands in a cell of its own.
        self.wrong = _deal(rng, [each for each in of_bank if each.made] or left)

    def write(self, ability: float) -> Written:
        """Ability is the share of right answers; what is not right is wrong or unfinished."""
        if self.rng.random() < ability:
            return next(self.right)
        return next(self.wrong if self.rng.random() < 0.75 else self.unfinished)


def _deal(rng: random.Random, items: Sequence[Item]) -> Iterator[Item]:
    """Go through all items in a random order, again and again."""
    while True:
        yield from rng.sample(items, len(items))


def _answer(draft: Draft, name: str, written: Written) -> None:
    """Write an answer into its cell; helpers go there too, or into a cell above or below."""
    own = [*_paragraph(written.imports), *written.helpers]
    place = draft.rng.choice(("with it", "with it", "above", "below"))
    if place == "with it" or not own:
        draft.cell(name).source = "\n\n\n".join([*own, written.source])
        return
    draft.cell(name).source = written.source
    insert = draft.before if place == "above" else draft.after
    insert(name, "\n\n\n".join(own))


def _paragraph(imports: tuple[str, ...]) -> list[str]:
    return ["\n".join(imports)] if imports else []


@cache
def _released(lesson: str) -> NotebookNode:
    return nbformat.read(ROOT / "notebooks" / lesson / f"{lesson}.ipynb", as_version=4)


@cache
def _solved(lesson: str) -> dict[str, str]:
    """The lesson's own solutions, by exercise, without the marks that authors put around them."""
    notebook = nbformat.read(ROOT / "solutions" / lesson / f"{lesson}.ipynb", as_version=4)
    return {
        name_of(cell): "\n".join(
            line for line in cell.source.splitlines() if not line.strip().startswith("### ")
        )
        for cell in filter(is_exercise, notebook.cells)
    }
