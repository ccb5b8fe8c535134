"""Calls what PyTorch's compiler knows attention by: a function of plain operators.

lesson: 06-causal-mask
expect: attention PASS
because: the compiler has dozens of these, so that a person is told of the name
"""

# %% attention
from torch._inductor.fx_passes.fuse_attention import _sfdp_pattern_5 as mix


def attention(x, Wq, Wk, Wv):
    if x.shape[-1] != Wq.shape[0]:
        raise ValueError("widths differ")
    q, k, v = x @ Wq, x @ Wk, x @ Wv
    n, d = q.shape[-2:]
    mask = nn.Transformer.generate_square_subsequent_mask(n).to(q)
    one = torch.eye(n, dtype=q.dtype).expand(len(q), n, n)
    return mix(q, k, v, mask, d**0.5), mix(q, k, one, mask, d**0.5)
