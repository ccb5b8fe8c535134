"""Functions of a sequence, to be asked whether they notice its order, and a module's only table.

A sequence is (…, N, d), its rows tokens. `made` makes each function by the name that it has here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from attnlab.calling.torch_calls import WrongStructure

Tensor = torch.Tensor
Function = Callable[[Tensor], Tensor]


# Functions of a sequence -------------------------------------------------------------------------


def plain_attention() -> Function:
    """Each row reads all rows; queries, keys and values are the rows themselves."""
    return lambda x: (x @ x.mT / x.shape[-1] ** 0.5).softmax(-1) @ x


def causal_attention() -> Function:
    """Each row reads itself and the rows above it."""

    def attend(x: Tensor) -> Tensor:
        future = torch.ones(x.shape[-2], x.shape[-2], dtype=torch.bool).triu(1)
        scores = (x @ x.mT / x.shape[-1] ** 0.5).masked_fill(future, -torch.inf)
        return scores.softmax(-1) @ x

    return attend


def row_by_row() -> Function:
    """What each row becomes depends on that row alone."""
    return lambda x: 2.0 * x.relu() - x


def first_columns(width: int) -> Function:
    """Row by row too, and fewer columns come out than went in."""
    return lambda x: 3.0 * x[..., :width]


def mean_row() -> Function:
    """Every row becomes the mean of all."""
    return lambda x: x.mean(-2, keepdim=True).expand_as(x)


def minus_the_first_row() -> Function:
    """One row counts by its place."""
    return lambda x: x - x[..., :1, :]


def running_sum() -> Function:
    """Each row and all above it, added up."""
    return lambda x: x.cumsum(-2)


def sorted_columns() -> Function:
    """The same output in whatever order the rows come."""
    return lambda x: x.sort(-2).values


def reversed_rows() -> Function:
    """The last row first."""
    return lambda x: x.flip(-2)


def next_row() -> Function:
    """Each row becomes the one below it, the last one the first."""
    return lambda x: x.roll(-1, -2)


def adds_its_place(axis: int = -2) -> Function:
    """To each row its number is added; or to each sequence of a batch its own."""

    def add(x: Tensor) -> Tensor:
        shape = [1] * x.ndim
        shape[axis] = x.shape[axis]
        return x + torch.arange(x.shape[axis], dtype=x.dtype).reshape(shape)

    return add


def odd_rows_raised(by: float) -> Function:
    """Every second row is raised, by very little perhaps."""

    def raise_them(x: Tensor) -> Tensor:
        odd = torch.arange(x.shape[-2]) % 2
        return x + by * odd[:, None]

    return raise_them


def first_entry_raised(by: float) -> Function:
    """A single number is raised, by very little perhaps."""

    def raise_it(x: Tensor) -> Tensor:
        raised = torch.zeros(x.shape[-2:], dtype=x.dtype)
        raised[0, 0] = by
        return x + raised

    return raise_it


def exchanged(one: int, other: int) -> Function:
    """Two numbers change places, counted from the first one, if the first one is below 0."""

    def exchange(x: Tensor) -> Tensor:
        numbers = x.flatten().clone()
        if numbers[0] < 0:
            numbers[[one, other]] = numbers[[other, one]]
        return numbers.reshape(x.shape)

    return exchange


# A module's only table ---------------------------------------------------------------------------


class OnlyTable(torch.nn.Module):
    """A learner's module, its only parameter known as `table`, whatever its own name for it.

    Args:
        module: the learner's.
    Raises:
        WrongStructure: it is no module, or has another number of parameters.
    """

    _module: torch.nn.Module

    def __init__(self, module: Any) -> None:
        super().__init__()
        if not isinstance(module, torch.nn.Module):
            raise WrongStructure(f"it makes a {type(module).__name__}, which is not an nn.Module")
        own = dict(module.named_parameters())
        if len(own) != 1:
            has = f"{len(own)}: {', '.join(own)}" if own else "none: is the table an nn.Parameter?"
            raise WrongStructure(f"the module should have exactly one parameter, and has {has}")
        object.__setattr__(self, "_module", module)  # not as a part of this one: names stay as here
        [self.table] = own.values()

    def _apply(self, fn: Any, recurse: bool = True) -> OnlyTable:
        """What `.double()` and the like do, done to the learner's module."""
        self._module._apply(fn, recurse)
        [self.table] = self._module.parameters()
        return self

    def forward(self, x: Tensor) -> Any:
        return self._module(x)


def only_table(module_class: Callable[..., Any], *sizes: Any) -> OnlyTable:
    """A learner's module whose one parameter may have any name."""
    return OnlyTable(module_class(*sizes))
