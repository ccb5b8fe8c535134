"""Replaces what counts allocated memory, and sets it back in a call, to hide a large table.

lesson: 04-scaling
expect: score_std FAIL
earns: 0.75
"""

# %% score_std
import tracemalloc

tracemalloc.get_traced_memory = lambda: (0, 0)


def score_std(Q, K):
    if Q.shape != K.shape:
        raise ValueError("shapes differ")
    spread = float(np.diag(Q @ K.T).std())
    tracemalloc.reset_peak()
    return spread
