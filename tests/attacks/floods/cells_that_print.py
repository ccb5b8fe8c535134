"""Has 1,500 cells that print what takes six bytes a character in a notebook; its answers are right.

lesson: 01-soft-lookup
expect: nothing
"""

# %% on the notebook
import nbformat

source = "print('\\x01' * 9999)"
notebook.cells += [nbformat.v4.new_code_cell(source) for _ in range(1500)]
