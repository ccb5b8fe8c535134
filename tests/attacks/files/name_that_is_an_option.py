r"""Has a name that looks like an option, or a formula in a table; its answers are right.

lesson: 01-soft-lookup
expect: INVALID
student: "--seed=1"
"""

# %% in the folder
assert folder.name.startswith("--")
