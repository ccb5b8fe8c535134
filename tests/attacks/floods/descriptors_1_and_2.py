"""Writes a gigabyte to descriptors 1 and 2, past every stream that could be watched.

lesson: 01-soft-lookup
expect: soft_lookup FAIL or ERROR
because: a closed descriptor is an error, one that leads nowhere is not
"""

# %% soft_lookup
import os


def soft_lookup(query, keys, values, temperature=1.0):
    for _ in range(1024):
        os.write(1, b"x" * (1 << 20))
        os.write(2, b"x" * (1 << 20))
    return [], []
