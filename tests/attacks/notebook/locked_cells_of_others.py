"""Empties, edits, moves and deletes locked cells that are no checks; its answers are right.

lesson: 03-numpy
expect: nothing
repaired: by-hand
"""

# %% on the notebook
notebook.cell("by-hand").source = "raise SystemExit"
notebook.cell("see-einsum").source = ""
notebook.cells.remove(notebook.cell("see-keepdims"))
notebook.cells.append(notebook.cells.pop(0))
