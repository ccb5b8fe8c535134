"""Breaks mathematics in every form that an assignment can take.

lesson: 01-soft-lookup
expect: hard_lookup FAIL
spoils: its own answers
"""

# %% hard_lookup
class helper:
    math.exp = lambda number: 0.5


for _ in [0]:
    math.exp = lambda number: 0.5
if True:
    setattr(math, "exp", lambda number: 0.5)
[None for math.exp in [lambda number: 0.5]]


def hard_lookup(query, keys, values):
    return [0.0]
