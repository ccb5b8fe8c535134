"""Returns right shapes of strange numbers: complex, bool, quarter precision, dates, objects, text.

lesson: 04-scaling
expect: softmax_jacobian FAIL, entropy FAIL, best_scale FAIL, score_std FAIL
"""

# %% score_std
def score_std(Q, K):
    return np.complex128((Q * K).sum(-1).std())


# %% softmax_jacobian
def softmax_jacobian(p):
    right = np.diag(p) - np.outer(p, p)
    return right.astype(complex) + 1j


# %% entropy
calls = 0


def entropy(p, axis=-1):
    global calls
    calls += 1
    shape = np.sum(p, axis=axis).shape
    kinds = ["O", "M8[s]", "U9", "S9", "V4", "f4,i2", "?", "u1", "f2", "c16", "g", "G", "m8[D]"]
    return np.zeros(shape, kinds[calls % len(kinds)])


# %% best_scale
def best_scale(Q, K):
    return 10**5000
