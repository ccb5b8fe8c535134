"""What learners hand to a figure, as NumPy arrays."""

from __future__ import annotations

from typing import Any

import numpy as np


def as_array(data: Any, dtype: type = float) -> np.ndarray:
    """Lists, an array, or a tensor, which may be on a GPU and need gradients.

    Args:
        data: numbers, or rows of them; a list of tensors is one, too.
        dtype: float for float64, or bool.
    """
    if hasattr(data, "detach"):
        data = data.detach().cpu().double().numpy()  # NumPy has no bfloat16
    elif isinstance(data, list | tuple) and data and hasattr(data[0], "detach"):
        data = [as_array(each) for each in data]
    return np.asarray(data, dtype=dtype)
