"""Copies PyTorch's own function, in a cell of its own, before its code is exchanged.

lesson: 06-causal-mask
expect: attention PASS
because: nothing of PyTorch's is called that could refuse, so that a person is told of the name
flagged: attention: cell 3 names PyTorch's own multi_head_attention_forward
"""

# %% after setup
import types

mix = F.multi_head_attention_forward
mix = types.FunctionType(mix.__code__, vars(F), "mix", mix.__defaults__)

# %% attention
def attention(x, Wq, Wk, Wv):
    q, k, v = x @ Wq, x @ Wk, x @ Wv
    n, d = q.shape[-2:]
    one, mask = torch.eye(d, dtype=q.dtype), nn.Transformer.generate_square_subsequent_mask(n).to(q)
    q, k = (each.reshape(-1, n, d).transpose(0, 1) for each in (q, k))
    nothing = 5 * (None,)
    _, weights = mix(
        *(q, k, k, d, 1, *nothing[:4], False, 0.0, one, None),
        **dict(training=False, attn_mask=mask, use_separate_proj_weight=True),
        **dict(q_proj_weight=one, k_proj_weight=one, v_proj_weight=one),
    )
    weights = weights.reshape(*x.shape[:-1], n)
    return weights @ v, weights
