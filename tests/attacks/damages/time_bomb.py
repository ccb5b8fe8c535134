"""Ends the process half a second later, when another cell or call is running.

lesson: 01-soft-lookup
expect: hard_lookup FAIL or CRASH
because: it is wrong, and ends the process
spoils: its own answers
"""

# %% hard_lookup
import os
import threading

threading.Timer(0.1, os._exit, [1]).start()


def hard_lookup(query, keys, values):
    return [0.0]
