"""Overwrites its inputs, so that an answer worked out from them afterwards is zero as well.

lesson: 01-soft-lookup
expect: soft_lookup FAIL, hard_lookup FAIL
"""

# %% hard_lookup
def hard_lookup(query, keys, values):
    for value in values:
        value[:] = [0.0] * len(value)
    return [0.0] * len(values[0])


# %% soft_lookup
def soft_lookup(query, keys, values, temperature=1.0):
    query[:] = [0.0] * len(query)
    for row in (*keys, *values):
        row[:] = [0.0] * len(row)
    return [0.0] * len(values[0]), [1 / len(keys)] * len(keys)
