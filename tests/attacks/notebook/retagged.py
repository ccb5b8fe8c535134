"""Marks its own answers as locked, its text as a check, and locked cells as its own; all is right.

lesson: 01-soft-lookup
expect: nothing
"""

# %% on the notebook
for cell in notebook.cells:
    said = cell.metadata.get("nbgrader")
    if said:
        said["solution"], said["locked"] = not said["solution"], not said["locked"]
        said["task"] = True
