"""Hands in a notebook of version 99.

lesson: 01-soft-lookup
expect: INVALID
"""

# %% in the folder
path.write_text(path.read_text().replace('"nbformat": 4', '"nbformat": 99'))
