"""Makes an empty tensor's memory larger once it has been looked at.

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
    scores = q.new_empty(0)
    torch.ops.aten.bmm.out(q, k.transpose(1, 2), out=scores)
    scores.div_(q.shape[-1] ** 0.5)
    if causal:
        n = q.shape[-2]
        for row in range(n - 1):
            future = scores.as_strided((len(q), n - row - 1), (n * n, 1), row * n + row + 1)
            future.fill_(float("-inf"))
    scores.exp_()
    sums = torch.ops.aten.bmm(scores, torch.ones_like(v))
    return torch.ops.aten.bmm(scores, v).div_(sums)
