"""Takes the timer away that would interrupt it, then loops.

lesson: 01-soft-lookup
expect: soft_lookup TIMEOUT
limits: short
"""

# %% soft_lookup
import signal
import sys


def soft_lookup(query, keys, values, temperature=1.0):
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, signal.SIG_IGN)
    sys.settrace(None)
    while True:
        pass
