"""Breaks Python's own functions for all that comes after it.

lesson: 01-soft-lookup
expect: hard_lookup FAIL or ERROR or CRASH
because: what reports on it needs them as well
"""

# %% hard_lookup
import builtins


def hard_lookup(query, keys, values):
    builtins.max = builtins.sum = builtins.zip = builtins.len = lambda *things, **options: 7
    return [0.0]
