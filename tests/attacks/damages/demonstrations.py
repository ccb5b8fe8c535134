"""Is right when it is checked, and ends the process when the lesson shows how to use it.

lesson: 01-soft-lookup
expect: nothing
"""

# %% hard_lookup
import os

RIGHT_ANSWER

right = hard_lookup


def hard_lookup(query, keys, values):
    if query == "seas":
        os._exit(1)
    return right(query, keys, values)
