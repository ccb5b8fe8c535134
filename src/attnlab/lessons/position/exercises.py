"""Lesson 09's exercises: is order noticed at all, and three ways to tell it."""

from attnlab.lessons.position.equivariance import IS_EQUIVARIANT
from attnlab.lessons.position.learned import LEARNED_POSITIONS
from attnlab.lessons.position.sinusoidal import SINUSOIDAL_ENCODING
from attnlab.lessons.position.turning import ROTARY

EXERCISES = (IS_EQUIVARIANT, SINUSOIDAL_ENCODING, LEARNED_POSITIONS, ROTARY)
