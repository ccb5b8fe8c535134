"""Lesson 02: Every index visible."""

from attnlab.lessons import Lesson

LESSON = Lesson(
    slug="02-pure-python",
    title="Pure Python",
    builds="self-attention with every index visible",
    minutes=90,
    stage="pure",
    heading="Every index visible",
)
