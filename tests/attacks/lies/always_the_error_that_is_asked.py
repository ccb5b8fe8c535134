"""Raises an exception that is all exceptions at once, for the cases where one is the right answer.

lesson: 01-soft-lookup
expect: soft_lookup ERROR or FAIL or MISSING, hard_lookup ERROR or FAIL or MISSING
because: it raised; that it also says it is not written yet is true enough
"""

# %% hard_lookup
class Everything(KeyError, ValueError, TypeError, NotImplementedError):
    pass


def hard_lookup(query, keys, values):
    raise Everything


# %% soft_lookup
def soft_lookup(query, keys, values, temperature=1.0):
    raise Everything
