"""Hides the name of PyTorch's own attention from readers, and switches the watchers off.

lesson: 06-causal-mask
expect: attention POLICY
"""

# %% attention
from torch.utils._python_dispatch import _disable_current_modes

RIGHT_ANSWER

right = attention


def attention(x, Wq, Wk, Wv):
    _, weights = right(x, Wq, Wk, Wv)
    mix = getattr(F, "scaled_dot" + "_product_" + "noitnetta"[::-1])
    with _disable_current_modes(), torch._C.DisableTorchFunction():
        return mix(x @ Wq, x @ Wk, x @ Wv, is_causal=True), weights
