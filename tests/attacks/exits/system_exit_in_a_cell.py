"""Leaves with sys.exit before anything is defined.

lesson: 01-soft-lookup
expect: soft_lookup ERROR or MISSING
because: the cell raised, and for that reason defined nothing
"""

# %% soft_lookup
import sys

sys.exit(0)


def soft_lookup(query, keys, values, temperature=1.0):
    return [], []
