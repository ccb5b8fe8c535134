"""Lowers the process's own limits, which cannot be raised again.

lesson: 01-soft-lookup
expect: hard_lookup FAIL or ERROR or OOM or CRASH
because: its own answer is wrong, and may not get through
"""

# %% hard_lookup
import resource
import sys


def hard_lookup(query, keys, values):
    sys.setrecursionlimit(60)
    sys.setswitchinterval(1e9)
    resource.setrlimit(resource.RLIMIT_AS, (1 << 20, 1 << 20))
    resource.setrlimit(resource.RLIMIT_NOFILE, (0, 0))
    return [0.0]
