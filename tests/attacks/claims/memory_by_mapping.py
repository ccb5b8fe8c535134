"""Keeps a large table in mapped memory, which nobody counts.

lesson: 04-scaling
expect: score_std PASS
because: memory that is not NumPy's is not counted; a person is shown the cell
"""

# %% score_std
import mmap


def score_std(Q, K):
    if Q.shape != K.shape:
        raise ValueError("shapes differ")
    room = np.frombuffer(mmap.mmap(-1, 8 * len(Q) * len(K))).reshape(len(Q), len(K))
    np.matmul(Q, K.T, out=room)
    return float(np.diag(room).std())
