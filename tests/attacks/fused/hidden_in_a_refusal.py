"""Asks for PyTorch's own attention under a hidden name, and does without where it is refused.

lesson: 06-causal-mask
expect: attention PASS or POLICY
because: what was computed without it is the learner's own work, though the attempt may be flagged
"""

# %% attention
RIGHT_ANSWER

right = attention


def attention(x, Wq, Wk, Wv):
    out, weights = right(x, Wq, Wk, Wv)
    try:
        mix = getattr(F, "scaled_dot" + "_product_" + "noitnetta"[::-1])
        return mix(x @ Wq, x @ Wk, x @ Wv, is_causal=True), weights
    except RuntimeError:
        return out, weights
