"""Lesson 14: Your function in a language model."""

from attnlab.lessons import Lesson

LESSON = Lesson(
    slug="14-real-model",
    title="A real model",
    builds="your function in a language model",
    minutes=90,
    stage="torch",
    heading="Your function in a language model",
)
