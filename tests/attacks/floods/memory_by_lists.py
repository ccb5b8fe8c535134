"""Fills the memory with lists.

lesson: 01-soft-lookup
expect: soft_lookup OOM
"""

# %% soft_lookup
def soft_lookup(query, keys, values, temperature=1.0):
    hoard = []
    while True:
        hoard.append([0.0] * 20_000_000)
