"""Lesson 01: A dictionary you can differentiate."""

from attnlab.lessons import Lesson

LESSON = Lesson(
    slug="01-soft-lookup",
    title="Soft lookup",
    builds="a dictionary you can differentiate",
    minutes=90,
    stage="pure",
    heading="A dictionary you can differentiate",
)
