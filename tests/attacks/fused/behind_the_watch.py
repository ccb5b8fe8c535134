"""Switches off what watches operators, then calls PyTorch's own attention.

lesson: 06-causal-mask
expect: attention POLICY
"""

# %% attention
from torch.utils._python_dispatch import _disable_current_modes

RIGHT_ANSWER

right = attention


def attention(x, Wq, Wk, Wv):
    with _disable_current_modes(), torch._C.DisableTorchFunction():
        out = F.scaled_dot_product_attention(x @ Wq, x @ Wk, x @ Wv, is_causal=True)
    return out, right(x, Wq, Wk, Wv)[1]
