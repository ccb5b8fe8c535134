"""Returns an object that runs a program when it is unpickled, copied, or compared.

lesson: 01-soft-lookup
expect: soft_lookup FAIL
"""

# %% soft_lookup
class Program(list):
    def __reduce__(self):
        return __import__("os").system, ("touch /tmp/left-by-an-attack",)

    __reduce_ex__ = lambda self, protocol: self.__reduce__()
    __deepcopy__ = __copy__ = __getstate__ = lambda self, *memo: self.__reduce__()


def soft_lookup(query, keys, values, temperature=1.0):
    return Program([0.0]), Program([0.0])
