"""Hands in an empty file.

lesson: 01-soft-lookup
expect: INVALID
"""

# %% in the folder
path.write_bytes(b"")
