"""Fetches the kernel of PyTorch's own attention from below all functions.

lesson: 06-causal-mask
expect: attention POLICY
"""

# %% attention
RIGHT_ANSWER

right = attention


def attention(x, Wq, Wk, Wv):
    _, weights = right(x, Wq, Wk, Wv)
    found = torch._C._get_operation_overload(
        "aten::_scaled_dot_product_" + "flash_atten" + "tion_for_cpu", ""
    )
    mix = found[0] if isinstance(found, tuple) else found
    q, k, v = (part[:, None].contiguous() for part in (x @ Wq, x @ Wk, x @ Wv))
    return mix(q, k, v, 0.0, True)[0][:, 0], weights
