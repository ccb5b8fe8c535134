"""Raises an exception that raises another whenever anything of it is looked at.

lesson: 01-soft-lookup
expect: soft_lookup ERROR
"""

# %% soft_lookup
class Merciless(Exception):
    def __getattribute__(self, name):
        raise SystemExit

    __repr__ = __str__ = __hash__ = __eq__ = lambda self, *others: exit()
    __class__ = __traceback__ = property(lambda self: exit())


def soft_lookup(query, keys, values, temperature=1.0):
    raise Merciless
