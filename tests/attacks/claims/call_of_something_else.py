"""Makes PyTorch's call on other numbers, and answers with a way of its own.

lesson: 13-gpu-sdpa
expect: sdpa_attention FAIL
earns: 0.75
"""

# %% sdpa_attention
def sdpa_attention(x, Wq, Wk, Wv, causal=False):
    q, k, v = x @ Wq, x @ Wk, x @ Wv
    F.scaled_dot_product_attention(torch.ones(1, 1), torch.ones(1, 1), torch.ones(1, 1))
    scores = q @ k.mT / q.shape[-1] ** 0.5
    if causal:
        scores = scores.masked_fill(torch.ones(scores.shape[-2:]).triu(1).bool(), -torch.inf)
    return scores.softmax(-1) @ v
