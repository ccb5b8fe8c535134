"""The lessons: the one place that names them, in their order.

    src/attnlab/lessons/causal_mask/    what '06-causal-mask' is: its words, exercises and figures

Everything else finds a lesson by its slug: its notebooks (`solutions/06-causal-mask/`), its answers
(`tests/answers/causal_mask.py`), its row in the README. To add one, put its line in `REGISTRY`;
`tests/test_registry.py` says what it lacks.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from attnlab.checks.exercise import Exercise


@dataclass(frozen=True, slots=True)
class Lesson:
    """What can be said of a lesson without loading its exercises.

    Attributes:
        slug: '06-causal-mask'.
        title: in the README, after the number.
        builds: 'what you build' in the README.
        minutes: that it takes.
        stage: what learners write in: 'pure', 'numpy' or 'torch'; '' while it is planned.
        heading: of its notebook, after the number.
        former: slugs that it had, or that a part of it was in.
        removed: exercises that it asked for once, and does not any more.
        changed: which contract an exercise has that had others before: 2 after the first change.
        loads: what PyTorch loads, for seconds, when an answer is first called.
    """

    slug: str
    title: str
    builds: str
    minutes: int
    stage: str = ""
    heading: str = ""
    former: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    changed: Mapping[str, int] = field(default_factory=dict)
    loads: tuple[str, ...] = ()

    @property
    def number(self) -> int:
        return int(self.slug.partition("-")[0])

    @property
    def planned(self) -> bool:
        return not self.stage


# A slug is a lesson that is there: the rest stands in its folder. A Lesson is a planned one.
REGISTRY: tuple[str | Lesson, ...] = (
    "01-soft-lookup",
    "02-pure-python",
    "03-numpy",
    "04-scaling",
    "05-pytorch",
    "06-causal-mask",
    "07-multi-head",
    "08-cross-attention",
    "09-position",
    "10-training",
    "11-cost",
    "12-shortcuts",
    "13-gpu-sdpa",
    "14-real-model",
)


@dataclass(frozen=True, slots=True)
class Route:
    """A way through the course for those who will not take all of it.

    Attributes:
        minutes: that it takes.
        parts: which lessons, and how far.
    """

    name: str
    minutes: int
    parts: str

    def __str__(self) -> str:
        return f"{self.name}, about {round(self.minutes / 60)} hours: {self.parts}"


ROUTES = (
    Route(
        "An evening",
        195,
        "lessons 01, 03 and 06, each to where its card says that you may stop, then the first "
        "section of lesson 14, in which a model writes",
    ),
    Route("A weekend", 700, "lessons 01 to 03, 05 to 07, 10 and 14"),
    Route("The whole", 1200, "all lessons, in order"),
)
# Said below the ways: later lessons recall what those in between found.
SKIPPED = "If you skip a lesson, read its section “Take away” first: later lessons build on it."


def slugs() -> tuple[str, ...]:
    """The lessons that are there, in their order."""
    return tuple(line for line in REGISTRY if isinstance(line, str))


def planned() -> tuple[Lesson, ...]:
    """The lessons to come, in their order."""
    return tuple(line for line in REGISTRY if isinstance(line, Lesson))


def known(slug: str) -> str:
    """The slug itself.

    Raises:
        LookupError: there is no such lesson, with the names of those there are.
    """
    if slug not in slugs():
        raise LookupError(absent(slug))
    return slug


def today(slug: str, exercise: str = "") -> str:
    """What a lesson that was called so, or that asked for an exercise once, is called now.

    Returns:
        A slug; what was given, where no lesson was ever called so.
    """
    if slug in slugs() and exercise not in lesson(slug).removed:
        return slug
    return next((each for each in slugs() if slug in lesson(each).former), slug)


def name_of(slug: str) -> str:
    """What the lesson's modules are called: 'causal_mask' for '06-causal-mask'.

    Raises:
        LookupError: no such lesson.
    """
    return known(slug).partition("-")[2].replace("-", "_")


def lesson(slug: str) -> Lesson:
    """What can be said of a lesson without loading its exercises.

    Raises:
        LookupError: no such lesson; or its folder is missing, or says that it is another one's.
    """
    package = f"{__name__}.{name_of(slug)}"
    try:
        found = getattr(import_module(package), "LESSON", None)
    except ModuleNotFoundError as error:
        if error.name != package:
            raise
        folder = package.replace(".", "/")
        raise LookupError(f"{slug} is registered, and there is no src/{folder}/") from None
    if not isinstance(found, Lesson):
        path = package.replace(".", "/")
        raise LookupError(f"{slug}: src/{path}/__init__.py has no LESSON")
    if found.slug != slug:
        raise LookupError(f"{slug} is registered, and {package} says that it is {found.slug}")
    return found


_recorded: dict[str, dict[str, Exercise]] = {}


def take(slug: str, exercises: Mapping[str, Exercise]) -> None:
    """Take these for a lesson's, with cases that were recorded: a browser can pose none."""
    _recorded[slug] = dict(exercises)


def is_recorded(slug: str) -> bool:
    return slug in _recorded


def exercises_of(slug: str) -> dict[str, Exercise]:
    """The exercises of a lesson by name, in its order.

    Raises:
        LookupError: no such lesson.
    """
    return _recorded[slug] if slug in _recorded else _declared(slug)


@cache
def _declared(slug: str) -> dict[str, Exercise]:
    module = import_module(f"{__name__}.{name_of(slug)}.exercises")
    home = {"lesson": slug, "stage": lesson(slug).stage}
    return {exercise.name: replace(exercise, **home) for exercise in module.EXERCISES}


def lessons_with(name: str) -> list[str]:
    """Slugs of the lessons that have an exercise of this name."""
    return [slug for slug in slugs() if name in exercises_of(slug)]


def figures_of(slug: str) -> ModuleType:
    """The module that draws a lesson's figures.

    Raises:
        LookupError: no such lesson, or it draws none.
    """
    module = f"{__name__}.{name_of(slug)}.figures"
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if error.name not in (module, module.rpartition(".")[0]):
            raise
        path = module.replace(".", "/")
        raise LookupError(f"{slug} has no figures: there is no src/{path}.py") from None


def absent(name: str) -> str:
    """What to say to a name that is no lesson's: which one is meant, as far as that can be told."""
    meant = today(str(name)) if str(name) != today(str(name)) else _meant(str(name))
    if meant in [lesson.slug for lesson in planned()]:
        said = f"Lesson {meant} is planned and not there yet."
    else:
        said = f"There is no lesson {name!r}." + (f" Do you mean {meant}?" if meant else "")
    return f"{said} The lessons are {', '.join(slugs())}."


def _meant(name: str) -> str:
    """The lesson whose number or words these are, else one that is spelled alike, else ''."""
    words = re.findall(r"[^\W\d_]+|[0-9]+", name.lower())
    wanted = "-".join(word.zfill(2) if word.isdigit() else word for word in words)
    lessons = [*slugs(), *(lesson.slug for lesson in planned())]
    [first, *others] = [slug for slug in lessons if wanted in slug or slug in wanted] or [""]
    if first and not others:
        return first
    return next(iter(difflib.get_close_matches(wanted, lessons, 1, 0.5)), "")
