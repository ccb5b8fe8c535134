"""Ends the process, with success, when it is called.

lesson: 01-soft-lookup
expect: soft_lookup CRASH
"""

# %% soft_lookup
import os


def soft_lookup(query, keys, values, temperature=1.0):
    os._exit(0)
