"""Hands in a link to another student's folder.

lesson: 01-soft-lookup
expect: INVALID
"""

# %% in the folder
path.unlink()
path.parent.rmdir()
path.parent.symlink_to("../000-honest/01-soft-lookup")
