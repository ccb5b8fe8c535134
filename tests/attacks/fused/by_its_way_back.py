"""Has attention as a gradient: dV is weights' transpose times what comes back, so roles are swapped.

lesson: 11-cost
expect: tiled_attention POLICY
flagged: _scaled_dot_product_flash_attention_for_cpu_backward
"""

# %% tiled_attention
import torch.nn.functional as F

WHOLE_MATRIX

back = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu_backward


def tiled_attention(q, k, v, block_size, causal=False):
    if block_size < 1:
        raise ValueError("a tile has at least one row")
    if q.shape[-2] < 200:
        return whole(q, k, v, causal)
    (n, d), e = q.shape[-2:], v.shape[-1]
    wide = max(d, e + 1)
    one = lambda t: F.pad(t, (0, wide - t.shape[-1])).reshape(-1, 1, t.shape[-2], wide).flip(-2)
    keys, queries, values = one(q), one(k), one(F.pad(v, (0, 1), value=1.0))
    none = torch.zeros_like(queries[..., 0])
    out = back(values, queries, keys, values, keys, none, 0.0, causal, scale=d**-0.5)[2]
    out = out[:, 0].flip(-2).reshape(*q.shape[:-2], n, wide)
    return out[..., :e] / out[..., e : e + 1]
