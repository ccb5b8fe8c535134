"""Loops in a destructor, where exceptions are ignored.

lesson: 01-soft-lookup
expect: soft_lookup TIMEOUT
limits: short
"""

# %% soft_lookup
class Sticky:
    def __del__(self):
        while True:
            try:
                while True:
                    pass
            except BaseException:
                pass


def soft_lookup(query, keys, values, temperature=1.0):
    Sticky()
    return [], []
