"""Hands in a folder by the notebook's name.

lesson: 01-soft-lookup
expect: INVALID
"""

# %% in the folder
path.unlink()
path.mkdir()
