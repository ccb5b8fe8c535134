"""Has a name that is HTML, which formgrader shows without escaping it.

lesson: 01-soft-lookup
expect: INVALID
student: "zz<img src=x onerror=alert(1)>"
"""

# %% in the folder
assert "<img" in folder.name
