"""Raises GeneratorExit, which `except Exception` does not see.

lesson: 01-soft-lookup
expect: soft_lookup ERROR
"""

# %% soft_lookup
def soft_lookup(query, keys, values, temperature=1.0):
    raise GeneratorExit
