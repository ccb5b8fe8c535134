"""Every declared exercise, and what it is called in a test's name."""

from __future__ import annotations

from attnlab.checks.exercise import Exercise
from attnlab.lessons import exercises_of, slugs

EXERCISES = [exercise for slug in slugs() for exercise in exercises_of(slug).values()]


def named(exercise: Exercise) -> str:
    return f"{exercise.lesson}-{exercise.name}"
