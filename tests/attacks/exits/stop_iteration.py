"""Raises StopIteration, which silently ends a generator that makes the calls.

lesson: 01-soft-lookup
expect: soft_lookup ERROR
"""

# %% soft_lookup
def soft_lookup(query, keys, values, temperature=1.0):
    raise StopIteration(0)
