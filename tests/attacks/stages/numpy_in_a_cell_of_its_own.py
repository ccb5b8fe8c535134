"""Imports NumPy in a cell that belongs to no exercise, and uses what it finds there.

lesson: 02-pure-python
expect: self_attention POLICY
"""

# %% after setup
import numpy as helper

# %% self_attention
def self_attention(X, W_q, W_k, W_v):
    q, k, v = (helper.array(X) @ W for W in (W_q, W_k, W_v))
    weights = helper.exp(q @ k.T / len(W_q[0]) ** 0.5)
    weights = weights / weights.sum(-1, keepdims=True)
    return (weights @ v).tolist(), weights.tolist()
