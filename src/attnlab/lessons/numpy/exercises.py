"""Lesson 03's exercises: the block in NumPy, its counts, and attention as one big matrix."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import torch

from attnlab.checks.attention import Attention, Parts
from attnlab.checks.exercise import Case, Claim, Exercise, Slot, promises
from attnlab.checks.inputs import sizes
from attnlab.checks.recipe import Recipe
from attnlab.checks.reference import softmax, tensor

Array = Any  # of a case


# softmax ------------------------------------------------------------------------------------------


def _along_axes(rng: np.random.Generator) -> Iterator[Case]:
    b, n, m = sizes(rng, 3, 3)
    yield Case("values", (rng.normal(size=m),), note="scores have one axis")
    yield Case("axis", (rng.normal(size=(n, m)), 0), note="axis is 0")
    yield Case("axis", (rng.normal(size=(b, n, m)),), {"axis": 1}, note="axis is 1")
    yield Case("axis", (rng.normal(size=(b, n, m)), -3), note="axis is -3")
    yield Case("axis", (rng.normal(size=(2, b, n, m)), 1), note="axis is 1 of four")


def _over(summed: Callable[[np.ndarray, int], Any], largest: Callable[[Array, int], Any]) -> Any:
    """Softmax with its sum and its maximum taken along axes that may differ."""

    def mistaken(scores: Array, axis: int = -1) -> Any:
        powers = np.exp(scores - largest(scores, axis))
        return powers / summed(powers, axis)

    return mistaken


def _sum(powers: Array, axis: int) -> Any:
    return powers.sum(axis, keepdims=True)


def _max(scores: Array, axis: int) -> Any:
    return scores.max(axis, keepdims=True)


def _always(at: int) -> Any:
    return lambda scores, axis=-1: _over(_sum, _max)(scores, at)


SOFTMAX = Exercise(
    name="softmax",
    signature="(scores, axis=-1) -> ndarray",
    axes=("… n m",),
    read="Softmax that does not overflow",
    returns=(Slot("weights", "ndarray", "…"),),
    claims=promises(
        "equals softmax over the last axis",
        0.25,
        Claim("axis", "takes any axis", 0.25),
        large_and_blocked=0.25,
        shapes_and_unchanged=0.25,
    ),
    scores="scores",
    oracle=softmax,
    cases=_along_axes,
    mistakes={
        "axis-ignored": (
            lambda scores, axis=-1: softmax(scores),
            _over(lambda powers, axis: _sum(powers, -1), _max),
        ),
        "softmax-over-first-axis": (
            _always(0),
            _over(lambda powers, axis: _sum(powers, 0), _max),
            lambda scores, axis=0: softmax(scores, axis),
        ),
        "hard-coded-axis": (
            _always(1),
            _over(lambda powers, axis: _sum(powers, 1), _max),
            lambda scores, axis=1: _over(_sum, _max)(scores, axis),
            lambda scores, axis=-1: softmax(scores, min(1, scores.ndim - 1)),
        ),
        "maximum-along-last-axis": _over(_sum, lambda scores, axis: _max(scores, -1)),
        "softmax-over-queries": lambda scores, axis=-1: softmax(scores, max(scores.ndim - 2, 0)),
    },
)


# project ------------------------------------------------------------------------------------------


def _biased(rng: np.random.Generator) -> Iterator[Case]:
    for note, leading, equal in (
        ("", (), False),
        ("all sizes are equal", (), True),
        ("X has a batch axis", (2,), False),
        ("X has two batch axes", (2, 3), False),
    ):
        n, d, k = (5, 5, 5) if equal else sizes(rng, 3)
        X, W, b = rng.normal(size=(*leading, n, d)), rng.normal(size=(d, k)), rng.normal(size=k)
        yield Case("biased", (X, W, b), note=note)
        some = np.where(np.arange(k) == rng.integers(k), 0.0, b)
        yield Case("biased", (X, W), {"b": some}, note="a number of b is 0")
        yield Case("values", (X, W, None), note="b is None")


def _project(X: Array, W: Array, b: Array = None) -> torch.Tensor:
    bias = None if b is None else tensor(b)
    return torch.nn.functional.linear(tensor(X), tensor(W).T, bias)


def _with_bias(used: Callable[[Array, Array], Any]) -> Callable[..., Any]:
    """X W and something else that is made of it and the bias."""
    return lambda X, W, b=None: _project(X, W) if b is None else used(_project(X, W), tensor(b))


def _on_first_token(product: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    return torch.cat([product[..., :1, :] + b, product[..., 1:, :]], -2)


PROJECT = Exercise(
    name="project",
    signature="(X, W, b=None) -> ndarray",
    axes=("… n d", "d k"),
    stretched=True,
    read="One einsum per arrow",
    returns=(Slot("projected", "ndarray", "… N k"),),
    claims=promises(
        "equals X W where there is no bias",
        0.25,
        Claim("biased", "adds the bias to every token", 0.25),
        refuses_and_shapes=0.25,
        unchanged=0.25,
    ),
    oracle=_project,
    cases=_biased,
    mistakes={
        "bias-ignored": _with_bias(lambda product, b: product),
        "bias-subtracted": _with_bias(lambda product, b: product - b),
        "bias-multiplied": _with_bias(lambda product, b: product * b),
        "bias-on-first-token-only": _with_bias(_on_first_token),
        "bias-summed": _with_bias(lambda product, b: product + b.sum()),
        "bias-averaged": _with_bias(lambda product, b: product + b.mean()),
        "bias-added-repeatedly": lambda X, W, b=None: _project(
            X, W, None if b is None else len(W) * b
        ),
        "sum-off-by-one": lambda X, W, b=None: _project(X[..., :-1], W[:-1], b),
        "weights-reshaped": lambda X, W, b=None: _project(X, W.T.reshape(W.shape), b),
        "weights-reversed": lambda X, W, b=None: _project(X, W[::-1].copy(), b),
        "columns-summed": lambda X, W, b=None: (
            X.sum(-1, keepdims=True) * W.sum(0) + (0 if b is None else b)
        ),
    },
)


# scaled_dot_product_attention ---------------------------------------------------------------------


def _masked(Q: Array, K: Array, V: Array, mask: Array = None) -> Parts:
    return Parts(Q, K, V, blocked=None if mask is None else ~mask)


BLOCK = Attention(_masked)
ATTENTION = Exercise(
    name="scaled_dot_product_attention",
    signature="(Q, K, V, mask=None) -> (out, weights)",
    axes=("… n k", "… m k", "… m v", "… n m mask"),
    read="The block in five lines",
    returns=(Slot("out", "ndarray", "… N d_v"), Slot("weights", "ndarray", "… N M")),
    claims=promises(
        "equals softmax(Q Kᵀ / √d_k) V, and its weights",
        1.5,
        masked=1.25,
        empty=0.5,
        large_and_precision=0.25,
        shapes=0.25,
        unchanged=0.25,
    ),
    attention=BLOCK,
    mistakes={"scale-of-the-example": BLOCK.answer(Recipe(scale=lambda at: 0.5))},
)


# count_attention ----------------------------------------------------------------------------------


def _drawn_counts(rng: np.random.Generator) -> Iterator[Case]:
    for _ in range(2):
        yield Case("biased", (*sizes(rng, 4, 2, 40), True), note="bias is True")
    yield Case("biased", sizes(rng, 4, 2, 40), {"bias": True}, note="bias is True")
    yield Case(
        "values", (int(rng.integers(1000, 2000)), *sizes(rng, 3)), note="there are many tokens"
    )


def _parameters(d: int, d_k: int, d_v: int, bias: bool) -> int:
    layers = [torch.nn.Linear(d, width, bias, device="meta") for width in (d_k, d_k, d_v)]
    return sum(parameter.numel() for layer in layers for parameter in layer.parameters())


def _counts(n: int, d: int, d_k: int, d_v: int, bias: bool = False) -> Any:
    queries = torch.empty(n, d_k, device="meta")
    return _parameters(d, d_k, d_v, bias), (queries @ queries.T).numel()


def _parameters_by(formula: Callable[..., int]) -> Callable[..., Any]:
    """The counts with another one of parameters: of d, d_k, d_v, bias and n."""
    return lambda n, d, d_k, d_v, bias=False: (formula(d, d_k, d_v, bias, n), n * n)


def _weights_by(formula: Callable[..., int]) -> Callable[..., Any]:
    """The counts with another one of weights: of n, d and d_k."""
    return lambda n, d, d_k, d_v, bias=False: (_parameters(d, d_k, d_v, bias), formula(n, d, d_k))


COUNT = Exercise(
    name="count_attention",
    signature="(n, d, d_k, d_v, bias=False) -> (parameters, weights)",
    axes=("=n", "=d", "=k", "=v"),
    read="What depends on N, and what on d",
    returns=(Slot("parameters", "int"), Slot("weights", "int")),
    claims=promises(
        "counts the entries of three matrices and of the weights",
        0.5,
        Claim("biased", "counts the biases when there are any", 0.25),
        shapes=0.25,
    ),
    oracle=_counts,
    cases=_drawn_counts,
    mistakes={
        "one-matrix": _parameters_by(lambda d, k, v, bias, n: (d + bias) * k),
        "values-not-counted": _parameters_by(lambda d, k, v, bias, n: 2 * (d + bias) * k),
        "keys-not-counted": _parameters_by(lambda d, k, v, bias, n: (d + bias) * (k + v)),
        "same-width-for-all": _parameters_by(lambda d, k, v, bias, n: 3 * (d + bias) * k),
        "square-matrices": _parameters_by(lambda d, k, v, bias, n: 3 * (d + bias) * d),
        "activations-counted": _parameters_by(lambda d, k, v, bias, n: n * (2 * k + v)),
        "bias-ignored": _parameters_by(lambda d, k, v, bias, n: d * (2 * k + v)),
        "bias-per-input": _parameters_by(lambda d, k, v, bias, n: d * (2 * k + v + 3 * bias)),
        "bias-is-one-number": _parameters_by(lambda d, k, v, bias, n: d * (2 * k + v) + 3 * bias),
        "bias-always-counted": _parameters_by(lambda d, k, v, bias, n: (d + 1) * (2 * k + v)),
        "one-matrix-too-many": _parameters_by(
            lambda d, k, v, bias, n: (d + bias) * (2 * k + v) + v * d + bias * d
        ),
        "bias-per-token": _parameters_by(lambda d, k, v, bias, n: (2 * k + v) * (d + n * bias)),
        "matrices-per-token": _parameters_by(lambda d, k, v, bias, n: n * (d + bias) * (2 * k + v)),
        "weights-per-width": (
            _weights_by(lambda n, d, k: n * k),
            _weights_by(lambda n, d, k: n * d),
        ),
        "weights-without-self": _weights_by(lambda n, d, k: n * (n - 1)),
        "weights-linear": _weights_by(lambda n, d, k: n),
        "weights-per-feature": _weights_by(lambda n, d, k: n * n * k),
        "weights-causal": _weights_by(lambda n, d, k: n * (n + 1) // 2),
        "swapped-results": lambda *sizes, **kwargs: _counts(*sizes, **kwargs)[::-1],
    },
)


# routing_matrix -----------------------------------------------------------------------------------


def _zeros(rng: np.random.Generator) -> Iterator[Case]:
    n, m, d, v = sizes(rng, 4)
    weights, W_v = softmax(rng.normal(size=(n, m))), rng.normal(size=(d, v))
    small = weights * np.where(np.arange(n) == rng.integers(n), 1e-4, 1.0)[:, None]
    yield Case("values", (small, W_v), note="a row of weights is small")
    weights[rng.integers(n)] = 0.0
    yield Case("zeros", (weights, W_v), note="a row of weights is 0", exact_zeros=True)
    chosen = np.eye(m)[rng.integers(m, size=n)]
    yield Case("zeros", (chosen, W_v), note="weights are 0 or 1", exact_zeros=True)


def _routing(weights: Array, W_v: Array) -> torch.Tensor:
    plain = torch.contiguous_format  # `contiguous()` leaves odd strides where a size is 1
    left, right = (part.clone(memory_format=plain) for part in (tensor(weights), tensor(W_v).T))
    return torch.kron(left, right)


def _joined(order: str) -> Callable[..., Any]:
    """a_nm w_dv with its axes in another order before they are joined by twos."""
    return lambda weights, W_v: np.einsum(f"nm,dv->{order}", weights, W_v).reshape(
        weights.shape[0] * W_v.shape[1], weights.shape[1] * W_v.shape[0]
    )


ROUTING = Exercise(
    name="routing_matrix",
    signature="(weights, W_v) -> (N·d_v, M·d)",
    axes=("n m", "d v"),
    read="One big matrix, rebuilt for every input",
    returns=(Slot("routing", "ndarray", "N·d_v M·d"),),
    claims=promises(
        "has the blocks a_nm W_vᵀ",
        1.5,
        Claim("zeros", "has a block of 0 where a weight is 0", 0.25),
        unchanged_and_shapes=0.25,
    ),
    oracle=_routing,
    cases=_zeros,
    mistakes={
        "block-not-transposed": lambda A, W_v: np.kron(A, W_v),
        "factors-swapped": lambda A, W_v: np.kron(W_v.T, A),
        "routing-transposed": lambda A, W_v: _routing(A, W_v).T,
        "weights-transposed": lambda A, W_v: _routing(A.T, W_v),
        "values-unweighted": lambda A, W_v: _routing(np.ones_like(A), W_v),
        "uniform-weights": lambda A, W_v: _routing(np.full_like(A, 1 / A.shape[1]), W_v),
        "diagonal-blocks-only": lambda A, W_v: _routing(A * np.eye(*A.shape), W_v),
        "identity-blocks": lambda A, W_v: _routing(np.eye(*A.shape), W_v),
        "weights-without-values": lambda A, W_v: np.kron(A, np.ones_like(W_v.T)),
        "block-reshaped": lambda A, W_v: np.kron(A, W_v.reshape(W_v.T.shape)),
        "axes-not-interleaved": (_joined("nmvd"), _joined("nmdv")),
        "columns-by-feature": _joined("nvdm"),
    },
)

EXERCISES = (SOFTMAX, PROJECT, ATTENTION, COUNT, ROUTING)
