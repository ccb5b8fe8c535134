"""Takes all memory that there is, keeps it, and leaves none for the exercises that follow.

lesson: 01-soft-lookup
expect: hard_lookup FAIL or OOM or CRASH
because: it is wrong, and leaves no memory to say so
"""

# %% hard_lookup
hoard = []


def hard_lookup(query, keys, values):
    size = 1 << 26
    while size > 16:
        try:
            hoard.append(bytearray(size))
        except MemoryError:
            size //= 2
    return [0.0]
