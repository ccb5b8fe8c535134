"""Loops in its cell.

lesson: 01-soft-lookup
expect: soft_lookup TIMEOUT
limits: short
"""

# %% soft_lookup
RIGHT_ANSWER

while True:
    pass
