"""Makes a number of 100 gigabits.

lesson: 01-soft-lookup
expect: soft_lookup OOM
"""

# %% soft_lookup
def soft_lookup(query, keys, values, temperature=1.0):
    return 1 << 100_000_000_000
