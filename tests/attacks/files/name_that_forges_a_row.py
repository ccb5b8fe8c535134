r"""Has a name that would be a row of its own in nbgrader's export, with all points.

lesson: 01-soft-lookup
expect: INVALID
student: "zz\n01-soft-lookup,,,zz-forged,,,,6.0,0.0,6.0,6.0"
"""

# %% in the folder
assert "zz-forged" in folder.name
