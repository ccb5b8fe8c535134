"""Has lost every label, as some front ends lose them; its answers are right.

lesson: 01-soft-lookup
expect: nothing
"""

# %% on the notebook
for cell in notebook.cells:
    cell.metadata.pop("nbgrader", None)
