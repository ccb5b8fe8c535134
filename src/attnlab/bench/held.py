"""How much memory a run of PyTorch needs, besides its inputs: what it makes is watched.

On the CPU each operation is seen as PyTorch dispatches it, so the figure is the same on every
machine and in every run. What a fused kernel allocates inside itself and frees again is not seen;
PyTorch's own for the CPU needs a few tiles for each thread there, however long the sequence is.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves


class Held(TorchDispatchMode):
    """Watches what PyTorch makes: the most bytes of tensors that were alive at once."""

    def __init__(self) -> None:
        super().__init__()
        self.now = self.most = 0
        self._known: set[int] = set()

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        given = {storage.data_ptr() for storage in _storages((args, kwargs))}
        for storage in _storages(result):
            if storage.data_ptr() not in given:  # a view holds nothing of its own
                self._watch(storage)
        return result

    def _watch(self, storage: torch.UntypedStorage) -> None:
        place, size = storage.data_ptr(), storage.nbytes()
        if place in self._known:
            return

        def gone() -> None:
            self._known.discard(place)
            self.now -= size

        self._known.add(place)
        self.now += size
        self.most = max(self.most, self.now)
        weakref.finalize(storage, gone)


def _storages(tree: Any) -> list[torch.UntypedStorage]:
    """What the tensors in lists, tuples and dicts are stored in."""
    return [leaf.untyped_storage() for leaf in tree_leaves(tree) if torch.is_tensor(leaf)]


def held_by(run: Callable[[], Any]) -> int:
    """The most bytes of tensors that a run made and held at once, its inputs not counted."""
    with Held() as held:
        run()
    return held.most
