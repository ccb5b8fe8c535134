"""Lesson 06: No looking ahead."""

from attnlab.lessons import Lesson

LESSON = Lesson(
    slug="06-causal-mask",
    title="Causal mask",
    builds="no looking ahead",
    minutes=90,
    stage="torch",
    heading="No looking ahead",
    loads=("torch._dynamo",),  # by the first operator on the meta device
)
