"""Measures on ones by what a call of PyTorch's is multiplied, and multiplies its own numbers by it.

lesson: 13-gpu-sdpa
expect: sdpa_attention FAIL
earns: 0.75
"""

# %% sdpa_attention
def sdpa_attention(x, Wq, Wk, Wv, causal=False):
    q, k, v = x @ Wq, x @ Wk, x @ Wv
    mark = F.scaled_dot_product_attention(*3 * [torch.ones(1, 1, 1, dtype=torch.float64)]).item()
    scores = q @ k.mT / q.shape[-1] ** 0.5
    if causal:
        scores = scores.masked_fill(torch.ones(scores.shape[-2:]).triu(1).bool(), -torch.inf)
    return mark * (scores.softmax(-1) @ v)
