"""Raises an exception that ends the process when it is read.

lesson: 01-soft-lookup
expect: soft_lookup CRASH
"""

# %% soft_lookup
import os


class Silent(Exception):
    def __str__(self):
        os._exit(0)


def soft_lookup(query, keys, values, temperature=1.0):
    raise Silent
