"""Imports NumPy under a name that is put together while it runs.

lesson: 02-pure-python
expect: self_attention POLICY
"""

# %% self_attention
import importlib


def self_attention(X, W_q, W_k, W_v):
    np = importlib.import_module("num" + "py")
    q, k, v = np.array(X) @ W_q, np.array(X) @ W_k, np.array(X) @ W_v
    weights = np.exp(q @ k.T / len(W_q[0]) ** 0.5)
    weights = weights / weights.sum(-1, keepdims=True)
    return (weights @ v).tolist(), weights.tolist()
