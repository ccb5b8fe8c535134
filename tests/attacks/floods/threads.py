"""Starts threads until no more can be had, and keeps them.

lesson: 01-soft-lookup
expect: hard_lookup ERROR or FAIL
because: running out of threads is an error; the answer is wrong as well
"""

# %% hard_lookup
import threading


def hard_lookup(query, keys, values):
    for _ in range(100_000):
        threading.Thread(target=threading.Event().wait).start()
    return [0.0]
