"""Removes the name of PyTorch's own attention from the report of the call.

lesson: 06-causal-mask
expect: attention POLICY
"""

# %% attention
import sys

RIGHT_ANSWER

right = attention


def attention(x, Wq, Wk, Wv):
    out = F.scaled_dot_product_attention(x @ Wq, x @ Wk, x @ Wv, is_causal=True)
    frame = sys._getframe()
    while frame is not None:
        if "fused" in frame.f_locals:
            frame.f_locals["fused"].clear()
        frame = frame.f_back
    return out, right(x, Wq, Wk, Wv)[1]
