"""Compiles PyTorch's own attention into TorchScript first.

lesson: 06-causal-mask
expect: attention POLICY
"""

# %% after setup
@torch.jit.script
def mix(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    return torch._C._nn.scaled_dot_product_attention(q, k, v, None, 0.0, True)


# %% attention
RIGHT_ANSWER

right = attention


def attention(x, Wq, Wk, Wv):
    return mix(x @ Wq, x @ Wk, x @ Wv), right(x, Wq, Wk, Wv)[1]
