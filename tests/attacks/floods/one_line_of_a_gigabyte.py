"""Prints one line of a gigabyte.

lesson: 01-soft-lookup
expect: soft_lookup ERROR or OOM or TIMEOUT
because: making the line may already be too much, and on a busy machine its time is up first
"""

# %% soft_lookup
def soft_lookup(query, keys, values, temperature=1.0):
    print("x" * 1_000_000_000)
    return [], []
