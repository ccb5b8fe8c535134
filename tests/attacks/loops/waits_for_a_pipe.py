"""Reads from a pipe that nothing is written into, with all signals blocked.

lesson: 01-soft-lookup
expect: soft_lookup TIMEOUT
limits: short
"""

# %% soft_lookup
import os
import signal


def soft_lookup(query, keys, values, temperature=1.0):
    signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
    end, _ = os.pipe()
    return os.read(end, 1)
