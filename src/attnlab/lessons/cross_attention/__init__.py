"""Lesson 08: Asking someone else's shelf."""

from attnlab.lessons import Lesson

LESSON = Lesson(
    slug="08-cross-attention",
    title="Cross-attention",
    builds="asking someone else's shelf",
    minutes=90,
    stage="torch",
    heading="Asking someone else's shelf",
    removed=("CrossAttention",),
)
