"""Writes 64 megabytes to standard error, whatever name it has.

lesson: 01-soft-lookup
expect: soft_lookup ERROR or FAIL
because: where there is no such stream nothing is printed, and the answer is wrong
"""

# %% soft_lookup
import sys


def soft_lookup(query, keys, values, temperature=1.0):
    for stream in (sys.stderr, sys.__stderr__, sys.__stdout__):
        for _ in range(64):
            if stream is not None:
                stream.write("x" * 1_000_000)
    return [], []
