"""Leaves a thread behind that prints into whatever comes next.

lesson: 01-soft-lookup
expect: hard_lookup FAIL or ERROR
because: it is wrong, and may have printed too much before it shows that
spoils: its own answers
"""

# %% hard_lookup
import threading


def chatter():
    while True:
        print("x" * 1000)


threading.Thread(target=chatter, daemon=True).start()


def hard_lookup(query, keys, values):
    return [0.0]
