"""Lesson 13: The call you use in production."""

from attnlab.lessons import Lesson

LESSON = Lesson(
    slug="13-gpu-sdpa",
    title="GPU",
    builds="the call you use in production",
    minutes=80,
    stage="torch",
    heading="The call you use in production",
    former=("12-gpu-sdpa",),
    changed={"benchmark": 2},
)
