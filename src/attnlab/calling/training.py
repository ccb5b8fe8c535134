"""What lesson 10's exercises are used with: small models, optimizers, and ways to ask a function.

The models' numbers come with a case, so that nothing here knows what the right answer is.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

_are_recorded, _is_inference = torch.is_grad_enabled, Tensor.is_inference  # before anyone's code

# models ----------------------------------------------------------------------------------------


class Lookup(nn.Module):
    """Logits of each token from a table: of ids (…) those are (…, C)."""

    def __init__(self, table: Tensor) -> None:
        super().__init__()
        self.table = nn.Parameter(table)

    def forward(self, ids: Tensor) -> Tensor:
        return F.embedding(ids, self.table)  # contiguous, however the ids lie


class WholePast(nn.Module):
    """Logits that depend on all tokens so far and on where each of them stands.

    Args:
        counts: whether they also depend on how many tokens there are in all, behind them as well.
        more: what is added to them where the part inside is in training.
        recorded: what is added to them where gradients are recorded.
    """

    def __init__(self, table: Tensor, counts: bool, more: float = 0, recorded: float = 0) -> None:
        super().__init__()
        self.table, self.inner = nn.Parameter(table), nn.Identity()
        self.counts, self.more, self.recorded = counts, more, recorded

    def forward(self, ids: Tensor) -> Tensor:
        n = ids.shape[1]
        weighed = ids * torch.arange(1, n + 1)
        rows = self.table[(weighed.cumsum(dim=1) + self.counts * n) % len(self.table)]
        return rows + self.more * self.inner.training + self.recorded * _are_recorded()


def lookup(table: Tensor) -> Lookup:
    """A model whose logits are rows of a (V, C) table."""
    return Lookup(table)


def whole_past(table: Tensor, counts: bool = False) -> WholePast:
    """A model of ids (B, N) with logits (B, N, V); which row of a (K, V) table follows from all."""
    return WholePast(table, counts)


def in_modes(table: Tensor, training: bool, inside: bool) -> WholePast:
    """The same with other logits in training; whether it is, and the part inside."""
    model = WholePast(table, False, 0.5).train(training)
    model.inner.train(inside)
    return model


def recorded(table: Tensor) -> WholePast:
    """The same with other logits where gradients are recorded."""
    return WholePast(table, False, recorded=1.0)


def function(table: Tensor) -> Callable[[Tensor], Tensor]:
    """The same as a function that is no module."""
    model = whole_past(table)
    return lambda ids: model(ids)


def linear(weight: Tensor, bias: Tensor) -> nn.Linear:
    """nn.Linear with these parameters, (C, K) and (C,)."""
    layer = nn.Linear(weight.shape[1], weight.shape[0], dtype=weight.dtype)
    layer.weight, layer.bias = nn.Parameter(weight), nn.Parameter(bias)
    return layer


# optimizers ------------------------------------------------------------------------------------

# They are made before their model is at hand, and get its parameters in `steps`.


def _placeholder() -> list[Tensor]:
    return [torch.zeros(1, requires_grad=True)]


def sgd(lr: float) -> torch.optim.Optimizer:
    """Plain gradient descent."""
    return torch.optim.SGD(_placeholder(), lr=lr)


def momentum(lr: float) -> torch.optim.Optimizer:
    """Gradient descent that remembers earlier steps."""
    return torch.optim.SGD(_placeholder(), lr=lr, momentum=0.9)


def adam(lr: float) -> torch.optim.Optimizer:
    """Adam."""
    return torch.optim.Adam(_placeholder(), lr=lr)


def prepare(model: nn.Module, optimizer: torch.optim.Optimizer, leftovers: bool) -> None:
    """Hand an optimizer the model's parameters, with or without gradients from before."""
    optimizer.param_groups[0]["params"] = list(model.parameters())
    for parameter in model.parameters() if leftovers else ():
        parameter.grad = torch.linspace(-2, 3, parameter.numel()).to(parameter).view_as(parameter)


def steps(
    train_step: Callable[..., Any],
    model: nn.Module,
    inputs: Tensor,
    targets: Tensor,
    optimizer: torch.optim.Optimizer,
    times: int = 1,
    leftovers: bool = False,
) -> tuple[Any, Tensor]:
    """What the last of some steps returned, and all parameters after it, in one row."""
    prepare(model, optimizer, leftovers)
    for _ in range(times):
        loss = train_step(model, inputs, targets, optimizer)
    if type(loss).__module__ == "numpy" and isinstance(loss, float):  # numpy.float64 is one
        loss = float(loss)
    return loss, torch.cat([parameter.detach().flatten() for parameter in model.parameters()])


# writing ---------------------------------------------------------------------------------------


def likeliest() -> Callable[[Tensor], Tensor]:
    """A choice: of each row of logits (B, V) the largest."""
    return lambda logits: logits.argmax(dim=-1)


def written(
    generate: Callable[..., Any],
    model: nn.Module,
    prompt: Tensor,
    n_new: int,
    tokens: Tensor,
    watched: str = "",
) -> tuple[Any, Any]:
    """What it returns, and all logits that `choose` was given: (times, B, V).

    Args:
        tokens: (B, times), which `choose` gives in turn, the last for ever.
        watched: 'training': then whether that can go on with the result, and the logits. 'modes':
            then whether each part of the model is in training afterwards, and the logits.
    """
    given: list[Tensor] = []

    def choose(logits: Tensor) -> Tensor:
        if logits.ndim != 2:
            raise TypeError(f"choose takes logits (B, V), and was given {tuple(logits.shape)}")
        given.append(logits.detach().clone())
        return tokens[: len(logits), min(len(given), tokens.shape[1]) - 1]

    ids = generate(model, prompt, n_new, choose)
    logits = torch.stack(given) if given else torch.zeros(0)
    if watched == "training":
        return type(ids) is Tensor and _are_recorded() and not _is_inference(ids), logits
    if watched == "modes":
        return torch.tensor([part.training for part in model.modules()]), logits
    return ids, logits
