"""What goes wrong around softmax: scale, scores, roles, mixing, masks, gradients."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from attnlab.checks.in_softmax import one_hot, over_sum
from attnlab.checks.recipe import INFINITY, Part, Tensor, softmax, wrong

# Scale --------------------------------------------------------------------------------------------


SCALE: Part = (
    wrong("no-scale", {"scale": lambda at: 1.0}),
    wrong("scale-by-d", {"scale": lambda at: 1.0 / at.q.shape[-1]}),
    wrong("scale-multiplied", {"scale": lambda at: at.q.shape[-1] ** 0.5}),
    wrong(
        "half-not-root",
        {"scale": lambda at: 2.0 / at.q.shape[-1]},
        {"scale": lambda at: 0.5 / at.q.shape[-1]},
    ),
    wrong(
        "scale-by-sqrt-n",
        {"scale": lambda at: at.q.shape[-2] ** -0.5},
        {"scale": lambda at: at.k.shape[-2] ** -0.5},
    ),
    wrong("fourth-root", {"scale": lambda at: at.q.shape[-1] ** -0.25}),
)
SCALE_LATE: Part = (
    wrong(
        "scale-after-softmax",
        {
            "scale": lambda at: 1.0,
            "after": lambda at: at.weights * at.q.shape[-1] ** -0.5,
        },
    ),
)
# Where there is an output.
SCALE_AFTER_MIX: Part = (
    wrong(
        "scale-after-softmax",
        {
            "scale": lambda at: 1.0,
            "mix": lambda at: at.weights @ at.v * at.q.shape[-1] ** -0.5,
        },
    ),
)
# Where a mask may be numbers that are added to the scores.
SCALE_OF_MASK: Part = (
    wrong(
        "mask-scaled",
        {
            "scale": lambda at: 1.0,
            "after": lambda at: softmax(at.hidden * at.q.shape[-1] ** -0.5).nan_to_num(),
        },
    ),
)
# As for BATCH: where the first axis is not that of the queries.
SCALE_BY_FIRST_AXIS: Part = (
    wrong(
        "scale-by-first-axis",
        {"scale": lambda at: at.q.shape[0] ** -0.5},
        {"scale": lambda at: at.k.shape[0] ** -0.5},
    ),
)
# Where cases have different numbers of axes.
SCALE_BY_SECOND_AXIS: Part = (
    wrong("scale-by-second-axis", {"scale": lambda at: at.q.shape[1] ** -0.5}),
)
SCALE_BY_VALUES: Part = (wrong("scale-by-sqrt-d-v", {"scale": lambda at: at.v.shape[-1] ** -0.5}),)
SCALE_BY_INPUT: Part = (wrong("scale-by-sqrt-d", {"scale": lambda at: at.x.shape[-1] ** -0.5}),)


# Scores -------------------------------------------------------------------------------------------


def _pairs(q: Tensor, k: Tensor) -> tuple[Tensor, Tensor]:
    return q.unsqueeze(-2), k.unsqueeze(-3)


def _distances(q: Tensor, k: Tensor) -> Tensor:
    one, other = _pairs(q, k)
    return (one - other).norm(dim=-1)


def _unit(vectors: Tensor) -> Tensor:
    return vectors / vectors.norm(dim=-1, keepdim=True)


SCORES: Part = (
    wrong(
        "distance-not-dot-product",
        {"score": lambda q, k: -_distances(q, k)},
        {"score": lambda q, k: -(_distances(q, k) ** 2)},
    ),
    wrong("cosine-not-dot-product", {"score": lambda q, k: _unit(q) @ _unit(k).mT}),
    wrong("sum-of-sums", {"score": lambda q, k: q.sum(-1, keepdim=True) + k.sum(-1).unsqueeze(-2)}),
)
RESHAPED: Part = (
    wrong(
        "reshaped-not-transposed",
        {"score": lambda q, k: q @ k.reshape(*k.shape[:-2], k.shape[-1], k.shape[-2])},
    ),
)


# Roles --------------------------------------------------------------------------------------------


SWAPPED: Part = (wrong("swapped-q-k", {"roles": lambda q, k, v, x: (k, q, v)}),)
QUERIES_ALONE: Part = (wrong("queries-with-queries", {"roles": lambda q, k, v, x: (q, q, v)}),)
# Where queries, keys and values are made from tokens, by a matrix each.
PROJECTIONS: Part = (
    wrong("keys-from-w-q", {"roles": lambda q, k, v, x: (q, q, v)}),
    wrong("queries-from-w-k", {"roles": lambda q, k, v, x: (k, k, v)}),
    wrong("nothing-projected", {"roles": lambda q, k, v, x: (x, x, x)}),
    wrong("values-not-projected", {"mix": lambda at: at.weights @ at.x}),
    wrong("queries-as-values", {"mix": lambda at: at.weights @ at.q}),
    wrong("values-unweighted", {"mix": lambda at: at.v}),
    wrong("weights-transposed", {"mix": lambda at: at.weights.mT @ at.v}),
)


# Mix and results ----------------------------------------------------------------------------------


MIX: Part = (
    wrong("keys-as-values", {"mix": lambda at: at.weights @ at.k}),
    wrong("values-unweighted", {"mix": lambda at: torch.ones_like(at.weights) @ at.v}),
    wrong("mean-of-weighted-values", {"mix": lambda at: at.weights @ at.v / at.v.shape[-2]}),
    wrong("best-value-only", {"mix": lambda at: one_hot(at.weights) @ at.v}),
    wrong("last-value-only", {"mix": lambda at: at.weights[..., -1:] @ at.v[..., -1:, :]}),
)
# Where weights are returned as well.
RESULTS: Part = (
    wrong(
        "values-averaged", {"mix": lambda at: torch.ones_like(at.weights) @ at.v / at.v.shape[-2]}
    ),
    wrong(
        "scores-mixed", {"mix": lambda at: at.scores @ at.v}, {"mix": lambda at: at.hidden @ at.v}
    ),
    wrong("swapped-results", {"give": lambda out, at: (at.weights, out)}),
    wrong(
        "scores-for-weights",
        {"give": lambda out, at: (out, at.scores)},
        {"give": lambda out, at: (out, at.hidden)},
    ),
)


# Masks --------------------------------------------------------------------------------------------


def _keep(numbers: Tensor, blocked: Tensor) -> Tensor:
    return numbers


def _low(number: float) -> Callable[[Tensor, Tensor], Tensor]:
    """A way to hide scores: set them to a number."""
    return lambda s, blocked: s.masked_fill(blocked, number)


def _to_zero(weights: Tensor, blocked: Tensor) -> Tensor:
    return weights.masked_fill(blocked, 0.0)


def _rows_to_zero(weights: Tensor, blocked: Tensor) -> Tensor:
    """Rows with nothing left are found by the mask, and are right."""
    return weights.masked_fill(blocked.expand_as(weights).all(-1, keepdim=True), 0.0)


def _emptied(way: dict[str, Any]) -> tuple[dict[str, Any], ...]:
    """A way that leaves some rows nothing: they become 0, or NaN, or are shared out evenly."""
    return way, {**way, "empty": _keep}, {**way, "hide": _low(-1e9)}


def _zeros_too(scores: Tensor, blocked: Tensor) -> Tensor:
    return scores.masked_fill(blocked | (scores == 0), -INFINITY)


MASK: Part = (
    wrong("mask-missing", {"hide": _keep}),
    wrong("mask-after-softmax", {"hide": _keep, "cover": _to_zero}),
    wrong("mask-with-zero", {"hide": _low(0.0)}, {"hide": _low(0.0), "cover": _to_zero}),
    wrong(
        "mask-added",
        {"hide": lambda s, blocked: s + blocked},
        {"hide": lambda s, blocked: s + ~blocked},
    ),
    wrong(
        "mask-inverted",
        *_emptied({"block": torch.logical_not}),
        {"block": torch.logical_not, "hide": lambda s, blocked: s + -1e9 * blocked},
        *(
            {
                "block": block,
                "cover": lambda a, blocked: a.masked_fill(~blocked, 0.0),
                "empty": empty,
            }
            for block in (torch.logical_not, lambda blocked: blocked)
            for empty in (_keep, _to_zero)
        ),
    ),
    wrong(
        "mask-with-small-number",
        *(
            {"hide": _low(number), "cover": cover}
            for number in (-1.0, -2.0, -5.0, -10.0)
            for cover in (_keep, _to_zero)
        ),
    ),
    wrong("zero-scores-blocked", {"hide": _zeros_too}, {"hide": _zeros_too, "empty": _keep}),
    wrong("zero-times-infinity", {"hide": lambda s, blocked: s + blocked.to(s.dtype) * -INFINITY}),
    wrong("weights-not-masked", {"give": lambda out, at: (out, softmax(at.scores))}),
)
# Where some scores are far below 0.
FAR_BELOW: Part = (
    wrong(
        "mask-with-small-number",
        *(
            {"hide": _low(number), "cover": cover}
            for number in (-20.0, -50.0, -100.0, -1e3, -1e4)
            for cover in (_keep, _rows_to_zero)
        ),
    ),
)
# Where what is blocked scores hundreds above what is left.
FAR_ABOVE: Part = (
    wrong(
        "small-number-added",
        *(
            {"hide": lambda s, blocked, low=low: s + low * blocked, "cover": cover}
            for low in (-20.0, -50.0, -100.0, -1e3)
            for cover in (_keep, _rows_to_zero)
        ),
    ),
)
# Where it scores more than any number above what is left.
BEYOND: Part = (
    wrong(
        "small-number-added",
        *(
            {"hide": lambda s, blocked, low=low: s + low * blocked, "cover": cover}
            for low in (-1e4, -1e9)
            for cover in (_keep, _rows_to_zero)
        ),
    ),
)
# Where some queries may attend to nothing.
EMPTY_ROWS: Part = (
    wrong(
        "empty-row-is-nan",
        {"empty": _keep},
        {"hide": _keep, "cover": lambda a, blocked: over_sum(a * ~blocked)},
    ),
    wrong(
        "empty-row-shared-out",
        {"hide": _low(-1e9)},
        {"weigh": lambda s: softmax(s.clamp(min=torch.finfo(s.dtype).min)), "empty": _keep},
    ),
    wrong(
        "empty-row-sees-all", {"block": lambda blocked: blocked & ~blocked.all(-1, keepdim=True)}
    ),
)
# Where gradients are asked for as well: NaN comes back through an addition, or a division.
EMPTY_SLOPES: Part = (
    wrong(
        "empty-slope-is-nan",
        {"hide": lambda s, blocked: s + torch.where(blocked, -INFINITY, 0.0).to(s.dtype)},
        {"hide": _keep, "cover": lambda a, blocked: over_sum(a * ~blocked).nan_to_num()},
    ),
)


def _own(blocked: Tensor) -> Tensor:
    return torch.eye(blocked.shape[-1], dtype=torch.bool)


# Where each query may attend to something, itself at least.
CAUSAL: Part = (
    wrong(
        "unstable-softmax",
        *(
            {
                "hide": _keep,
                "weigh": torch.exp,
                "cover": cover,
                "after": lambda at: over_sum(at.weights),
            }
            for cover in (_to_zero, lambda e, blocked: e * ~blocked)
        ),
    ),
    wrong("mask-transposed", {"block": lambda blocked: blocked.mT}),
    wrong(
        "mask-off-by-one",
        *_emptied({"block": lambda blocked: blocked | _own(blocked)}),
        {"block": lambda blocked: torch.triu(blocked, 2)},
    ),
)


# Gradients ----------------------------------------------------------------------------------------


GRADIENTS: Part = (
    wrong(
        "no-gradient",
        {"after": lambda at: at.weights.detach()},
        {"mix": lambda at: at.weights.detach() @ at.v},
        {"mix": lambda at: at.weights @ at.v.detach()},
        {"roles": lambda q, k, v, x: (q.detach(), k, v)},
        {"roles": lambda q, k, v, x: (q, k.detach(), v)},
    ),
)
# Where weights are returned as well.
GRADIENTS_OF_WEIGHTS: Part = (
    wrong("no-gradient", {"give": lambda out, at: (out, at.weights.detach())}),
)
# Where tensors are asked for all the digits that they have.
ROOT: Part = (
    wrong(
        "root-in-float32",
        {"scale": lambda at: 1 / torch.tensor(at.q.shape[-1]).sqrt().item()},
        {"scale": lambda at: (1 / torch.tensor(at.q.shape[-1]).sqrt()).item()},
    ),
)


def _any_for_all(scores: Tensor) -> Tensor:
    rows = (scores == -INFINITY).any(-1, keepdim=True)
    return softmax(scores.masked_fill(rows, 0.0)).masked_fill(rows, 0.0)


ANY_FOR_ALL: Part = (wrong("any-for-all", {"weigh": _any_for_all}),)
