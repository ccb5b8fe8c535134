"""Oracles: thin calls to PyTorch, taking and giving NumPy arrays (or lists of numbers).

Each is what a learner's answer is compared with, so none is a second way of computing attention.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
import torch.nn.functional as F


def tensor(data: Any) -> torch.Tensor:
    """Whole numbers become float64; other arrays keep their dtype."""
    array = np.asarray(data)
    return torch.as_tensor(array.astype(float) if array.dtype.kind in "iu" else array)


def softmax(scores: Any, axis: int = -1) -> np.ndarray:
    """torch.softmax over an axis.

    Args:
        scores: any shape.
    """
    return torch.softmax(tensor(scores), dim=axis).numpy()


def attend(
    queries: Any, keys: Any, values: Any, mask: Any = None, scale: float | None = None
) -> np.ndarray:
    """F.scaled_dot_product_attention, scale 1/√d_k unless told.

    Args:
        queries: (…, N, d_k).
        keys: (…, M, d_k).
        values: (…, M, d_v).
        mask: (…, N, M) bool, True = attend; None lets all attend.
        scale: what scores are multiplied by.
    Returns:
        (…, N, d_v).
    """
    allowed = None if mask is None else tensor(mask)
    q, k, v = (tensor(part) for part in (queries, keys, values))
    return F.scaled_dot_product_attention(q, k, v, attn_mask=allowed, scale=scale).numpy()


def weights(queries: Any, keys: Any, mask: Any = None, scale: float | None = None) -> np.ndarray:
    """The weights that `attend` uses: its output when each value is its own unit vector.

    Returns:
        (…, N, M).
    """
    k = tensor(keys)
    each_key = torch.eye(k.shape[-2], dtype=k.dtype).expand(*k.shape[:-2], -1, -1)
    return attend(queries, keys, each_key, mask, scale)
