"""Calls the operator below PyTorch's own attention.

lesson: 06-causal-mask
expect: attention POLICY
"""

# %% attention
RIGHT_ANSWER

right = attention


def attention(x, Wq, Wk, Wv):
    _, weights = right(x, Wq, Wk, Wv)
    q, k, v = x @ Wq, x @ Wk, x @ Wv
    return torch.ops.aten.scaled_dot_product_attention(q, k, v, None, 0.0, True), weights
