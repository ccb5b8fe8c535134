"""Returns NaN, from which nothing differs by more than the tolerance.

lesson: 06-causal-mask
expect: attention FAIL
"""

# %% attention
def attention(x, Wq, Wk, Wv):
    weights = torch.full((len(x), x.shape[1], x.shape[1]), torch.nan, dtype=x.dtype)
    return torch.full((*x.shape[:2], Wv.shape[1]), torch.nan, dtype=x.dtype), weights
