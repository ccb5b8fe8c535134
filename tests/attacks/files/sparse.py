"""Hands in a terabyte that takes no room.

lesson: 01-soft-lookup
expect: INVALID
"""

# %% in the folder
import os

os.truncate(path, 1 << 40)
