"""Lesson 07: Several readers at the desk."""

from attnlab.lessons import Lesson

LESSON = Lesson(
    slug="07-multi-head",
    title="Multi-head",
    builds="several readers at the desk",
    minutes=85,
    stage="torch",
    heading="Several readers at the desk",
)
