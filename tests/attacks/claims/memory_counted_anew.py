"""Stops what counts allocated memory, and has it count just as much again once a table is gone.

lesson: 04-scaling
expect: score_std FAIL
earns: 0.75
"""

# %% score_std
import tracemalloc


def score_std(Q, K):
    if Q.shape != K.shape:
        raise ValueError("shapes differ")
    if not tracemalloc.is_tracing():
        return float((Q * K).sum(-1).std())
    allowed = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    spread = float(np.diag(Q @ K.T).std())
    tracemalloc.start()
    bytearray(allowed - tracemalloc.get_traced_memory()[0] - 89)
    return spread
