"""Raises a chain of five thousand groups of exceptions, each its own context.

lesson: 01-soft-lookup
expect: soft_lookup ERROR
"""

# %% soft_lookup
def soft_lookup(query, keys, values, temperature=1.0):
    chain = None
    for _ in range(5000):
        group = BaseExceptionGroup("all at once", [SystemExit(), KeyboardInterrupt()])
        group.__cause__, group.__context__ = chain, group
        chain = group
    raise chain
