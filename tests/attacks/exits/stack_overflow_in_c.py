"""Overflows the C stack, by a sort whose key sorts, with Python's own limit lifted.

lesson: 01-soft-lookup
expect: soft_lookup CRASH or OOM
because: the stack grows until it meets its own limit or that of the memory
"""

# %% soft_lookup
import sys


def sort_again(thing):
    return sorted([thing], key=sort_again)


def soft_lookup(query, keys, values, temperature=1.0):
    sys.setrecursionlimit(10**9)
    return sort_again(0)
