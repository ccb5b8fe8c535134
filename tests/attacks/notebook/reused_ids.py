"""Gives all cells the same id; its answers are right.

lesson: 01-soft-lookup
expect: nothing
"""

# %% on the notebook
for cell in notebook.cells:
    cell["id"] = "same"
