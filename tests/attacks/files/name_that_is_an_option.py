r"""Has a name that looks like an option; its answers are right.

lesson: 01-soft-lookup
expect: nothing
student: "--seed=1"
"""

# %% in the folder
assert folder.name.startswith("--")
