"""The exercises, one module a lesson, loaded when a lesson is begun."""

from __future__ import annotations

from functools import cache
from importlib import import_module

from attnlab.checks.declare import Exercise
from attnlab.lesson import absent

MODULES = {
    "01-soft-lookup": "soft_lookup",
    "02-pure-python": "pure_python",
    "03-numpy": "numpy_arrays",
    "04-scaling": "scaling",
    "05-pytorch": "tensors",
    "06-causal-mask": "causal",
}


@cache
def exercises_of(slug: str) -> dict[str, Exercise]:
    """The exercises of a lesson by name, in its order.

    Raises:
        LookupError: no such lesson, with the names of those there are.
    """
    if slug not in MODULES:
        raise LookupError(absent(slug))
    module = import_module(f"attnlab.exercises.{MODULES[slug]}")
    return {exercise.name: exercise for exercise in module.EXERCISES}


def lessons_with(name: str) -> list[str]:
    """Slugs of the lessons that have an exercise of this name."""
    return [slug for slug in MODULES if name in exercises_of(slug)]
