"""Lesson 10's first exercise: one step of training."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torch
import torch.nn.functional as F

from attnlab.calling.observe import Made, made
from attnlab.calling.training import prepare
from attnlab.checks.exercise import (
    FLOAT32_TOLERANCE,
    UNCHANGED,
    Case,
    Exercise,
    Group,
    Mistake,
    Slot,
    Way,
    unchanged,
)
from attnlab.checks.inputs import sizes
from attnlab.lessons.pytorch.exercises import normal
from attnlab.lessons.training import LESSON
from attnlab.lessons.training.drawn import Generator, Tensor, tokens

STEPPED = (
    Slot("loss", "list"),
    Slot("parameters after it", "tensor", "P"),
)  # a list of no axes: a float


def _loss(logits: Tensor, targets: Tensor) -> Tensor:
    """Mean cross-entropy; PyTorch has the classes on axis 1."""
    return F.cross_entropy(logits.movedim(-1, 1) if logits.ndim > 1 else logits, targets)


def _stepping(
    loss: Callable[[Tensor, Tensor], Tensor] = _loss,
    told: Callable[[Tensor, Callable[[], Tensor]], Tensor] = lambda before, after: before,
    steps: int = 1,
    keeps: bool = False,
    sign: int = 1,
) -> Callable[..., Any]:
    """A training step with exchangeable parts.

    Args:
        loss: of logits and targets.
        told: what is returned; takes the loss before, and what gives it after the step.
        steps: of the optimizer, in one call.
        keeps: whether gradients from before count.
        sign: −1 goes uphill.
    """

    def answer(
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
            now = loss(model(inputs), targets)
            found = torch.autograd.grad(now, parameters)
            for parameter, slope in zip(parameters, found, strict=True):
                before = parameter.grad if keeps and parameter.grad is not None else 0
                parameter.grad = sign * slope + before
            for _ in range(steps):
                optimizer.step()
        with torch.no_grad():
            result = told(now.detach(), lambda: loss(model(inputs), targets))
        return float(result), torch.cat([each.detach().flatten() for each in parameters])

    return answer


STEP = _stepping()


def _step_case(
    rng: Generator,
    group: str,
    *leading: int,
    optimizer: Made | None = None,
    std: float = 1.0,
    note: str = "",
    single: bool = False,
    laid: str = "",
    extra: tuple[Any, ...] = (),
) -> Case:
    """One call, or several, on logits (…, C): of a linear model, or of rows that are looked up."""
    c, width = [size for size in sizes(rng, 5, 3, 9) if size not in leading][:2]
    targets = tokens(rng, c, *leading)
    targets.view(-1)[0] = 0
    if rng.random() < 0.5:
        numbers = [normal(rng, c, width, std=std), normal(rng, c, std=std)]
        inputs, name = normal(rng, *leading, width), "training.linear"
    else:
        numbers = [normal(rng, width, c, std=std)]
        inputs, name = tokens(rng, width, *leading), "training.lookup"
    if single:
        numbers = [part.float() for part in numbers]
        inputs = inputs.float() if inputs.is_floating_point() else inputs
    chosen = optimizer or made("training.sgd", float(rng.uniform(0.5, 2.0)))
    args = (made(name, *numbers), inputs, targets, chosen, *extra)
    tolerance = FLOAT32_TOLERANCE if single else 1e-6
    way = Way("training.steps", STEPPED, STEP)
    return Case(group, args, note=note, tolerance=tolerance, laid=laid, way=way)


def _step_cases(rng: Generator) -> Iterator[Case]:
    b, n, h = sizes(rng, 3)
    for _ in range(2):
        yield _step_case(rng, "values", int(rng.integers(3, 9)), note="targets is (B,)")
    yield _step_case(rng, "tokens", b, n, note="targets is (B, N)")
    yield _step_case(rng, "tokens", b, h, n, note="targets has three axes")
    yield _step_case(rng, "tokens", 1, n, note="targets is (1, N)")
    yield _step_case(rng, "tokens", b, 1, note="targets is (B, 1)")
    yield _step_case(rng, "tokens", 1, note="targets is (1,)")
    for axes in ((b, n), (b, h, n)):
        note = "inputs and targets are views that are not contiguous"
        yield _step_case(rng, "tokens", *axes, note=note, laid="views")
    note = "its parameters have gradients from before"
    yield _step_case(rng, "leftovers", b, note=note, extra=(1, True))
    yield _step_case(rng, "leftovers", b, n, note=f"{note}, and targets is (B, N)", extra=(1, True))
    for name in ("adam", "momentum"):
        optimizer = made(f"training.{name}", float(rng.uniform(0.05, 0.3)))
        note = f"it is called {n} times, with {name}"
        yield _step_case(rng, "again", b, n, optimizer=optimizer, note=note, extra=(n,))
    note = "logits are in the thousands"
    yield _step_case(rng, "large", b + 3, n, std=1e4, note=note)
    yield _step_case(rng, "float32", b, n, note="the model is float32", single=True)


def _nll(change: Callable[[Tensor], Tensor]) -> Callable[[Tensor, Tensor], Tensor]:
    """The mean of something at the right class."""
    return lambda logits, targets: -change(logits).gather(-1, targets[..., None]).mean()


def _squared(logits: Tensor, targets: Tensor) -> Tensor:
    return F.mse_loss(logits, F.one_hot(targets, logits.shape[-1]).to(logits))


def _tokens_summed(logits: Tensor, targets: Tensor) -> Tensor:
    return _loss(logits, targets) * (targets.numel() / len(targets))


def _without_class_0(logits: Tensor, targets: Tensor) -> Tensor:
    every = F.cross_entropy(logits.flatten(0, -2), targets.flatten(), reduction="none")
    kept = targets.flatten() != 0
    return (every * kept).sum() / kept.sum()


def _last(logits: Tensor, targets: Tensor) -> Tensor:
    several = targets.ndim > 1
    return _loss(logits[:, -1], targets[:, -1]) if several else _loss(logits, targets)


def _unmoved(model: Any, inputs: Tensor, targets: Tensor, *rest: Any) -> Any:
    loss = _loss(model(inputs), targets).item()
    return loss, torch.cat([each.detach().flatten() for each in model.parameters()])


TRAIN_STEP = Exercise(
    name="train_step",
    lesson=LESSON.slug,
    stage=LESSON.stage,
    signature="(model, inputs, targets, optimizer) -> float",
    axes=("?", "?", "b", "?"),
    read="One step of training",
    returns=(Slot("loss", "float"),),
    groups=(
        Group("values", "returns the loss before the step, and takes the step", 1.0, core=True),
        Group(
            "tokens", "takes targets of any shape and layout, and the mean over all of them", 0.25
        ),
        Group("leftovers", "does not count gradients from before", 0.25, needs=("tokens",)),
        Group(
            "again",
            "trains step after step, with Adam and with momentum",
            0.125,
            needs=("tokens", "leftovers", UNCHANGED),
        ),
        Group("large", "is stable at logits in the thousands", 0.125, needs=("tokens",)),
        Group("float32", "trains a float32 model (compared at 1e-4)", 0.125, needs=("tokens",)),
        unchanged(0.125),
    ),
    cases=_step_cases,
    oracle=STEP,
    mistakes=(
        Mistake(
            "loss-after-step",
            _stepping(told=lambda before, after: after()),
            "This is the loss after the step.",
            "Keep the loss that you took the gradients of, and return that one.",
        ),
        Mistake(
            "nothing-learned",
            _unmoved,
            "The loss is right, and no parameter has moved: gradients were not computed, were "
            "forgotten before the step, or no step was taken.",
            "The order is: forget old gradients, compute new ones, step.",
        ),
        Mistake(
            "leftovers-counted",
            _stepping(keeps=True),
            "Gradients from before were added to the new ones: PyTorch adds up until told to "
            "forget.",
            "Let the optimizer forget *before* the gradients are computed.",
        ),
        Mistake(
            "sum-not-mean",
            _stepping(lambda logits, targets: _loss(logits, targets) * targets.numel()),
            "The losses were added up. With more targets in a batch, the step would be longer.",
            "Take the mean, which is what `F.cross_entropy` does by itself.",
        ),
        Mistake(
            "summed-over-tokens",
            _stepping(_tokens_summed),
            "The mean was taken over the batch alone, and tokens were added up.",
            "Take the mean over all targets.",
        ),
        Mistake(
            "softmax-twice",
            _stepping(lambda logits, targets: _loss(logits.softmax(-1), targets)),
            "Softmax came twice: cross-entropy takes it of what it is given.",
            "Give `F.cross_entropy` the logits as they are.",
        ),
        Mistake(
            "no-softmax",
            _stepping(_nll(lambda logits: logits)),
            "This is minus the logit of the right class. Softmax and the logarithm are missing.",
            "Use `F.cross_entropy`; `F.nll_loss` wants log-probabilities.",
        ),
        Mistake(
            "no-logarithm",
            _stepping(_nll(lambda logits: logits.softmax(-1))),
            "This is minus the probability of the right class. The logarithm is missing.",
            "Use `F.cross_entropy`; `F.nll_loss` wants log-probabilities.",
        ),
        Mistake(
            "squared-error",
            _stepping(_squared),
            "This is the squared difference between logits and 0s and 1s.",
            "Use `F.cross_entropy`.",
        ),
        Mistake(
            "last-token-only",
            _stepping(_last),
            "Only the last token of each sentence counts.",
            "Flatten all tokens into one long batch: logits (…, C) to (T, C), targets to (T,).",
        ),
        Mistake(
            "uphill",
            _stepping(sign=-1),
            "Each parameter moved the wrong way, so that the loss grows.",
            "Take gradients of the loss, not of its negative.",
        ),
        Mistake(
            "stepped-twice",
            _stepping(steps=2),
            "Two steps were taken along the same gradient.",
            "Call `optimizer.step` once.",
        ),
        Mistake(
            "perplexity",
            _stepping(told=lambda before, after: before.exp()),
            "This is e to the loss, the perplexity.",
            "Return the loss itself.",
        ),
        Mistake(
            "class-0-ignored",
            _stepping(_without_class_0),
            "Targets of class 0 were left out, as if 0 meant padding. Here it is a class.",
            "Leave `ignore_index` out.",
        ),
    ),
)
