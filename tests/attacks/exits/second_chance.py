"""Ends the process when it is called, and has a right function ready for a second attempt.

lesson: 01-soft-lookup
expect: soft_lookup CRASH
"""

# %% soft_lookup
import os

RIGHT_ANSWER

right = soft_lookup


def soft_lookup(*args, **kwargs):
    os._exit(0)


# %% after soft_lookup-check
soft_lookup = right
