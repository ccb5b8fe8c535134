"""Lesson 11's exercises: what attention costs, and five ways to pay less."""

from attnlab.lessons.cost.cache import KV_CACHE
from attnlab.lessons.cost.counting import ATTENTION_COST, SLIDING_WINDOW_MASK
from attnlab.lessons.cost.linear import LINEAR_ATTENTION
from attnlab.lessons.cost.merging import MERGE_SOFTMAX
from attnlab.lessons.cost.tiles import TILED_ATTENTION

EXERCISES = (
    ATTENTION_COST,
    MERGE_SOFTMAX,
    TILED_ATTENTION,
    SLIDING_WINDOW_MASK,
    LINEAR_ATTENTION,
    KV_CACHE,
)
