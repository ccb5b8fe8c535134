"""Beginning a lesson: what it needs, and which one `check` and `quiz` are about."""

from __future__ import annotations

import contextlib
import functools
import importlib
import importlib.metadata
import importlib.util
import re
import sys
import threading
from collections.abc import Sequence
from typing import Any

from attnlab import begun, lessons, quizzes, unwritten
from attnlab.quizzes import Question
from attnlab.said import speaks
from attnlab.work import progress
from attnlab.work.progress import Record

PYTHON = (3, 11)
# Import name, distribution and the oldest version that the course is tested to work with.
NEEDED = {"numpy": ("numpy", (1, 26)), "torch": ("torch", (2, 5))}
SHOWN = {"matplotlib": ("matplotlib", (3, 8))}

_loaders: list[threading.Thread] = []


@speaks
def begin(slug: str) -> str:
    """Begin a lesson: look for what it needs, and let `check` know which lesson this is.

    Args:
        slug: '01-soft-lookup'.
    Returns:
        One line to read: ready, or what is missing and the command that mends it.
    """
    former, slug = slug, lessons.today(slug)
    if slug not in lessons.slugs():
        return lessons.absent(slug)
    begun.slug = slug
    progress.begun(slug)
    problem = missing_for_checks(slug)
    if not problem and not lessons.is_recorded(slug):
        if "ipykernel" in sys.modules:  # there is somebody who reads
            unwritten.go_on()
            _loaders.append(threading.Thread(target=_load_checks, args=(slug,)))
            _loaders[-1].start()
        problem = _first_problem(SHOWN)
    ready = f"Lesson {slug} is ready: {lessons.lesson(slug).heading}."
    renamed = f" It was {former}; `attnlab update` brings your copy up to it." * (former != slug)
    return problem or f"{ready}{renamed}"


def wait_until_loaded() -> None:
    """Wait for what `begin` loads: whoever asks PyTorch for something meanwhile sees half of it."""
    while _loaders:
        _loaders.pop().join()


def _load_checks(slug: str) -> None:
    """Load what the lesson's first check needs, PyTorch above all, while its reader reads."""
    with contextlib.suppress(Exception):  # the check itself will meet it, and tell
        importlib.import_module("attnlab.checks.judge")
        lessons.exercises_of(slug)
        needs = lessons.lesson(slug)
        for name in (*["torch"] * (needs.stage == "torch"), *needs.loads):
            importlib.import_module(name)


@speaks
def quiz(title: str) -> Any:
    """Questions that take one choice each, and then answer.

    Args:
        title: 'recall', 'predict', 'check yourself', as in the lesson's `quizzes.md`.
    Returns:
        What Jupyter shows; a sentence where the lesson has no such questions.
    """
    asked = to_ask(title)
    if isinstance(asked, str):
        return asked
    from attnlab.figures.live.quiz import Quiz

    return Quiz(*asked)


def to_ask(title: str) -> str | tuple[str, str, tuple[Question, ...], dict[Question, int | None]]:
    """The lesson, the title, its questions and what was chosen before; a sentence for none."""
    slug = begun.slug
    if slug not in lessons.slugs():
        return lessons.absent(slug) if slug else 'Begin a lesson first: begin("01-soft-lookup")'
    asked = asked_in(slug, title, progress.here().records)
    there = ", ".join(map(repr, quizzes.of(slug)))
    return asked or f"Lesson {slug} has no quiz {title!r}; it has {there}."


def asked_in(
    slug: str, title: str, records: Sequence[Record]
) -> tuple[str, str, tuple[Question, ...], dict[Question, int | None]] | None:
    """What a lesson asks a learner under a title, and what was chosen before; None for nothing."""
    asked = quizzes.of(slug).get(title)
    if asked is None:
        return None
    again = quizzes.due(slug, records) if title == "recall" else ()
    kept = {each.question: each.choice for each in quizzes.chosen(records) if each.lesson == slug}
    return slug, title, (*again, *asked), kept


def missing_for_checks(slug: str) -> str:
    """What keeps a lesson's checks from running, and what mends it; '' if nothing does."""
    if lessons.is_recorded(slug):
        return ""
    if sys.platform == "emscripten":
        return f"This page has no cases of lesson {slug}. Take the course home to do it."
    if sys.version_info < PYTHON:
        wanted = ".".join(map(str, PYTHON))
        return (
            f"This course needs Python {wanted} or newer, and this is {sys.version.split()[0]}. "
            f"Install a newer Python, then set up the course again as its README says."
        )
    return _first_problem(NEEDED)


def _first_problem(needed: dict[str, tuple[str, tuple[int, int]]]) -> str:
    for module, (distribution, oldest) in needed.items():
        wanted = ".".join(map(str, oldest))
        mend = f'Mend it with: {sys.executable} -m pip install "{distribution}>={wanted}"'
        if importlib.util.find_spec(module) is None:
            return f"The package {distribution} is missing. {mend}"
        version = _version(distribution)
        found = tuple(int(part) for part in re.findall(r"\d+", version)[:2])
        if found < oldest:
            return f"{distribution} {version} is too old; {wanted} or newer is needed. {mend}"
    return ""


@functools.cache
def _version(distribution: str) -> str:
    return importlib.metadata.version(distribution)
