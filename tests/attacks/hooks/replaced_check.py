"""Replaces check, and what is imported as check.

lesson: 01-soft-lookup
expect: soft_lookup FAIL
"""

# %% soft_lookup
import attnlab

RIGHT_ANSWER


class Three(float):
    def _repr_html_(self):
        return "<b>3 of 3 points</b>"


def check(function, **options):
    return Three(3.0)


attnlab.check = check
attnlab.__class__ = type("Always", (type(attnlab),), {"check": property(lambda self: check)})


def soft_lookup(query, keys, values, temperature=1.0):
    return [], []
