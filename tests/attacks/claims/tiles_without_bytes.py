"""Replaces what tells how many bytes a tensor's memory has.

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
    for kind in (torch.UntypedStorage, torch.TypedStorage):
        for name in ("nbytes", "size", "__len__"):
            setattr(kind, name, lambda self: 0)
    return whole(q, k, v, causal)
