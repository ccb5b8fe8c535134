"""Has nn.TransformerEncoderLayer do it.

lesson: 06-causal-mask
expect: attention POLICY
"""

# %% attention
RIGHT_ANSWER

right = attention


def attention(x, Wq, Wk, Wv):
    layer = nn.TransformerEncoderLayer(x.shape[-1], 1, 4, batch_first=True).to(x.dtype).eval()
    with torch.no_grad():
        layer(x)
    return right(x, Wq, Wk, Wv)
