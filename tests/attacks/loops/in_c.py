"""Counts to infinity inside one C call, which no signal interrupts.

lesson: 01-soft-lookup
expect: soft_lookup TIMEOUT
limits: short
"""

# %% soft_lookup
import itertools


def soft_lookup(query, keys, values, temperature=1.0):
    return sum(itertools.count())
