"""Raises KeyboardInterrupt, which graders treat as the instructor's own Ctrl+C.

lesson: 01-soft-lookup
expect: soft_lookup ERROR
"""

# %% soft_lookup
def soft_lookup(query, keys, values, temperature=1.0):
    raise KeyboardInterrupt
