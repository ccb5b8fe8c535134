"""Leaves a thread behind that never lets go of the interpreter, so that whoever comes next hangs.

lesson: 01-soft-lookup
expect: hard_lookup FAIL or TIMEOUT or MISSING
because: the process hangs while its cell runs, or just after, and what is wrong is wrong anyway
limits: short
"""

# %% hard_lookup
import itertools
import threading

threading.Thread(target=lambda: sum(itertools.count())).start()


def hard_lookup(query, keys, values):
    return [0.0]
