"""Has forty cells that end the process, each of which has to be started again; it is right.

lesson: 01-soft-lookup
expect: nothing
"""

# %% on the notebook
import nbformat

exits = [nbformat.v4.new_code_cell("import os\nos._exit(1)") for _ in range(40)]
notebook.cells[1:1] = exits
