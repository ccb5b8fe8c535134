"""Procedures that use a learner's module otherwise than by one call; and a module to be told of."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any


def layer(is_causal: bool) -> SimpleNamespace:
    """What a library's layer tells an attention function of itself, and nothing else of a layer."""
    return SimpleNamespace(is_causal=is_causal)


def construct(module_class: Callable[..., Any], *sizes: Any) -> Any:
    """Only make it, for a constructor that has to refuse."""
    return module_class(*sizes)


def in_evaluation(module_class: Callable[..., Any], *sizes: Any) -> Any:
    """A module that is no longer in training."""
    return module_class(*sizes).eval()


def beside_a_twin(module_class: Callable[..., Any], *sizes: Any) -> Any:
    """A module after which another one is made, of the same sizes.

    Raises:
        WrongStructure: they have a parameter in common.
    """
    from attnlab.calling.torch_calls import WrongStructure

    module = module_class(*sizes)
    other = _another(module_class, *sizes)
    mine, others = ({part.data_ptr() for part in each.parameters()} for each in (module, other))
    if mine & others:
        raise WrongStructure("two modules have one parameter in common, and each should own its")
    return module


def beside_a_larger(module_class: Callable[..., Any], first: int, *sizes: Any) -> Any:
    """A module after which a larger one is made, no two of whose sizes have the ratio of its own.

    What divides the first divides it still.
    """
    module = module_class(first, *sizes)
    others = (size if isinstance(size, bool) else 2 * size for size in sizes)
    _another(module_class, 6 * first, *others)
    return module


def _another(module_class: Callable[..., Any], *sizes: Any) -> Any:
    """One more, whose numbers are the same each time."""
    import torch

    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        return module_class(*sizes)


def returned(function: Callable[[], Any], *told: Any) -> Any:
    """What a function that takes nothing returns; what a case is told is for the judge alone."""
    return function()
