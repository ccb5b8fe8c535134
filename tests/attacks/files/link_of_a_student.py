"""Is a link to another student, so that another's work counts for both.

lesson: 01-soft-lookup
expect: INVALID
"""

# %% in the folder
path.unlink()
path.parent.rmdir()
folder.rmdir()
folder.symlink_to("000-honest")
