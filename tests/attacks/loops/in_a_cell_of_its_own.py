"""Loops in a cell that belongs to no exercise.

lesson: 01-soft-lookup
expect: nothing
limits: short
"""

# %% after hard_lookup-check
while True:
    try:
        while True:
            pass
    except BaseException:
        pass
