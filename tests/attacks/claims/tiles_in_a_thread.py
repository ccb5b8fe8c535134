"""Holds the whole matrix in another thread, where no mode of PyTorch's sees it.

lesson: 11-cost
expect: tiled_attention FAIL
earns: 3
"""

# %% tiled_attention
import threading

import torch


WHOLE_MATRIX


def tiled_attention(q, k, v, block_size, causal=False):
    if block_size < 1:
        raise ValueError("a tile has at least one row")
    if q.shape[-2] < 200:
        return whole(q, k, v, causal)
    out = torch.empty(*q.shape[:-1], v.shape[-1], dtype=q.dtype)


    def fill():
        with torch.no_grad():
            out.copy_(whole(q, k, v, causal))


    thread = threading.Thread(target=fill)
    thread.start()
    thread.join()
    return out
