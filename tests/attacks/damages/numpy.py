"""Breaks NumPy for the following exercises, and has it raise where it would warn.

lesson: 04-scaling
expect: score_std FAIL
spoils: its own answers
"""

# %% score_std
def score_std(Q, K):
    np.seterr(all="raise")
    np.diag = np.einsum = np.where = lambda *things, **options: np.zeros(1)
    return 0.0
