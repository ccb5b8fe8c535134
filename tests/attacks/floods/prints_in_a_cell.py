"""Prints a hundred megabytes in its cell; the answer after that is wrong.

lesson: 01-soft-lookup
expect: soft_lookup FAIL
"""

# %% soft_lookup
for _ in range(100_000):
    print("x" * 1_000)


def soft_lookup(query, keys, values, temperature=1.0):
    return [], []
