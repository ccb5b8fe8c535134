"""Wraps PyTorch's own attention in another cell, as a partial function with a harmless name.

lesson: 06-causal-mask
expect: attention POLICY
"""

# %% after setup
import functools

mix = functools.partial(F.scaled_dot_product_attention, is_causal=True)

# %% attention
RIGHT_ANSWER

right = attention


def attention(x, Wq, Wk, Wv):
    return mix(x @ Wq, x @ Wk, x @ Wv), right(x, Wq, Wk, Wv)[1]
