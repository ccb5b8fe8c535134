"""Loops when called, and swallows whatever interrupts it.

lesson: 01-soft-lookup
expect: soft_lookup TIMEOUT
limits: short
"""

# %% soft_lookup
def soft_lookup(query, keys, values, temperature=1.0):
    while True:
        try:
            while True:
                pass
        except BaseException:
            pass
