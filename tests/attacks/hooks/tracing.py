"""Traces every line that runs beside it, and rewrites what it finds there.

lesson: 01-soft-lookup
expect: soft_lookup FAIL or ERROR or CRASH or POLICY
because: it breaks what calls it, or is refused because it meddles with that
"""

# %% soft_lookup
import sys
import threading


def rewrite(frame, event, argument):
    for name in ("right", "expected", "difference", "score", "verdict", "exercise"):
        if name in frame.f_locals:
            print(name, frame.f_locals[name])
    return rewrite


def soft_lookup(query, keys, values, temperature=1.0):
    sys.settrace(rewrite)
    sys.setprofile(rewrite)
    threading.settrace(rewrite)
    frame = sys._getframe()
    while frame is not None:
        frame.f_trace = rewrite
        frame = frame.f_back
    return [], []
