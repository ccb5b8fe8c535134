"""Turns its check into text, which cannot fail.

lesson: 01-soft-lookup
expect: soft_lookup FAIL
repaired: soft_lookup-check
"""

# %% soft_lookup
def soft_lookup(query, keys, values, temperature=1.0):
    return [], []


# %% on the notebook
for cell in notebook.checks():
    cell.cell_type = "markdown"
    del cell["outputs"], cell["execution_count"]
