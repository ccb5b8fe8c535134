"""Hands in a named pipe, which whoever opens it waits for.

lesson: 01-soft-lookup
expect: INVALID
"""

# %% in the folder
import os

path.unlink()
os.mkfifo(path)
