"""Hides the name of PyTorch's own attention from readers, and the call in a thread from watchers.

lesson: 06-causal-mask
expect: attention POLICY
"""

# %% attention
import threading

RIGHT_ANSWER

right = attention


def attention(x, Wq, Wk, Wv):
    out, weights = right(x, Wq, Wk, Wv)
    if x.requires_grad:
        return out, weights
    mix = getattr(F, "scaled_dot" + "_product_" + "noitnetta"[::-1])
    found = []
    thread = threading.Thread(
        target=lambda: found.append(mix(x @ Wq, x @ Wk, x @ Wv, is_causal=True))
    )
    thread.start()
    thread.join()
    return found[0], weights
