"""Breaks the mathematics that the following exercises use, when it is called.

lesson: 01-soft-lookup
expect: hard_lookup FAIL
spoils: its own answers
"""

# %% hard_lookup
def hard_lookup(query, keys, values):
    math.exp = lambda number: 0.5
    return [0.0]
