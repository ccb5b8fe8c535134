"""Announces a reply of 16 exabytes.

lesson: 01-soft-lookup
expect: soft_lookup CRASH or ERROR
because: no reply came, only the beginning of one that is too long
"""

# %% soft_lookup
import os


def soft_lookup(query, keys, values, temperature=1.0):
    for descriptor in range(64):
        try:
            os.write(descriptor, b"\xff" * 16 + b"[" * 100_000)
        except OSError:
            pass
    return [], []
