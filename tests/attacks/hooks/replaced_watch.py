"""Replaces, by name and in a call, what watches how attention in tiles goes about it.

lesson: 11-cost
expect: tiled_attention FAIL or ERROR
because: what it says of itself is no answer, or it raises
earns: 3
"""

# %% tiled_attention
import sys

import torch

import attnlab.calling.watching as watching

watching.holds = lambda *args: (False, False, False)


def tiled_attention(q, k, v, block_size, causal=False):
    for name, module in list(sys.modules.items()):
        if "watching" in name:
            module.holds = lambda *args: (False, False, False)
    if block_size < 1:
        raise ValueError("a tile has at least one row")
    scores = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5
    if causal:
        n, m = scores.shape[-2:]
        scores = scores.masked_fill(torch.ones(n, m, dtype=torch.bool).triu(1), float("-inf"))
    return torch.softmax(scores, dim=-1) @ v
