"""Leaves a thread behind that computes for ever, and gives a wrong answer.

lesson: 01-soft-lookup
expect: hard_lookup FAIL or TIMEOUT
because: it is wrong, and may be too slow to show it
limits: short
"""

# %% hard_lookup
import threading


def burn():
    while True:
        pass


threading.Thread(target=burn).start()


def hard_lookup(query, keys, values):
    return [0.0]
