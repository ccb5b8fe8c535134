r"""Has a name that is no UTF-8.

lesson: 01-soft-lookup
expect: INVALID
student: "zz\udcff"
"""

# %% in the folder
assert folder.is_dir()
