"""Lesson 12: Shortcuts, and what each gives up."""

from attnlab.lessons import Lesson

LESSON = Lesson(
    slug="12-shortcuts",
    title="Shortcuts",
    builds="what one gives up for N",
    minutes=60,
    stage="torch",
    heading="Shortcuts, and what each gives up",
    former=("11-cost",),
)
