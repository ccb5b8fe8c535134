"""Ends the process while its cell runs.

lesson: 01-soft-lookup
expect: soft_lookup CRASH
"""

# %% soft_lookup
RIGHT_ANSWER

import os

os._exit(0)
