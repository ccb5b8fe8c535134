"""Maps memory that Python does not count: shared, and in files.

lesson: 01-soft-lookup
expect: soft_lookup OOM or ERROR
because: the system refuses a mapping with an error of its own
"""

# %% soft_lookup
import mmap

hoard = []


def soft_lookup(query, keys, values, temperature=1.0):
    while True:
        hoard.append(mmap.mmap(-1, 1 << 26))
        hoard[-1].write(b"x" * (1 << 26))
