"""Records PyTorch's own attention as a graph first, and runs the graph.

lesson: 06-causal-mask
expect: attention POLICY
"""

# %% after setup
q = torch.rand(2, 3, 4, dtype=torch.float64)
mix = torch.jit.trace(lambda q, k, v: F.scaled_dot_product_attention(q, k, v), (q, q, q))

# %% attention
RIGHT_ANSWER

right = attention


def attention(x, Wq, Wk, Wv):
    mix(x @ Wq, x @ Wk, x @ Wv)
    return right(x, Wq, Wk, Wv)
