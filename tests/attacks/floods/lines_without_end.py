"""Prints for ever, whatever it is told.

lesson: 01-soft-lookup
expect: soft_lookup ERROR or TIMEOUT
because: it swallows the exception that says that it printed too much
limits: short
"""

# %% soft_lookup
def soft_lookup(query, keys, values, temperature=1.0):
    while True:
        try:
            print("x")
        except BaseException:
            pass
