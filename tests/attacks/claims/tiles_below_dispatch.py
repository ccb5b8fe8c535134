"""Holds the whole matrix with Python's part of the dispatcher left out.

lesson: 11-cost
expect: tiled_attention FAIL
earns: 3
"""

# %% tiled_attention
import torch


WHOLE_MATRIX


def tiled_attention(q, k, v, block_size, causal=False):
    if block_size < 1:
        raise ValueError("a tile has at least one row")
    if q.shape[-2] < 200:
        return whole(q, k, v, causal)
    out = torch.empty(*q.shape[:-1], v.shape[-1], dtype=q.dtype)
    with torch._C._ExcludeDispatchKeyGuard(torch._C.DispatchKeySet(torch._C.DispatchKey.Python)):
        out.copy_(whole(q, k, v, causal))
    return out
