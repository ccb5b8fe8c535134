"""Lesson 07's exercises: splitting into heads, merging them, and multi-head attention."""

from attnlab.lessons.multi_head.as_module import MODULE
from attnlab.lessons.multi_head.split_and_merge import MERGE_HEADS, SPLIT_HEADS

EXERCISES = (SPLIT_HEADS, MERGE_HEADS, MODULE)
