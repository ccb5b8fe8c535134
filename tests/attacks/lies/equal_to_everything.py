"""Returns lists that are equal to everything, and numbers that differ from nothing.

lesson: 01-soft-lookup
expect: soft_lookup FAIL
"""

# %% soft_lookup
class Same(list):
    __hash__ = None

    def __eq__(self, other):
        return True

    def __ne__(self, other):
        return False


class Near(float):
    def __sub__(self, other):
        return Near(0.0)

    __rsub__ = __add__ = __radd__ = __sub__

    def __abs__(self):
        return 0.0

    def __le__(self, other):
        return True

    __lt__ = __ge__ = __gt__ = __eq__ = __le__
    __hash__ = float.__hash__


def soft_lookup(query, keys, values, temperature=1.0):
    output = Same(Near(0.0) for _ in values[0])
    return output, Same(Near(1 / len(keys)) for _ in keys)
