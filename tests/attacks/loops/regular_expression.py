"""Matches a regular expression that takes longer than the universe has been there.

lesson: 01-soft-lookup
expect: soft_lookup TIMEOUT
limits: short
"""

# %% soft_lookup
import re


def soft_lookup(query, keys, values, temperature=1.0):
    return re.match(r"(a|aa)+$", "a" * 200 + "b")
