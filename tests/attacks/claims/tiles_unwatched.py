"""Takes the watch off, and puts it on again once the whole matrix is gone.

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
    watch = torch._C._pop_torch_dispatch_stack(None)
    out.copy_(whole(q, k, v, causal))
    torch._C._push_on_torch_dispatch_stack(watch)
    return out
