"""Prints one line of a gigabyte.

lesson: 01-soft-lookup
expect: soft_lookup ERROR or OOM
because: making the line may already be too much
"""

# %% soft_lookup
def soft_lookup(query, keys, values, temperature=1.0):
    print("x" * 1_000_000_000)
    return [], []
