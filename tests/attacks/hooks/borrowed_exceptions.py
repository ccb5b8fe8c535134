"""Raises the exceptions that its watchers use among themselves.

lesson: 01-soft-lookup
expect: soft_lookup TIMEOUT or ERROR or POLICY, softmax ERROR or POLICY, hard_lookup ERROR or POLICY
because: it stops just as what they stand for would, and reaching for them may be refused
"""

# %% hard_lookup
import sys


def hard_lookup(query, keys, values):
    raise sys.modules["autograder.sandbox.child.wire"].Gone


# %% softmax
def softmax(scores):
    raise sys.modules["attnlab.calling.call"].TooMuchOutput


# %% soft_lookup
def soft_lookup(query, keys, values, temperature=1.0):
    raise sys.modules["attnlab.calling.deadline"].Overrun
