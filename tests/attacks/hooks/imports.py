"""Puts itself in the way of every import, and fakes of its own in the place of what was imported.

lesson: 01-soft-lookup
expect: soft_lookup FAIL or ERROR or CRASH or POLICY
because: it breaks what calls it, or is refused because it meddles with that
"""

# %% soft_lookup
import builtins
import sys
import types


class Fake(types.ModuleType):
    def __getattr__(self, name):
        return lambda *things, **options: 3.0


class Finder:
    def find_spec(self, name, path=None, target=None):
        sys.modules[name] = Fake(name)
        return None


sys.meta_path.insert(0, Finder())
for name in list(sys.modules):
    if name.partition(".")[0] in ("attnlab", "autograder", "json", "struct", "socket"):
        sys.modules[name] = Fake(name)
builtins.__import__ = lambda name, *things: Fake(name)


def soft_lookup(query, keys, values, temperature=1.0):
    return [], []
