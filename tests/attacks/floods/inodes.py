"""Makes so many empty files that no more can be made.

lesson: 01-soft-lookup
expect: hard_lookup FAIL
"""

# %% hard_lookup
def hard_lookup(query, keys, values):
    for place in ("/tmp", ".", "/dev/shm", "/var/tmp"):
        try:
            for number in range(20_000):
                open(f"{place}/left-by-an-attack-{number}", "wb").close()
        except OSError:
            pass
    return [0.0]
