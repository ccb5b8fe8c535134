"""Hands in nothing by the right name, and two notebooks by others.

lesson: 01-soft-lookup
expect: INVALID
"""

# %% in the folder
path.with_name("other.ipynb").write_bytes(path.read_bytes())
path.rename(path.with_name("homework.ipynb"))
