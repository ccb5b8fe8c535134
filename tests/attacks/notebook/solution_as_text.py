"""Has turned its right answer into text, where nobody would run it.

lesson: 01-soft-lookup
expect: nothing
repaired: soft_lookup
"""

# %% on the notebook
cell = notebook.solution("soft_lookup")
cell.cell_type = "markdown"
del cell["outputs"], cell["execution_count"]
