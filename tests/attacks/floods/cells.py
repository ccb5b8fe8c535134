"""Has twenty thousand cells.

lesson: 01-soft-lookup
expect: INVALID
"""

# %% on the notebook
import nbformat

notebook.cells += [nbformat.v4.new_code_cell(f"x = {number}") for number in range(20_000)]
