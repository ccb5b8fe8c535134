"""Lesson 10: What the weights learn."""

from attnlab.lessons import Lesson

LESSON = Lesson(
    slug="10-training",
    title="Training",
    builds="what the weights learn",
    minutes=90,
    stage="torch",
    heading="What the weights learn",
    changed={"PhraseClassifier": 2, "generate": 2},
    loads=("torch._dynamo",),  # by the first optimizer
)
