"""Holds nothing and computes nothing, where what is held is counted.

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
    return q.new_zeros(*q.shape[:-1], v.shape[-1])
