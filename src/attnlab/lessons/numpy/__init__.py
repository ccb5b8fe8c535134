"""Lesson 03: One einsum per arrow."""

from attnlab.lessons import Lesson

LESSON = Lesson(
    slug="03-numpy",
    title="NumPy",
    builds="the same block, one einsum per arrow",
    minutes=90,
    stage="numpy",
    heading="One einsum per arrow",
)
