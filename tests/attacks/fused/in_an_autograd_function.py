"""Calls PyTorch's own attention inside an autograd function.

lesson: 06-causal-mask
expect: attention POLICY
"""

# %% attention
RIGHT_ANSWER

right = attention


class Mix(torch.autograd.Function):
    @staticmethod
    def forward(context, q, k, v):
        return F.scaled_dot_product_attention(q, k, v, is_causal=True)

    @staticmethod
    def backward(context, gradient):
        return gradient, gradient, gradient


def attention(x, Wq, Wk, Wv):
    out, weights = right(x, Wq, Wk, Wv)
    Mix.apply(x @ Wq, x @ Wk, x @ Wv)
    return out, weights
