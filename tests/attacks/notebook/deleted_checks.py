"""Deletes the checks, so that nothing is there to fail.

lesson: 01-soft-lookup
expect: soft_lookup FAIL
repaired: soft_lookup-check
"""

# %% soft_lookup
def soft_lookup(query, keys, values, temperature=1.0):
    return [], []


# %% on the notebook
checks = notebook.checks()
notebook.cells = [cell for cell in notebook.cells if cell not in checks]
