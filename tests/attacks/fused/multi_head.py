"""Has nn.MultiheadAttention do it, with matrices that change nothing.

lesson: 06-causal-mask
expect: attention POLICY
"""

# %% attention
RIGHT_ANSWER

right = attention


def attention(x, Wq, Wk, Wv):
    out, weights = right(x, Wq, Wk, Wv)
    with torch.no_grad():
        unused = nn.MultiheadAttention(x.shape[-1], 1, batch_first=True).to(x.dtype)
        unused.eval()(x, x, x, need_weights=False)
    return out, weights
