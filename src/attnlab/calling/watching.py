"""How much a learner's function holds in memory, told by what is allocated and not by a clock.

PyTorch shows each operator's results to a mode, whichever function of Python called it. Nothing
here knows what the right answer is.
"""

from __future__ import annotations

import math
import weakref
from collections.abc import Callable
from typing import Any

import torch
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

Tensor = torch.Tensor
LEAVING = (Tensor.numpy, Tensor.__array__, Tensor.tolist, Tensor.__dlpack__)


class Watch(TorchDispatchMode):
    """Looks at every operator's results while it is on.

    Args:
        given: tensors that were there before, and are not counted.

    Attributes:
        largest: the most numbers that one result held; a view holds no more than what it shows.
        most: the most numbers that all results held at one time.
    """

    def __init__(self, *given: Tensor) -> None:
        super().__init__()
        self.largest = self.most = self._now = 0
        self._given = {each.untyped_storage().data_ptr() for each in given}
        self._alive: set[int] = set()

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        """False: PyTorch need not load its compiler, for seconds, to keep it out of here."""
        return False

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        made = func(*args, **(kwargs or {}))
        for each in tree_leaves(made):
            if isinstance(each, Tensor):
                self._look_at(each)
        return made

    def has_seen(self, tensor: Tensor) -> bool:
        """Whether a tensor that is still there came out of an operator, or was given."""
        return tensor.untyped_storage().data_ptr() in self._alive | self._given

    def _look_at(self, tensor: Tensor) -> None:
        storage = tensor.untyped_storage()
        place, numbers = storage.data_ptr(), storage.nbytes() // tensor.itemsize
        self.largest = max(self.largest, min(tensor.numel(), numbers))
        if place in self._given or place in self._alive:
            return

        def gone() -> None:
            self._alive.discard(place)
            self._now -= numbers

        self._alive.add(place)
        self._now += numbers
        self.most = max(self.most, self._now)
        weakref.finalize(storage, gone)


class Inside(TorchFunctionMode):
    """Keeps numbers where an operator's results can be seen.

    Raises:
        RuntimeError: they are handed to NumPy or to lists.
    """

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func in LEAVING:
            raise RuntimeError("numbers leave PyTorch here, where nobody sees what is held")
        return func(*args, **(kwargs or {}))


def holds(
    attention: Callable[..., Any],
    q: Tensor,
    k: Tensor,
    v: Tensor,
    block_size: int,
    causal: bool,
) -> tuple[bool, bool, bool]:
    """What tiled attention holds at the same time, for each leading index.

    Returns:
        Whether one tensor has N × M numbers or more, whether one has block_size × M or more, and
        whether all that are there at one time have N × M or more together.
    Raises:
        RuntimeError: it computes by something else than PyTorch's operators.
    """
    each = math.prod(q.shape[:-2])
    n, m = q.shape[-2], k.shape[-2]
    with torch.no_grad(), Inside(), Watch(q, k, v) as watch:
        out = attention(q, k, v, block_size, causal)
    if not isinstance(out, Tensor) or not watch.has_seen(out):
        raise RuntimeError("what is returned was not made by PyTorch's operators")
    return (
        watch.largest >= each * n * m,
        watch.largest >= each * block_size * m,
        watch.most >= each * n * m,
    )
