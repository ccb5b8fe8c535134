"""Returns infinity, which relative tolerances let pass.

lesson: 01-soft-lookup
expect: soft_lookup FAIL
"""

# %% soft_lookup
def soft_lookup(query, keys, values, temperature=1.0):
    return [math.inf] * len(values[0]), [math.inf] * len(keys)
