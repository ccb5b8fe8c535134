"""Recurses, catches the error, and recurses from there: 2 to the power of 1000 calls.

lesson: 01-soft-lookup
expect: soft_lookup TIMEOUT
limits: short
"""

# %% soft_lookup
def again():
    try:
        again()
    except BaseException:
        again()


def soft_lookup(query, keys, values, temperature=1.0):
    return again()
