"""Hides PyTorch's own attention in a hook on a tensor, in a comprehension, in a default argument.

lesson: 06-causal-mask
expect: attention POLICY
"""

# %% before attention
def later(x, mix=F.scaled_dot_product_attention):
    return [mix(x, x, x) for _ in range(1)]


# %% attention
RIGHT_ANSWER

right = attention


def attention(x, Wq, Wk, Wv):
    out, weights = right(x, Wq, Wk, Wv)
    if x.dtype == torch.float64:
        y = x.detach().clone().requires_grad_()
        y.register_hook(lambda gradient: later(gradient.detach()) and None)
        with torch.enable_grad():
            y.sum().backward()
    return out, weights
