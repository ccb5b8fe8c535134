"""Reads address 0.

lesson: 01-soft-lookup
expect: soft_lookup CRASH or POLICY
because: reaching for raw memory may be refused before it is run
"""

# %% soft_lookup
import ctypes


def soft_lookup(query, keys, values, temperature=1.0):
    return ctypes.string_at(0)
