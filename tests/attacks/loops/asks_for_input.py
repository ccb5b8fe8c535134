"""Asks the person at the keyboard, who is not there.

lesson: 01-soft-lookup
expect: soft_lookup ERROR
"""

# %% soft_lookup
def soft_lookup(query, keys, values, temperature=1.0):
    return input("What is the answer? ")
