"""Sends itself SIGKILL.

lesson: 01-soft-lookup
expect: soft_lookup CRASH
"""

# %% soft_lookup
import os
import signal


def soft_lookup(query, keys, values, temperature=1.0):
    os.kill(os.getpid(), signal.SIGKILL)
