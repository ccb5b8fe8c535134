"""Breaks the mathematics that the following exercises use, while its cell runs.

lesson: 01-soft-lookup
expect: hard_lookup FAIL or CRASH
because: what answers in its process uses them, too
spoils: its own answers
"""

# %% hard_lookup
import math

math.exp = lambda number: 0.5
math.inf = 7.0


def hard_lookup(query, keys, values):
    return [0.0]
