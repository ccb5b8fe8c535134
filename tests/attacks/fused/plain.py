"""Calls PyTorch's own attention.

lesson: 06-causal-mask
expect: attention POLICY
"""

# %% attention
RIGHT_ANSWER

right = attention


def attention(x, Wq, Wk, Wv):
    _, weights = right(x, Wq, Wk, Wv)
    return F.scaled_dot_product_attention(x @ Wq, x @ Wk, x @ Wv, is_causal=True), weights
