"""Gives the wrong exercise's cells the labels of another one, with checks and all.

lesson: 01-soft-lookup
expect: soft_lookup FAIL or MISSING
because: the wrong function may be found under its name or not at all
"""

# %% soft_lookup
def soft_lookup(query, keys, values, temperature=1.0):
    return [], []


# %% on the notebook
for cell in notebook.cells:
    said = cell.metadata.get("nbgrader")
    if said and said.grade_id in ("soft_lookup", "soft_lookup-check"):
        said.grade_id = said.grade_id.replace("soft_lookup", "softmax")
