"""Is right, and overwrites in later calls what earlier ones returned.

lesson: 03-numpy
expect: routing_matrix FAIL
"""

# %% routing_matrix
RIGHT_ANSWER

right, kept = routing_matrix, []


def routing_matrix(weights, W_v):
    for array in kept:
        array[...] = np.nan
    kept.append(right(weights, W_v))
    return kept[-1]
