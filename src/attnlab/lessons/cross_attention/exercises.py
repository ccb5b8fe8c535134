"""Lesson 08's exercises: attention over another sequence, as a function and as a module."""

from attnlab.lessons.cross_attention.as_function import FUNCTION
from attnlab.lessons.cross_attention.as_module import MODULE

EXERCISES = (FUNCTION, MODULE)
