"""Fills the disk.

lesson: 01-soft-lookup
expect: hard_lookup ERROR or FAIL
because: a full disk is an error if it is not caught
"""

# %% hard_lookup
def hard_lookup(query, keys, values):
    for place in ("/tmp", ".", "/dev/shm", "/var/tmp"):
        try:
            with open(f"{place}/left-by-an-attack", "wb") as file:
                while True:
                    file.write(b"x" * (1 << 20))
        except OSError:
            pass
    return [0.0]
