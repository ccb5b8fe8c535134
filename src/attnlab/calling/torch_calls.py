"""What calling a PyTorch exercise takes: building its module, taking gradients, a default dtype.

Like `calling`, this stands next to a learner's code and knows nothing of the right answer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import torch

from attnlab.calling.banned import refuse_in

ONLY = "its parameter"  # in the place of a name: the only one that a module has


class WrongStructure(Exception):
    """A module lacks a parameter that its description names, or has it in another shape."""


class NoGradient(Exception):
    """Nothing connects an output to the inputs, so that no gradient can flow."""


def build(
    module_class: Callable[..., Any],
    sizes: Sequence[Any],
    state: Mapping[str, torch.Tensor],
    unfused: bool = False,
) -> torch.nn.Module:
    """Make a module and load its parameters, in their dtype if it is not the usual one.

    Args:
        module_class: the learner's.
        sizes: arguments of its constructor.
        state: parameters by name, 'W_q.weight', or ONLY.
        unfused: refuse PyTorch's own attention in it.
    Raises:
        WrongStructure: it is no nn.Module, or a parameter does not exist, does not fit or is
            another one as well.
    """
    module = module_class(*sizes)
    if not isinstance(module, torch.nn.Module):
        raise WrongStructure(f"it makes a {type(module).__name__}, which is not an nn.Module")
    if unfused:
        refuse_in(module)
    if torch.float64 in {tensor.dtype for tensor in state.values()}:
        module = module.double()
    # One that stands under several names is listed under each, and meant once.
    parameters = dict(module.named_parameters(remove_duplicate=False))
    if ONLY in state:
        parameters = {ONLY: _only(module)}
    meant: dict[int, str] = {}
    for name, tensor in state.items():
        if name not in parameters:
            has = ", ".join(parameters) or "none"
            raise WrongStructure(f"the module has no parameter {name}; those it has: {has}")
        if parameters[name].shape != tensor.shape:
            raise WrongStructure(
                f"{name} should have shape {tuple(tensor.shape)} and has "
                f"{tuple(parameters[name].shape)}"
            )
        other = meant.setdefault(id(parameters[name]), name)
        if other != name:
            raise WrongStructure(f"{other} and {name} are one parameter under two names")
        with torch.no_grad():
            parameters[name].copy_(tensor)
    surplus = [name for name, parameter in parameters.items() if id(parameter) not in meant]
    if surplus:
        raise WrongStructure(f"the module has parameters it should not have: {', '.join(surplus)}")
    return module


def _only(module: torch.nn.Module) -> torch.nn.Parameter:
    own = dict(module.named_parameters())
    if len(own) != 1:
        has = f"{len(own)}: {', '.join(own)}" if own else "none: is the table an nn.Parameter?"
        raise WrongStructure(f"the module should have exactly one parameter, and has {has}")
    return next(iter(own.values()))


def named(module: torch.nn.Module, names: Iterable[str]) -> list[torch.nn.Parameter]:
    """Parameters by name, as in the state of `build`."""
    return [_only(module) if name == ONLY else module.get_parameter(name) for name in names]


def gradients(
    function: Callable[..., Any],
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    parameters: Sequence[torch.Tensor] = (),
    fixed: Sequence[int] = (),
) -> torch.Tensor | tuple[torch.Tensor, ...]:
    """Gradients of a fixed weighted sum of all that a function returns.

    Args:
        function: a function of tensors, or a module.
        args: gradients are taken for the floating-point tensors among them.
        kwargs: passed on.
        parameters: the module's, which gradients are taken for as well.
        fixed: positions in args of tensors that need no gradient.
    Returns:
        One gradient for each floating-point tensor in args, then one for each parameter; bare if
        it is the only one, as a function would return it.
    Raises:
        NoGradient: no output depends on any of them.
    """
    free = [arg for at, arg in enumerate(args) if at not in fixed]
    leaves = [arg.requires_grad_() for arg in free if is_float_tensor(arg)]
    leaves += parameters
    result = function(*args, **kwargs)
    outputs = result if isinstance(result, (tuple, list)) else (result,)
    exact = (part for part in outputs if type(part) is torch.Tensor)  # no kind of its own
    total = sum((part * _ripple(part)).sum() for part in exact if is_float_tensor(part))
    if not isinstance(total, torch.Tensor) or not total.requires_grad:
        raise NoGradient("its output does not depend on its inputs, as autograd sees it")
    found = torch.autograd.grad(total, leaves, allow_unused=True)
    grads = tuple(
        torch.zeros_like(leaf) if grad is None else grad.detach().to_dense()
        for leaf, grad in zip(leaves, found, strict=True)
    )
    return grads[0] if len(grads) == 1 else grads


def in_float64(function: Callable[..., Any], *args: Any) -> Any:
    """Call it while float64 is PyTorch's default dtype, which `perform` gives back afterwards."""
    torch.set_default_dtype(torch.float64)
    return function(*args)


def is_float_tensor(thing: object) -> bool:
    """Whether autograd can follow it."""
    return isinstance(thing, torch.Tensor) and thing.is_floating_point()


def _ripple(like: torch.Tensor) -> torch.Tensor:
    """Fixed weights of both signs, a different one for each entry."""
    steps = torch.arange(like.numel(), dtype=like.dtype)
    return torch.cos(steps * 1.7 + 0.3).reshape(like.shape)
