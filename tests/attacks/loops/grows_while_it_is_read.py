"""Returns a list that a thread lengthens while it is being read.

lesson: 01-soft-lookup
expect: soft_lookup FAIL or TIMEOUT or OOM
because: it depends on which of the two is faster
limits: short
"""

# %% soft_lookup
import threading


def soft_lookup(query, keys, values, temperature=1.0):
    growing = [0.0]

    def grow():
        while True:
            growing.append(0.0)

    threading.Thread(target=grow).start()
    return growing
