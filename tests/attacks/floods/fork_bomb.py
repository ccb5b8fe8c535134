"""Forks for ever, each child doing the same.

lesson: 01-soft-lookup
expect: soft_lookup ERROR or POLICY
because: fork is refused when it is called, or may be refused when it is read
"""

# %% soft_lookup
import os


def soft_lookup(query, keys, values, temperature=1.0):
    while True:
        os.fork()
