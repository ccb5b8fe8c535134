"""Computes on a kind of tensor of its own, which tells of itself what it likes.

lesson: 11-cost
expect: tiled_attention FAIL
earns: 3
"""

# %% tiled_attention
import torch


WHOLE_MATRIX


class Small(torch.Tensor):
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        if getattr(func, "__name__", "") in ("numel", "nbytes", "untyped_storage"):
            return torch.empty(0).untyped_storage() if "storage" in func.__name__ else 0
        return super().__torch_function__(func, types, args, kwargs or {})


def tiled_attention(q, k, v, block_size, causal=False):
    if block_size < 1:
        raise ValueError("a tile has at least one row")
    if q.shape[-2] < 200:
        return whole(q, k, v, causal)
    return whole(*(part.as_subclass(Small) for part in (q, k, v)), causal).as_subclass(torch.Tensor)
