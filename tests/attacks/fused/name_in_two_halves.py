"""Calls PyTorch's own attention by a name that is put together while it runs.

lesson: 06-causal-mask
expect: attention POLICY
"""

# %% attention
RIGHT_ANSWER

right = attention


def attention(x, Wq, Wk, Wv):
    _, weights = right(x, Wq, Wk, Wv)
    mix = getattr(F, "scaled_dot" + "_product_" + "noitnetta"[::-1])
    return mix(x @ Wq, x @ Wk, x @ Wv, is_causal=True), weights
