"""Raises an exception with a message of a hundred megabytes and a name of one.

lesson: 01-soft-lookup
expect: soft_lookup ERROR
"""

# %% soft_lookup
Loud = type("L" * 1_000_000, (Exception,), {})
for _ in range(1200):
    Loud = type("Loud", (Loud,), {})


def soft_lookup(query, keys, values, temperature=1.0):
    raise type("L" * 1_000_000, (Loud,), {})("x" * 100_000_000)
