"""Kills its parent, its group, and every number that a process may have.

lesson: 01-soft-lookup
expect: soft_lookup FAIL or CRASH
because: killing its own group may end the process itself
"""

# %% soft_lookup
import os
import signal


def soft_lookup(query, keys, values, temperature=1.0):
    for pid in (os.getppid(), -1, *range(2, 3000)):
        for number in (signal.SIGTERM, signal.SIGKILL, signal.SIGSTOP):
            try:
                os.kill(pid, number)
            except (OSError, OverflowError):
                pass
    try:
        os.killpg(0, signal.SIGKILL)
    except OSError:
        pass
    return [], []
