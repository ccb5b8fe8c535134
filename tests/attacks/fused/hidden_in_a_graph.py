"""Hides the name of PyTorch's own attention from readers, and the call in a recorded graph.

lesson: 06-causal-mask
expect: attention POLICY
"""

# %% after setup
mix = torch.jit.trace(
    lambda q, k, v: getattr(F, "scaled_dot" + "_product_" + "noitnetta"[::-1])(
        q, k, v, is_causal=True
    ),
    (torch.rand(2, 3, 4, dtype=torch.float64),) * 3,
)

# %% attention
RIGHT_ANSWER

right = attention


def attention(x, Wq, Wk, Wv):
    return mix(x @ Wq, x @ Wk, x @ Wv), right(x, Wq, Wk, Wv)[1]
