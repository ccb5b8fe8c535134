"""Captures a hundred megabytes of what its cell prints; the answer after that is wrong.

lesson: 01-soft-lookup
expect: soft_lookup FAIL
"""

# %% soft_lookup
%%capture out
for _ in range(100_000):
    print("x" * 1_000)


def soft_lookup(query, keys, values, temperature=1.0):
    return [], []
