"""Lesson 05's exercises: attention of tensors, softmax's way back, and attention as a module."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import torch
import torch.nn.functional as F

from attnlab.checks.attention import Attention, Parts, sdpa
from attnlab.checks.exercise import Case, Claim, Exercise, Formula, Slot, State, promises
from attnlab.checks.in_softmax import one_hot
from attnlab.checks.inputs import Generator, holes, normal, sizes

Tensor = torch.Tensor


# scaled_dot_product_attention ---------------------------------------------------------------------


def _masked(q: Tensor, k: Tensor, v: Tensor, attn_mask: Tensor | None = None) -> Parts:
    if attn_mask is not None and attn_mask.dtype == torch.bool:
        return Parts(q, k, v, blocked=~attn_mask)
    return Parts(q, k, v, bias=attn_mask)


def _float_mask(use: Any, finish: Any = lambda weights: weights) -> Formula:
    """The function with another use of a float mask, of scaled scores, the mask and the scale.

    Args:
        use: those three to what softmax gets.
        finish: what is done to the weights.
    """

    def attention(q: Tensor, k: Tensor, v: Tensor, attn_mask: Tensor | None = None) -> Any:
        if attn_mask is None or attn_mask.dtype == torch.bool:
            return FUNCTION.oracle(q, k, v, attn_mask)
        scale = q.shape[-1] ** -0.5
        weights = finish(use(q @ k.mT * scale, attn_mask, scale).softmax(-1))
        return weights @ v, weights

    return attention


def _added(scores: Tensor, mask: Tensor, scale: float) -> Tensor:
    return scores + mask


def _bool_as_float(q: Tensor, k: Tensor, v: Tensor, attn_mask: Tensor | None = None) -> Any:
    return sdpa(q, k, v, bias=None if attn_mask is None else attn_mask.to(q.dtype))


def _float_as_bool(q: Tensor, k: Tensor, v: Tensor, attn_mask: Tensor | None = None) -> Any:
    return sdpa(q, k, v, blocked=None if attn_mask is None else ~attn_mask.bool())


FUNCTION = Attention(_masked)
SDPA = Exercise(
    name="scaled_dot_product_attention",
    signature="(q, k, v, attn_mask=None) -> (out, weights)",
    axes=("… n k", "… m k", "… m v", "… n m mask bias"),
    stretched=True,
    read="The same five lines, batched",
    returns=(Slot("out", "tensor", "… N d_v"), Slot("weights", "tensor", "… N M")),
    claims=promises(
        "equals F.scaled_dot_product_attention",
        1.25,
        masked=0.75,
        empty=0.25,
        large_and_precision=0.25,
        gradient_and_finite=0.25,
        refuses_and_shapes_and_unchanged=0.25,
    ),
    attention=FUNCTION,
    mistakes={
        "mask-added": _bool_as_float,
        "float-mask-ignored": _float_mask(lambda scores, mask, scale: scores),
        "float-mask-as-bool": _float_as_bool,
        "float-mask-hides-only": _float_mask(
            lambda scores, mask, scale: scores.masked_fill(mask == -torch.inf, -torch.inf)
        ),
        "float-mask-multiplied": _float_mask(lambda scores, mask, scale: scores * mask),
        "float-mask-before-scale": _float_mask(lambda scores, mask, scale: scores + mask * scale),
        "empty-row-is-nan": _float_mask(_added),
        "empty-slope-is-nan": _float_mask(_added, torch.nan_to_num),
    },
    banned="attention",
)


# softmax_backward ---------------------------------------------------------------------------------


def _backward(weights: Tensor, upstream: Tensor) -> Tensor:
    return torch._softmax_backward_data(upstream, weights, -1, weights.dtype)


def _weights(rng: Generator, sizes: Mapping[str, Any]) -> Tensor:
    return normal(rng, *sizes["…"], sizes["m"]).softmax(-1)


def _backward_cases(rng: Generator) -> Iterator[Case]:
    def case(claim: str, weights: Tensor, upstream: Tensor, note: str, **how: Any) -> Case:
        return Case(claim, (weights, upstream), note=note, **how)

    b, n, m = sizes(rng, 3, 3)
    square = normal(rng, m, m, m).softmax(-1)
    yield case("values", square, normal(rng, m, m, m), "all sizes are equal")
    scores, upstream = normal(rng, b, n, m), normal(rng, b, n, m)
    open_ = torch.from_numpy(holes(rng, b * n, m)).reshape(b, n, m)
    some = scores.masked_fill(~open_, -torch.inf).softmax(-1)
    yield case("zeros", some, upstream, "some weights are 0", exact_zeros=True)
    some[:, rng.integers(n)] = 0.0
    yield case("zeros", some, upstream, "a row of weights is 0", exact_zeros=True)
    yield case("zeros", 0 * some, upstream, "all weights are 0", exact_zeros=True)
    hard = one_hot(scores)
    yield case("zeros", hard, upstream, "one weight in each row is 1", exact_zeros=True)
    refused = "ValueError or RuntimeError"
    for less, where in ((some[..., 1:], "weights"), (upstream[..., 1:], "upstream")):
        args = (less, upstream) if where == "weights" else (some, less)
        yield case("refuses", *args, f"M is one less in {where}, and not elsewhere", raises=refused)


def _less(taken: Callable[[Tensor, Tensor], Any]) -> Formula:
    """Slopes less something else than the weighted mean of the row."""
    return lambda weights, upstream: weights * (upstream - taken(weights, upstream))


def _mean(weights: Tensor, upstream: Tensor) -> Tensor:
    return (weights * upstream).sum(-1, keepdim=True)


BACKWARD = Exercise(
    name="softmax_backward",
    signature="(weights, upstream) -> slopes of the scores",
    axes=("… m", "… m"),
    drawn={"weights": _weights},
    read="Softmax's own way back",
    returns=(Slot("slopes", "tensor", "… M"),),
    claims=promises(
        "equals autograd's slopes of the scores, by the weights alone",
        1.0,
        Claim("zeros", "gives 0, not NaN, where a weight or a whole row is 0", 0.25),
        precision=0.25,
        shapes=0.25,
        refuses_and_unchanged=0.25,
    ),
    cases=_backward_cases,
    oracle=_backward,
    mistakes={
        "upstream-alone": lambda weights, upstream: upstream,
        "nothing-subtracted": _less(lambda weights, upstream: 0.0),
        "diagonal-only": _less(lambda weights, upstream: weights * upstream),
        "outer-product-only": lambda weights, upstream: -weights * _mean(weights, upstream),
        "sign-flipped": lambda weights, upstream: -_backward(weights, upstream),
        "terms-added": _less(lambda weights, upstream: -_mean(weights, upstream)),
        "not-the-weighted-mean": (
            _less(lambda weights, upstream: upstream.sum(-1, keepdim=True)),
            _less(lambda weights, upstream: upstream.mean(-1, keepdim=True)),
            _less(lambda weights, upstream: (weights * upstream).mean(-1, keepdim=True)),
        ),
        "weights-not-in-front": (
            lambda weights, upstream: upstream - _mean(weights, upstream),
            lambda weights, upstream: weights * upstream - _mean(weights, upstream),
        ),
        "log-softmax-backward": lambda weights, upstream: (
            upstream - weights * upstream.sum(-1, keepdim=True)
        ),
        "roles-swapped": lambda weights, upstream: upstream * (weights - _mean(weights, upstream)),
        "summed-over-other-axis": (
            _less(lambda weights, upstream: (weights * upstream).sum()),
            _less(lambda weights, upstream: (weights * upstream).sum(0)),
            _less(lambda weights, upstream: (weights * upstream).sum(0, keepdim=True)),
            _less(lambda weights, upstream: (weights * upstream).sum(-2, keepdim=True)),
        ),
        "axis-lost": _less(lambda weights, upstream: (weights * upstream).sum(-1)),
        "softmax-again": lambda weights, upstream: _backward(weights.softmax(-1), upstream),
        "zeros-are-nan": (
            lambda weights, upstream: _backward(weights.log().softmax(-1), upstream),
            lambda weights, upstream: _backward(weights / weights.sum(-1, keepdim=True), upstream),
        ),
    },
    banned="backward",
)


# SelfAttention ------------------------------------------------------------------------------------


def _projected(state: State, x: Tensor) -> Parts:
    return Parts(state.linear("W_q", x), state.linear("W_k", x), state.linear("W_v", x), x)


def _without_bias(state: State, x: Tensor) -> Any:
    q, k, v = (F.linear(x, state[f"{name}.weight"]) for name in ("W_q", "W_k", "W_v"))
    return sdpa(q, k, v)


MODULE = Exercise(
    name="SelfAttention",
    signature="nn.Module(d, d_k, d_v, bias=False) with forward(x) -> (out, weights)",
    axes=("b n d",),
    builds=("d", "k", "v"),
    state={
        **{"W_q.weight": "k d", "W_k.weight": "k d", "W_v.weight": "v d"},
        **{"W_q.bias": "k", "W_k.bias": "k", "W_v.bias": "v"},
    },
    read="Attention as a module",
    returns=(Slot("out", "tensor", "B N d_v"), Slot("weights", "tensor", "B N N")),
    claims=promises(
        "equals F.scaled_dot_product_attention with the same weights",
        1.5,
        bias=0.25,
        large_and_precision=0.25,
        gradient=0.5,
        again_and_shapes=0.25,
        refuses_and_unchanged=0.25,
    ),
    attention=Attention(_projected),
    mistakes={"bias-ignored": _without_bias},
    banned="attention",
)

EXERCISES = (SDPA, BACKWARD, MODULE)
