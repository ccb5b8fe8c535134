"""Hands in a link to the course's own solution.

lesson: 01-soft-lookup
expect: INVALID
"""

# %% in the folder
path.unlink()
path.symlink_to("../../../../solutions/01-soft-lookup/01-soft-lookup.ipynb")
