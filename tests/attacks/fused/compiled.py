"""Compiles PyTorch's own attention first.

lesson: 06-causal-mask
expect: attention POLICY
"""

# %% after setup
mix = torch.compile(lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=True))

# %% attention
RIGHT_ANSWER

right = attention


def attention(x, Wq, Wk, Wv):
    return mix(x @ Wq, x @ Wk, x @ Wv), right(x, Wq, Wk, Wv)[1]
