"""Asks what functions are made of, and not what they do.

lesson: 06-causal-mask
expect: looks_ahead FAIL
"""

# %% looks_ahead
import inspect


def looks_ahead(fn, x):
    made = inspect.getclosurevars(fn).nonlocals
    return bool(((made["turn"] @ made["turned"]).triu(1).abs() > 1e-9).any())
