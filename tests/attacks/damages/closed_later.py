"""Closes every descriptor once its own answer is away, so that the next exercise's is lost.

lesson: 01-soft-lookup
expect: hard_lookup FAIL or CRASH
because: its own answer is wrong, and may be lost as well
spoils: its own answers
"""

# %% hard_lookup
import os
import threading


def hard_lookup(query, keys, values):
    threading.Timer(0.2, os.closerange, [0, 1024]).start()
    return [0.0]
