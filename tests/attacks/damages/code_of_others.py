"""Waits for the following exercises and rewrites their code in place.

lesson: 01-soft-lookup
expect: hard_lookup FAIL
spoils: its own answers
"""

# %% hard_lookup
import threading
import time


def nothing(*things, **options):
    return [0.0]


def rewrite(names=globals()):
    while True:
        time.sleep(0.001)
        for name in ("softmax", "soft_lookup"):
            if name in names:
                names[name].__code__ = nothing.__code__


threading.Thread(target=rewrite, daemon=True).start()


def hard_lookup(query, keys, values):
    return [0.0]
