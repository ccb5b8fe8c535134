"""Asks what functions are made of, and not what they do.

lesson: 06-causal-mask
expect: looks_ahead PASS
because: a function's closure can be read, so that a person is told of the way to it
flagged: getclosurevars
"""

# %% looks_ahead
import inspect


def looks_ahead(fn, x):
    made = inspect.getclosurevars(fn).nonlocals
    return bool(((made["turn"] @ made["turned"]).triu(1).abs() > 1e-9).any())
