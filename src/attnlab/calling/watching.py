"""How much a learner's function holds in memory, told by what is allocated and not by a clock.

PyTorch shows each operator's results to a mode, whichever function of Python called it. Nothing
here knows what the right answer is.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

import torch
from torch import overrides
from torch.overrides import TorchFunctionMode
from torch.utils import _python_dispatch as dispatch
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
        most: the most bytes that all results held at one time.
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
        for each in (made,) if isinstance(made, Tensor) else tree_leaves(made):
            if isinstance(each, Tensor):
                self._look_at(each)
        return made

    def has_seen(self, tensor: Tensor) -> bool:
        """Whether a tensor that is still there came out of an operator, or was given."""
        return tensor.untyped_storage().data_ptr() in self._alive | self._given

    def _look_at(self, tensor: Tensor) -> None:
        storage = tensor.untyped_storage()
        place, size = storage.data_ptr(), storage.nbytes()
        self.largest = max(self.largest, min(tensor.numel(), size // tensor.itemsize))
        if place in self._given or place in self._alive:
            return

        def gone() -> None:
            self._alive.discard(place)
            self._now -= size

        self._alive.add(place)
        self._now += size
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
) -> tuple[int, int]:
    """What tiled attention holds besides its inputs.

    Returns:
        How many numbers the largest tensor showed, and how many of the inputs' dtype would have
        taken as many bytes as all that were there at one time.
    Raises:
        RuntimeError: it computes by something else than PyTorch's operators.
    """
    with torch.no_grad(), Inside(), Watch(q, k, v) as watch:
        out = attention(q, k, v, block_size, causal)
    if not isinstance(out, Tensor) or not watch.has_seen(out):
        raise RuntimeError("what is returned was not made by PyTorch's operators")
    return watch.largest, -(-watch.most // q.itemsize)


def let_go() -> None:
    """Stop watching, where an interrupt came while a `with` block was being left."""
    while isinstance(overrides._get_current_function_mode(), Inside):
        overrides._pop_mode()
    while isinstance(mode := dispatch._get_current_dispatch_mode(), Watch):
        mode.__exit__(None, None, None)
