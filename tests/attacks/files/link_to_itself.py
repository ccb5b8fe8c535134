"""Hands in a link to itself.

lesson: 01-soft-lookup
expect: INVALID
"""

# %% in the folder
path.unlink()
path.symlink_to(path.name)
