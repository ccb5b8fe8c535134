"""Sets timers that raise exceptions in whatever runs next.

lesson: 01-soft-lookup
expect: hard_lookup FAIL or ERROR
because: they may hit its own call first
spoils: its own answers
"""

# %% hard_lookup
import signal


def interrupt(number, frame):
    raise KeyboardInterrupt


def hard_lookup(query, keys, values):
    signal.signal(signal.SIGVTALRM, interrupt)
    signal.signal(signal.SIGPROF, interrupt)
    signal.setitimer(signal.ITIMER_VIRTUAL, 0.01, 0.01)
    signal.setitimer(signal.ITIMER_PROF, 0.01, 0.01)
    return [0.0]
