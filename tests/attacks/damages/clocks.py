"""Stops the clocks and takes the threads away that the following exercises are watched with.

lesson: 01-soft-lookup
expect: hard_lookup FAIL
spoils: its own answers
"""

# %% hard_lookup
import threading
import time


def hard_lookup(query, keys, values):
    time.monotonic = lambda: 0.0
    time.sleep = threading.Event = threading.Thread = None
    return [0.0]
