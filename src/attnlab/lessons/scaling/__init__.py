"""Lesson 04: Why √d_k."""

from attnlab.lessons import Lesson

LESSON = Lesson(
    slug="04-scaling",
    title="Scaling",
    builds="why the scores are divided by √d_k",
    minutes=90,
    stage="numpy",
    heading="Why √d_k",
    changed={"score_std": 2},
)
