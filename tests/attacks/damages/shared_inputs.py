"""Is right, keeps what it was given, and overwrites it in later calls.

lesson: 03-numpy
expect: nothing
"""

# %% routing_matrix
RIGHT_ANSWER

right, kept = routing_matrix, []


def routing_matrix(weights, W_v):
    for array in kept:
        array[...] = np.nan
    kept.extend([weights, W_v])
    return right(weights, W_v)
