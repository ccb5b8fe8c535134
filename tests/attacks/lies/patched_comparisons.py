"""Makes every comparison that Python has say yes.

lesson: 01-soft-lookup
expect: soft_lookup FAIL or ERROR or CRASH
because: some of the patched names are used by what calls the function
"""

# %% soft_lookup
import builtins
import math
import operator

builtins.abs = lambda number: 0.0
builtins.all = builtins.any = builtins.isinstance = lambda *things: True
math.isclose = math.isfinite = operator.eq = operator.le = lambda *things, **options: True


def soft_lookup(query, keys, values, temperature=1.0):
    return [0.0], [0.0]
