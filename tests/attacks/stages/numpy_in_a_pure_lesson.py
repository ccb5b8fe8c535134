"""Imports NumPy under a name that is put together while it runs.

lesson: 01-soft-lookup
expect: softmax POLICY
"""

# %% softmax
import importlib


def softmax(scores):
    np = importlib.import_module("num" + "py")
    weights = np.exp(np.array(scores) - max(scores))
    return (weights / weights.sum()).tolist()
