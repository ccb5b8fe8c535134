"""Closes every descriptor.

lesson: 01-soft-lookup
expect: soft_lookup CRASH
"""

# %% soft_lookup
import os


def soft_lookup(query, keys, values, temperature=1.0):
    os.closerange(0, 1024)
    return [], []
