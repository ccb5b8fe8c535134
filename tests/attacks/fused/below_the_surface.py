"""Calls PyTorch's own attention in its C++ module, and its CPU kernel.

lesson: 05-pytorch
expect: SelfAttention POLICY
"""

# %% SelfAttention
class SelfAttention(nn.Module):
    def __init__(self, d, d_k, d_v, bias=False):
        super().__init__()
        self.W_q = nn.Linear(d, d_k, bias=bias)
        self.W_k = nn.Linear(d, d_k, bias=bias)
        self.W_v = nn.Linear(d, d_v, bias=bias)

    def forward(self, x):
        q, k, v = self.W_q(x), self.W_k(x), self.W_v(x)
        weights = (q @ k.mT / q.shape[-1] ** 0.5).softmax(-1)
        return torch._C._nn.scaled_dot_product_attention(q, k, v), weights
