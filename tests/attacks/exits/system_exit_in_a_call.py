"""Leaves with sys.exit(0), which a test runner may take for success.

lesson: 01-soft-lookup
expect: soft_lookup ERROR
"""

# %% soft_lookup
import sys


def soft_lookup(query, keys, values, temperature=1.0):
    sys.exit(0)
