"""Returns arrays of bool and of unsigned bytes, of the right shape, to break what looks closer.

lesson: 04-scaling
expect: softmax_jacobian FAIL, entropy FAIL
"""

# %% softmax_jacobian
def softmax_jacobian(p):
    return (np.diag(p) - np.outer(p, p)) > 0


# %% entropy
def entropy(p, axis=-1):
    return np.sum(p, axis=axis).astype(np.uint8)
