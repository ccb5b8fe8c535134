"""Breaks what makes the calls, for the following exercises.

lesson: 01-soft-lookup
expect: hard_lookup FAIL or CRASH or ERROR or POLICY
because: its own answer is wrong, and meddling may be refused when it is read
"""

# %% hard_lookup
import sys


def hard_lookup(query, keys, values):
    for name in ("attnlab.calling.call", "attnlab.calling.observe", "autograder.sandbox.child.wire"):
        vars(sys.modules[name]).clear()
    return [0.0]
