"""Hands in nothing by the right name, and the notebook by another.

lesson: 01-soft-lookup
expect: INVALID
"""

# %% in the folder
path.rename(path.with_name("homework.ipynb"))
