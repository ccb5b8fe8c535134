"""Lesson 05: Batched, with gradients."""

from attnlab.lessons import Lesson

LESSON = Lesson(
    slug="05-pytorch",
    title="PyTorch",
    builds="batched, with gradients",
    minutes=90,
    stage="torch",
    heading="Batched, with gradients",
)
