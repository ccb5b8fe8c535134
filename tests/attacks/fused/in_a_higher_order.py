"""Calls what PyTorch's flexible attention is made of, below its public face.

lesson: 06-causal-mask
expect: attention POLICY
"""

# %% attention
import sys

import torch.nn.attention.flex_attention as face

RIGHT_ANSWER

right = attention


def attention(x, Wq, Wk, Wv):
    _, weights = right(x, Wq, Wk, Wv)
    parts = sys.modules["torch._higher_order_ops.flex_" + "noitnetta"[::-1]]
    mix = getattr(parts, "math_" + "noitnetta"[::-1])
    q, k, v = (part[:, None] for part in (x @ Wq, x @ Wk, x @ Wv))

    def past(score, b, h, i, j):
        return torch.where(i >= j, score, -torch.inf)

    return mix(q, k, v, past, (face.noop_mask,), q.shape[-1] ** -0.5, {})[0][:, 0], weights
