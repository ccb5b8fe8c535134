"""Calls PyTorch's own attention with Python's part of the dispatcher left out.

lesson: 06-causal-mask
expect: attention POLICY
"""

# %% attention
RIGHT_ANSWER

right = attention


def attention(x, Wq, Wk, Wv):
    _, weights = right(x, Wq, Wk, Wv)
    mix = getattr(F, "scaled_dot" + "_product_" + "noitnetta"[::-1])
    python = torch._C.DispatchKeySet(torch._C.DispatchKey.Python)
    with torch._C._AutoDispatchBelowAutograd(), torch._C._ExcludeDispatchKeyGuard(python):
        return mix(x @ Wq, x @ Wk, x @ Wv, is_causal=True), weights
