"""What lesson 05 watches PyTorch with: which operators run, and how much autograd keeps.

`TorchDispatchMode` lives in a module with an underscore, which says that it may change;
`torch.profiler` shows the same names, with times.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch.autograd.graph import saved_tensors_hooks
from torch.utils._python_dispatch import TorchDispatchMode

SAME_NUMBERS = {"transpose", "view", "_unsafe_view", "expand", "detach"}  # they move no data


class _Operators(TorchDispatchMode):
    """Writes down each operator that runs while it is switched on."""

    def __init__(self) -> None:
        super().__init__()
        self.names: list[str] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.names.append(func.__name__.partition(".")[0])
        return func(*args, **(kwargs or {}))


def operators_of(function: Callable, *args: Any, **kwargs: Any) -> str:
    """Names of the operators in a call, without those that only look at numbers differently."""
    with torch.no_grad(), _Operators() as watched:
        function(*args, **kwargs)
    return ", ".join(name for name in watched.names if name not in SAME_NUMBERS)


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
