"""How much a learner's function holds in memory, told by what is allocated and not by a clock.

The function gets tensors that have a shape and no numbers. Those are in here, where each operator
is run and what it makes is counted, whichever function of Python called it. So what is computed
elsewhere, in another thread, by NumPy or past PyTorch's dispatcher, has nothing to compute with.
Nothing here knows what the right answer is.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

Tensor = torch.Tensor
INFINITY = float("inf")
# What tells the size of a tensor, as it is before a learner's first line.
_storage, _numel, _stand_in = Tensor.untyped_storage, Tensor.numel, Tensor._make_wrapper_subclass
_bytes, _place = torch.UntypedStorage.nbytes, torch.UntypedStorage.data_ptr


def _where(numbers: Tensor) -> tuple[int, int]:
    storage = _storage(numbers)
    return _place(storage), _bytes(storage)


class StandIn(Tensor):
    """Has a shape, and no numbers.

    Raises:
        RuntimeError: they are asked for otherwise than by PyTorch's operators, or elsewhere.
    """

    __torch_function__ = torch._C._disabled_torch_function_impl  # type: ignore[assignment]

    @classmethod
    def __torch_dispatch__(cls, *_: Any, **__: Any) -> Any:
        raise RuntimeError("numbers are asked for here, where nobody sees what is held")

    def _leave(self, *_: Any, **__: Any) -> Any:
        raise RuntimeError("numbers leave PyTorch here, where nobody sees what is held")

    numpy = tolist = __array__ = __dlpack__ = _leave

    def __format__(self, form: str) -> str:
        return format(f"tensor of shape {tuple(self.shape)}" if self.ndim else self.item(), form)

    def __repr__(self, *, tensor_contents: Any = None) -> str:  # type: ignore[override]
        return format(self)


class Kept(weakref.ref[StandIn]):
    """Numbers, for as long as what stands for them is there."""

    __slots__ = ("key", "numbers", "where")
    key: int
    numbers: Tensor
    where: tuple[int, int]  # the place of their memory, and its bytes


class Watch(TorchDispatchMode):
    """Runs every operator, while it is on, on the numbers of the tensors that it is given.

    Attributes:
        largest: the most numbers that one tensor had.
        most: the most bytes that were there at one time.
    """

    def __init__(self) -> None:
        super().__init__()
        self.largest = self.most = self._now = 0
        self._kept: dict[int, Kept] = {}  # by the id of what stands for it
        self._shares: dict[tuple[int, int], float] = {}  # how many of them lie somewhere

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        """False: PyTorch need not load its compiler, for seconds, to keep it out of here."""
        return False

    def stand_in(self, numbers: Tensor, counts: bool = True) -> StandIn:
        """A tensor for a learner's function that stands for these numbers.

        Args:
            counts: whether their memory does.
        """
        shown = _stand_in(StandIn, numbers.size(), numbers.stride(), dtype=numbers.dtype)
        kept = Kept(shown, self._gone)
        kept.key, kept.numbers, kept.where = id(shown), numbers, _where(numbers)
        self._kept[kept.key] = kept
        shares = self._shares.get(kept.where, 0)
        self._shares[kept.where] = shares + 1 if counts else INFINITY
        if counts and not shares:
            self._now += kept.where[1]
            self.largest = max(self.largest, _numel(numbers))
            self.most = max(self.most, self._now)
        return shown

    def _gone(self, kept: Kept) -> None:
        del self._kept[kept.key]
        self._shares[kept.where] -= 1
        if not self._shares[kept.where]:
            del self._shares[kept.where]
            self._now -= kept.where[1]

    def numbers(self, thing: Any) -> Any:
        """What a tensor stands for, in lists as well.

        What is no stand-in is copied, so that nothing in here is its memory.

        Raises:
            RuntimeError: it stands for nothing.
        """
        found = self._kept.get(id(thing))
        if found is not None:
            return found.numbers
        if isinstance(thing, list | tuple):
            return [self.numbers(each) for each in thing]
        if isinstance(thing, StandIn):
            raise RuntimeError("what is computed with here was not made by PyTorch's operators")
        return thing.detach().clone() if isinstance(thing, Tensor) else thing

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        named = kwargs or {}
        changed = [*_changed(func._schema, args, named)] if func._schema.is_mutable else ()
        if any(id(each) not in self._kept for each in changed):
            raise RuntimeError("numbers are put where nobody sees what is held")
        owners = {id(self.numbers(each)): each for each in changed}
        named = {name: self.numbers(each) for name, each in named.items()}
        result = func(*map(self.numbers, args), **named)
        for each in changed:
            kept = self._kept[id(each)]
            if kept.numbers.size() != each.size() or kept.where != _where(kept.numbers):
                raise RuntimeError("a tensor gets other memory here, where nobody sees it")
        return self._shown(result, owners)

    def _shown(self, result: Any, owners: Mapping[int, Tensor]) -> Any:
        """What stands for it; what was changed in place has its own already."""
        if isinstance(result, list | tuple):
            return type(result)(self._shown(each, owners) for each in result)
        if not isinstance(result, Tensor):
            return result
        return owners[id(result)] if id(result) in owners else self.stand_in(result)


def _changed(schema: Any, args: Sequence[Any], named: Mapping[str, Any]) -> Iterator[Any]:
    """What an operator puts numbers in."""
    for at, each in enumerate(schema.arguments):
        if each.alias_info and each.alias_info.is_write:
            yield args[at] if at < len(args) else named[each.name]


def holds(
    attention: Callable[..., Any],
    q: Tensor,
    k: Tensor,
    v: Tensor,
    block_size: int,
    causal: bool,
) -> tuple[Any, int, int]:
    """What tiled attention returns, and what it holds besides its inputs.

    Returns:
        Its output; how many numbers the largest tensor showed; and how many of the inputs' dtype
        would have taken as many bytes as all that were there at one time.
    Raises:
        RuntimeError: it computes by something else than PyTorch's operators.
    """
    watch = Watch()
    given = [watch.stand_in(each, counts=False) for each in (q, k, v)]
    with torch.no_grad(), watch:
        out = attention(*given, block_size, causal)
    out = watch.numbers(out) if type(out) is StandIn else out
    return out, watch.largest, -(-watch.most // q.itemsize)
