"""Returns an object that ends the process when it is thrown away.

lesson: 01-soft-lookup
expect: soft_lookup CRASH or FAIL
because: it may be thrown away before or after the answer has been sent
"""

# %% soft_lookup
import os


class Bomb:
    def __del__(self):
        os._exit(0)


def soft_lookup(query, keys, values, temperature=1.0):
    return Bomb()
