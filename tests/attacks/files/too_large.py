"""Hands in a notebook of 40 megabytes.

lesson: 01-soft-lookup
expect: INVALID
"""

# %% in the folder
path.write_bytes(path.read_bytes() + b" " * 40_000_000)
