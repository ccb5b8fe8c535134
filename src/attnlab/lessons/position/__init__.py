"""Lesson 09: Order has to be told."""

from attnlab.lessons import Lesson

LESSON = Lesson(
    slug="09-position",
    title="Position",
    builds="order has to be told",
    minutes=90,
    stage="torch",
    heading="Order has to be told",
)
