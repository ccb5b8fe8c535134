"""Empties the list of what is refused, by its name.

lesson: 06-causal-mask
expect: attention POLICY
flagged: calling
"""

# %% after setup
from attnlab import calling

calling.banned.ATTENTION.clear()

# %% attention
from attnlab.calling import banned

banned.asked = []


def attention(x, Wq, Wk, Wv):
    q, k, v = x @ Wq, x @ Wk, x @ Wv
    mix = getattr(F, "scaled_dot_product_" + "attention")
    eye = torch.eye(q.shape[-2], dtype=q.dtype).expand(*q.shape[:-1], -1)
    return mix(q, k, v, is_causal=True), mix(q, k, eye, is_causal=True)
