"""What lesson 05 watches PyTorch with: how much autograd keeps for the way back."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch.autograd.graph import saved_tensors_hooks


def kept(function: Callable, *args: torch.Tensor) -> int:
    """How many numbers autograd keeps from a call for the way back, each tensor counted once."""
    sizes: dict[int, int] = {}

    def keep(tensor: torch.Tensor) -> torch.Tensor:
        sizes[tensor.data_ptr()] = tensor.numel()
        return tensor

    with saved_tensors_hooks(keep, lambda tensor: tensor):
        result = function(*args)
    del result
    return sum(sizes.values())
