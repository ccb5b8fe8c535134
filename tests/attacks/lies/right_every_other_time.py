"""Is right in every other call, in the hope of being asked again.

lesson: 01-soft-lookup
expect: soft_lookup FAIL
"""

# %% soft_lookup
RIGHT_ANSWER

right, calls = soft_lookup, 0


def soft_lookup(*args, **kwargs):
    global calls
    calls += 1
    output, weights = right(*args, **kwargs)
    return (output, weights) if calls % 2 else (weights, output)
