"""Returns an object that says that it is a list, to whoever asks.

lesson: 01-soft-lookup
expect: soft_lookup FAIL
"""

# %% soft_lookup
class Impostors(type):
    def __eq__(cls, other):
        return True

    __hash__ = type.__hash__

    def __instancecheck__(cls, thing):
        return True

    def __getattribute__(cls, name):
        return getattr(list, name) if name != "mro" else lambda: [list, object]


class Impostor(metaclass=Impostors):
    __class__ = property(lambda self: list)
    __module__ = "builtins"
    __qualname__ = "list"

    def __eq__(self, other):
        return True

    __hash__ = object.__hash__

    def __len__(self):
        return 2

    def __iter__(self):
        return iter(([0.0], [0.0]))

    def __getattr__(self, name):
        return self

    def __getitem__(self, index):
        return self


def soft_lookup(query, keys, values, temperature=1.0):
    return Impostor()
