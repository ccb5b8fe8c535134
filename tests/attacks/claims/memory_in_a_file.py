"""Keeps the table in a mapped file, half of it at a time.

lesson: 04-scaling
expect: score_std PASS
because: that memory is none of Python's or NumPy's, so that a person is told of the name
"""

# %% score_std
def score_std(Q, K):
    if Q.shape != K.shape:
        raise ValueError("shapes differ")
    n = len(Q)
    half = (n + 1) // 2
    table = np.memmap("/tmp/table", dtype=float, mode="w+", shape=(half, n))
    own = []
    for rows in (slice(0, half), slice(half, n)):
        np.matmul(Q[rows], K.T, out=table[: len(Q[rows])])
        own += table[: len(Q[rows])].diagonal(rows.start).tolist()
    return float(np.std(own))
