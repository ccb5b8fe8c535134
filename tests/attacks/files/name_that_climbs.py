r"""Has a name made of dots, backslashes and percent signs; its answers are right.

lesson: 01-soft-lookup
expect: nothing
student: "zz..\\..\\%2e%2e%2fsolutions"
"""

# %% in the folder
assert "%2e" in folder.name
