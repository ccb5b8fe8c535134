"""Replaces, by name, everything that stands beside it and reports on it.

lesson: 01-soft-lookup
expect: soft_lookup FAIL or ERROR or CRASH or POLICY
because: it breaks what calls it, or is refused because it meddles with that
"""

# %% soft_lookup
import sys


def soft_lookup(query, keys, values, temperature=1.0):
    calling = sys.modules["attnlab.calling.call"]
    observe = sys.modules["attnlab.calling.observe"]
    zero = observe.Scalar("float", 0.0)
    for name in ("observe", "describe"):
        setattr(observe, name, lambda thing: zero)
        setattr(calling, name, lambda thing: zero)
    for name in ("perform", "note", "_make"):
        setattr(calling, name, lambda *things: calling.Outcome(zero))
    wire = sys.modules["autograder.sandbox.child.wire"]
    for name in ("write_outcome", "write_value"):
        setattr(wire, name, lambda *things: ["scalar", "float", 3.0])
    return [], []
