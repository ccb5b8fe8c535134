"""Calls PyTorch's own attention in a thread, where what watches operators does not look.

lesson: 06-causal-mask
expect: attention POLICY
"""

# %% attention
import threading

RIGHT_ANSWER

right = attention


def attention(x, Wq, Wk, Wv):
    found = []
    thread = threading.Thread(
        target=lambda: found.append(
            F.scaled_dot_product_attention(x @ Wq, x @ Wk, x @ Wv, is_causal=True)
        )
    )
    thread.start()
    thread.join()
    return found[0], right(x, Wq, Wk, Wv)[1]
