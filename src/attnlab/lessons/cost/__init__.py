"""Lesson 11: The N² wall, and the ways around it."""

from attnlab.lessons import Lesson

LESSON = Lesson(
    slug="11-cost",
    title="Cost",
    builds="the N² wall, and the ways around it",
    minutes=75,
    stage="torch",
    heading="The N² wall, and the ways around it",
    removed=("sliding_window_mask", "linear_attention"),
)
