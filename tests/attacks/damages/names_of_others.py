"""Replaces what the following exercises are called, as soon as they are defined.

lesson: 01-soft-lookup
expect: hard_lookup FAIL
spoils: its own answers
"""

# %% hard_lookup
import threading
import time


def replace(names=globals()):
    while True:
        time.sleep(0.001)
        for name in ("softmax", "soft_lookup"):
            if name in names:
                names[name] = lambda *things, **options: [0.0]


threading.Thread(target=replace, daemon=True).start()


def hard_lookup(query, keys, values):
    return [0.0]
