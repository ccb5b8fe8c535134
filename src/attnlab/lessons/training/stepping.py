"""Lesson 10's first exercise: one step of training."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
import torch.nn.functional as F

from attnlab.calling.observe import ByName, by_name
from attnlab.calling.training import prepare
from attnlab.checks.edits import edits
from attnlab.checks.exercise import (
    FLOAT32_TOLERANCE,
    TOLERANCE,
    Case,
    Claim,
    Exercise,
    Procedure,
    Slot,
    promises,
)
from attnlab.checks.inputs import Generator, normal, sizes

Tensor = torch.Tensor


def _loss(logits: Tensor, targets: Tensor) -> Tensor:
    """Mean cross-entropy; PyTorch has the classes on axis 1."""
    return F.cross_entropy(logits.movedim(-1, 1) if logits.ndim > 1 else logits, targets)


def _stepped(
    model: Any,
    inputs: Tensor,
    targets: Tensor,
    optimizer: Any,
    times: int = 1,
    leftovers: bool = False,
) -> tuple[float, Tensor]:
    prepare(model, optimizer, leftovers)
    parameters = list(model.parameters())
    for _ in range(times):
        loss = _loss(model(inputs), targets)
        slopes = torch.autograd.grad(loss, parameters)
        for parameter, slope in zip(parameters, slopes, strict=True):
            parameter.grad = slope
        optimizer.step()
    return loss.item(), torch.cat([each.detach().flatten() for each in parameters])


STEP = Procedure(
    "training.steps",
    (Slot("loss", "list"), Slot("parameters after it", "tensor", "P")),
    _stepped,
)  # a list of no axes: a float


def _case(
    rng: Generator,
    group: str,
    *leading: int,
    optimizer: ByName | None = None,
    std: float = 1.0,
    single: bool = False,
    extra: tuple[Any, ...] = (),
    **how: Any,
) -> Case:
    """One call, or several, on logits (…, C): of a linear model, or of rows that are looked up."""
    c, width = [size for size in sizes(rng, 5, 3, 9) if size not in leading][:2]
    targets = torch.from_numpy(rng.integers(0, c, leading))
    targets.view(-1)[0] = 0
    if rng.random() < 0.5:
        numbers = [normal(rng, c, width, std=std), normal(rng, c, std=std)]
        inputs, name = normal(rng, *leading, width), "training.linear"
    else:
        numbers = [normal(rng, width, c, std=std)]
        inputs, name = torch.from_numpy(rng.integers(0, width, leading)), "training.lookup"
    if single:
        numbers = [part.float() for part in numbers]
        inputs = inputs.float() if inputs.is_floating_point() else inputs
    chosen = optimizer or by_name("training.sgd", float(rng.uniform(0.5, 2.0)))
    args = (by_name(name, *numbers), inputs, targets, chosen, *extra)
    return Case(
        group, args, tolerance=FLOAT32_TOLERANCE if single else TOLERANCE, procedure=STEP, **how
    )


def _cases(rng: Generator) -> Iterator[Case]:
    b, n, h = sizes(rng, 3)
    for _ in range(2):
        yield _case(rng, "values", int(rng.integers(3, 9)), note="targets is (B,)")
    for axes, named in (
        ((b, n), "(B, N)"),
        ((b, h, n), "(B, H, N)"),
        ((1, n), "(1, N)"),
        ((b, 1), "(B, 1)"),
        ((1,), "(1,)"),
    ):
        yield _case(rng, "tokens", *axes, note=f"targets is {named}")
    for axes in ((b, n), (b, h, n)):
        note = "inputs and targets are views that are not contiguous"
        yield _case(rng, "tokens", *axes, note=note, laid="views")
    note = "its parameters have gradients from before"
    yield _case(rng, "leftovers", b, note=note, extra=(1, True))
    how: dict[str, Any] = {"extra": (1, True), "about": ("tokens",)}
    yield _case(rng, "leftovers", b, n, note=f"{note}, and targets is (B, N)", **how)
    for name, said in (("adam", "Adam"), ("momentum", "another optimizer")):
        optimizer = by_name(f"training.{name}", float(rng.uniform(0.05, 0.3)))
        how = {"extra": (n,), "about": ("tokens", "leftovers", "unchanged")}
        note = f"it is called {n} times, with {said}"
        yield _case(rng, "again", b, n, optimizer=optimizer, note=note, **how)
    how = {"about": ("tokens",)}
    yield _case(rng, "again", b + 3, n, std=1e4, note="logits are in the thousands", **how)
    yield _case(rng, "again", b, n, note="the model is float32", single=True, **how)


def _nll(logits: Tensor, targets: Tensor) -> Tensor:
    """With no logarithm of shares, but of what is handed in."""
    return -logits.gather(-1, targets[..., None]).mean()


def _squared(logits: Tensor, targets: Tensor) -> Tensor:
    return F.mse_loss(logits, F.one_hot(targets, logits.shape[-1]).to(logits))


def _without_class_0(logits: Tensor, targets: Tensor) -> Tensor:
    return F.cross_entropy(logits.flatten(0, -2), targets.flatten(), ignore_index=0)


def _last(logits: Tensor, targets: Tensor) -> Tensor:
    several = targets.ndim > 1
    return _loss(logits[:, -1], targets[:, -1]) if several else _loss(logits, targets)


LOSS = "_loss(model(inputs), targets)"
TRAIN_STEP = Exercise(
    name="train_step",
    signature="(model, inputs, targets, optimizer) -> float",
    axes=(),
    read="One step of training",
    returns=(Slot("loss", "float"),),
    claims=promises(
        "returns the loss before the step, and takes the step",
        1.0,
        Claim("tokens", "takes targets of any shape and layout, and the mean over them all", 0.25),
        Claim("leftovers", "does not count gradients from before", 0.25),
        Claim("again", "trains on: with any optimizer, at large logits, in float32", 0.25),
        unchanged=0.25,
    ),
    cases=_cases,
    oracle=_stepped,
    mistakes=edits(
        _stepped,
        {
            "loss-after-step": f"loss.item() -> {LOSS}.item()",
            "nothing-learned": "optimizer.step() -> pass",
            "leftovers-counted": (
                "= slope\n -> = slope + (0 if parameter.grad is None else parameter.grad)\n"
            ),
            "sum-not-mean": (
                f"{LOSS} -> {LOSS} * targets.numel()",
                f"{LOSS} -> {LOSS} * targets[0].numel()",
            ),
            "softmax-twice": "model(inputs) -> model(inputs).softmax(-1)",
            "no-log-probabilities": (
                "_loss( -> _nll(",
                "_loss(model(inputs) -> _nll(model(inputs).softmax(-1)",
            ),
            "squared-error": "_loss( -> _squared(",
            "last-token-only": "_loss( -> _last(",
            "uphill": "= slope\n -> = -slope\n",
            "stepped-twice": "optimizer.step() -> optimizer.step(), optimizer.step()",
            "perplexity": "loss.item() -> loss.exp().item()",
            "class-0-ignored": "_loss( -> _without_class_0(",
        },
    ),
)
