"""Waits for a lock that nobody will open.

lesson: 01-soft-lookup
expect: soft_lookup TIMEOUT
limits: short
"""

# %% soft_lookup
import threading


def soft_lookup(query, keys, values, temperature=1.0):
    lock = threading.Lock()
    lock.acquire()
    while True:
        try:
            lock.acquire()
        except BaseException:
            pass
