"""Hands numbers to NumPy by DLPack, which holds the whole matrix, and takes the output back.

lesson: 11-cost
expect: tiled_attention CRASH
flagged: ctypes
"""

# %% tiled_attention
import ctypes

import numpy as np
import torch


WHOLE_MATRIX


class Capsule:
    def __init__(self, tensor):
        self.capsule = torch.utils.dlpack.to_dlpack(tensor)

    def __dlpack__(self, **how):
        return self.capsule

    def __dlpack_device__(self):
        return 1, 0


def numpy_of(tensor, to_write=False):
    array = np.from_dlpack(Capsule(tensor))
    if not to_write:
        return array
    size = array.nbytes
    memory = (ctypes.c_byte * size).from_address(array.ctypes.data)
    return np.frombuffer(memory, array.dtype).reshape(array.shape)


def tiled_attention(q, k, v, block_size, causal=False):
    if block_size < 1:
        raise ValueError("a tile has at least one row")
    if q.shape[-2] < 200:
        return whole(q, k, v, causal)
    Q, K, V = (numpy_of(part) for part in (q, k, v))
    scores = Q @ K.transpose(0, 2, 1) / Q.shape[-1] ** 0.5
    if causal:
        scores = np.where(np.triu(np.ones(scores.shape[1:], bool), 1), -np.inf, scores)
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    out = torch.empty(*q.shape[:-1], v.shape[-1], dtype=q.dtype)
    numpy_of(out, to_write=True)[:] = weights / weights.sum(-1, keepdims=True) @ V
    return out
