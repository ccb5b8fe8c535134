"""Lesson 04's exercises: how scores spread, softmax's Jacobian, entropy, 1/√d_k, and a slope."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
import torch

from attnlab.checks.exercise import (
    Case,
    Claim,
    Exercise,
    Formula,
    Procedure,
    Slot,
    promises,
)
from attnlab.checks.in_softmax import one_hot
from attnlab.checks.inputs import Generator, holes, sizes
from attnlab.checks.reference import softmax, tensor

Arrays = Any  # arrays from a case


# score_std ----------------------------------------------------------------------------------------

PAIRS, NUMBERS = 4_000, 2_000_000  # every query with every key would be eight times as many


def _std(Q: Arrays, K: Arrays) -> float:
    return float(torch.linalg.vecdot(tensor(Q), tensor(K)).std(correction=0))


def _of_scores(measure: Callable[[np.ndarray], Any]) -> Formula:
    return lambda Q, K: float(measure((Q * K).sum(-1)))


def _distances(scores: np.ndarray) -> np.ndarray:
    return scores - scores.mean()


def _std_cases(rng: Generator) -> Iterator[Case]:
    n, k = sizes(rng, 2, 3)
    args = rng.normal(size=(n, k)), rng.normal(size=(k, n))
    note = "both hold as many numbers, in other shapes"
    yield Case("refuses", args, raises="ValueError", note=note)
    held = Slot(f"that it holds more than {NUMBERS:,} numbers at one time", "bool")
    way = Procedure(
        "memory.holds",
        (Slot("std", "float"), held),
        lambda Q, K, numbers: (_std(Q, K), False),
        ("Q", "K", "numbers"),
    )
    Q, K = rng.normal(0.5, 1, (2, PAIRS, 3))
    note = f"there are {PAIRS:,} pairs, and the memory it takes is watched"
    yield Case("memory", (Q, K, NUMBERS), note=note, procedure=way)


SCORE_STD = Exercise(
    name="score_std",
    signature="(Q, K) -> float",
    axes=("n k", "n k"),
    read="How far scores spread",
    returns=(Slot("std", "float"),),
    claims=promises(
        "equals the population standard deviation of the raw scores",
        0.25,
        Claim("memory", "holds no scores of queries with other queries' keys", 0.25),
        refuses=0.25,
        unchanged=0.25,
    ),
    cases=_std_cases,
    oracle=_std,
    stretched=True,
    mistakes={
        "sample-not-population": _of_scores(lambda scores: scores.std(ddof=1)),
        "variance-not-std": (_of_scores(np.var), _of_scores(lambda scores: scores.var(ddof=1))),
        "mean-not-subtracted": (
            _of_scores(lambda scores: (scores**2).mean()),
            _of_scores(lambda scores: (scores**2).mean() ** 0.5),
            _of_scores(np.linalg.norm),
        ),
        "absolute-not-squared": (
            _of_scores(lambda scores: abs(scores).mean()),
            _of_scores(lambda scores: abs(_distances(scores)).mean()),
        ),
        "mean-not-spread": _of_scores(np.mean),
        "distances-added": _of_scores(lambda scores: np.linalg.norm(_distances(scores))),
        "changed-after-std": (
            _of_scores(lambda scores: scores.std() ** 0.5),
            _of_scores(lambda scores: scores.std() / len(scores) ** 0.5),
        ),
        "scores-divided": (
            lambda Q, K: _std(Q, K) / Q.shape[1] ** 0.5,
            lambda Q, K: _std(Q, K) / Q.shape[1],
        ),
        "summed-over-pairs": lambda Q, K: (Q * K).sum(0).std(),
        "no-spread": lambda Q, K: 0.0,
        "products-not-added": (
            lambda Q, K: (Q * K).std(),
            lambda Q, K: (Q * K).std(0).mean(),
            lambda Q, K: (Q * K).std(1).mean(),
        ),
        "other-pairs": (
            lambda Q, K: (Q @ K.T).std(),
            lambda Q, K: (K @ Q[0]).std(),
            lambda Q, K: _std(Q, Q),
            lambda Q, K: _std(K, K),
        ),
        "law-not-measurement": (
            lambda Q, K: Q.shape[1] ** 0.5,
            lambda Q, K: Q.std() * K.std() * Q.shape[1] ** 0.5,
        ),
        "holds-every-pair": lambda Q, K, *numbers: (_std(Q, K), True) if numbers else _std(Q, K),
    },
)


# softmax_jacobian ---------------------------------------------------------------------------------


def _jacobian_cases(rng: Generator) -> Iterator[Case]:
    m = int(rng.integers(3, 9))
    yield Case("values", (np.full(m, 1 / m),), note="all weights are equal")
    hard = one_hot(tensor(rng.normal(size=m))).numpy()
    yield Case("hard", (hard,), note="p is one-hot", exact_zeros=True)
    for rest in (rng.uniform(0.1, 0.25), rng.uniform(0.01, 0.1), 10 ** rng.uniform(-5.0, -2.0)):
        p = rest * softmax(rng.normal(size=m))
        p[rng.integers(m)] += 1 - rest
        yield Case("hard", (p,), note=f"one weight is {p.max():.5f}")
    yield Case("hard", (softmax(rng.normal(0, 30, m)),), note="p is almost one-hot")


def _jacobian(p: Arrays) -> np.ndarray:
    """Autograd through torch.softmax, at the scores log p."""
    scores = tensor(p).log()
    result = torch.autograd.functional.jacobian(lambda s: torch.softmax(s, -1), scores)
    return np.asarray(result)


JACOBIAN = Exercise(
    name="softmax_jacobian",
    signature="(p) -> (M, M)",
    axes=("m",),
    read="Softmax's Jacobian",
    returns=(Slot("jacobian", "ndarray", "M M"),),
    claims=promises(
        "equals the slopes of softmax, each weight by each score",
        1.5,
        Claim("hard", "is right where p is one-hot or nearly so", 0.25),
        unchanged=0.25,
    ),
    drawn={"p": lambda rng, sizes: softmax(rng.normal(size=sizes["m"]))},
    cases=_jacobian_cases,
    oracle=_jacobian,
    mistakes={
        "diagonal-only": np.diag,
        "sigmoid-derivative": lambda p: np.diag(p * (1 - p)),
        "outer-product-only": lambda p: -np.outer(p, p),
        "sign-flipped": lambda p: np.outer(p, p) - np.diag(p),
        "outer-product-added": lambda p: np.diag(p) + np.outer(p, p),
        "identity-not-diagonal": lambda p: np.eye(len(p)) - np.outer(p, p),
        "log-softmax-jacobian": lambda p: np.eye(len(p)) - p,
        "no-outer-product": (
            lambda p: np.diag(p) - p,
            lambda p: np.diag(p) - p[:, None],
            lambda p: np.diag(p) - p * p,
            lambda p: np.diag(p) - p @ p,
        ),
        "own-share-not-subtracted": lambda p: np.diag(p + p * p) - np.outer(p, p),
        "one-off-the-diagonal": (
            lambda p: np.outer(p, 1 - p),
            lambda p: p - np.outer(p, p),
        ),
        "minus-lost": lambda p: np.outer(p, p) + np.diag(p - 2 * p * p),
        "off-diagonal-only": lambda p: np.diag(p * p) - np.outer(p, p),
        "softmax-of-weights": lambda p: _jacobian(softmax(p)),
    },
)


# entropy ------------------------------------------------------------------------------------------


def _entropy_cases(rng: Generator) -> Iterator[Case]:
    n, m = sizes(rng, 2, 3, 6)
    # Weights of 1, a tenth, a hundredth and so on, divided by their sum: all of them count.
    tens = rng.permuted(np.tile(np.log(10) * np.arange(7), (n, 1)), axis=-1)
    yield Case("values", (softmax(rng.normal(0, 0.1, tens.shape) - tens),), note="a weight is 1e-6")
    for axis in (0, 1, 2, -2, -3):
        p = softmax(rng.normal(size=sizes(rng, 3)), axis)
        by_place = rng.random() < 0.5
        args, kwargs = ((p, axis), {}) if by_place else ((p,), {"axis": axis})
        yield Case("axis", args, kwargs, note=f"axis is {axis}")
    allowed = holes(rng, n, m)
    allowed[0, 1:3] = True  # of one weight alone the entropy is 0, as if NaN had been made that
    some = softmax(np.where(allowed, rng.normal(size=(n, m)), -np.inf))
    hard, soft = rng.choice(np.arange(1, n), 2, replace=False)
    some[hard] = one_hot(tensor(rng.normal(size=m))).numpy()
    some[soft] = softmax(rng.normal(size=m))
    yield Case("zeros", (some,), note="some weights are exactly 0, the first one too")


def _entropy(p: Arrays, axis: int = -1) -> np.ndarray:
    return torch.special.entr(tensor(p)).sum(axis).numpy()


def _of(measure: Callable[[Any, int], Any]) -> Formula:
    return lambda p, axis=-1: measure(p, axis)


def _raised(tens: int) -> tuple[Formula, ...]:
    """Weights that are a small number at least, or have one added, for the logarithm alone too."""
    least = 10.0**-tens
    return (
        lambda p, axis=-1: _entropy(np.maximum(p, least), axis),
        lambda p, axis=-1: _entropy(p + least, axis),
        lambda p, axis=-1: -(p * np.log(p + least)).sum(axis),
        # Of what is smaller than 1e-5 this one leaves less than the tolerance.
        lambda p, axis=-1: -(p * np.log(np.maximum(p, max(least, 1e-5)))).sum(axis),
    )


ENTROPY = Exercise(
    name="entropy",
    signature="(p, axis=-1) -> ndarray",
    axes=("… m",),
    read="Entropy: how many keys share",
    returns=(Slot("entropy", "ndarray", "…"),),
    claims=promises(
        "equals −p log p, summed over the last axis",
        0.25,
        Claim("axis", "takes any axis", 0.25),
        Claim("zeros", "counts 0·log 0 as 0", 0.25),
        unchanged=0.25,
    ),
    drawn={"p": lambda rng, sizes: softmax(rng.normal(size=(*sizes["…"], sizes["m"])))},
    cases=_entropy_cases,
    oracle=_entropy,
    mistakes={
        "other-base": (
            _of(lambda p, axis: _entropy(p, axis) / np.log(2)),
            _of(lambda p, axis: _entropy(p, axis) / np.log(10)),
        ),
        "sign-flipped": _of(lambda p, axis: -_entropy(p, axis)),
        "mean-not-sum": _of(lambda p, axis: _entropy(p, axis) / p.shape[axis]),
        "axis-not-given": (
            _of(lambda p, axis: _entropy(p.ravel(), 0)),
            _of(lambda p, axis: _entropy(p, 0)),
        ),
        "axis-ignored": _of(lambda p, axis: _entropy(p, -1)),
        "unweighted-logarithms": (
            _of(lambda p, axis: -np.log(p).sum(axis)),
            _of(lambda p, axis: -np.log(p).mean(axis)),
        ),
        "not-summed": _of(lambda p, axis: torch.special.entr(tensor(p))),
        "perplexity": _of(lambda p, axis: np.exp(_entropy(p, axis))),
        "normalised-entropy": _of(lambda p, axis: _entropy(p, axis) / np.log(p.shape[axis])),
        "gini-not-entropy": _of(lambda p, axis: 1 - (p**2).sum(axis)),
        "zero-log-zero": _of(lambda p, axis: -(p * np.log(p)).sum(axis)),
        "nan-made-0-after-sum": _of(
            lambda p, axis: np.nan_to_num(-(p * np.log(p)).sum(axis)),
        ),
        "zeros-raised": tuple(way for tens in range(2, 8) for way in _raised(tens)),
    },
)


# best_scale ---------------------------------------------------------------------------------------


def _by(size: Callable[[Arrays, Arrays], int], power: float = -0.5) -> Formula:
    return lambda Q, K: float(size(Q, K)) ** power


def _width(Q: Arrays, K: Arrays) -> int:
    return int(K.shape[-1])


BEST_SCALE = Exercise(
    name="best_scale",
    signature="(Q, K) -> float",
    axes=("… n k", "… m k"),
    read="The factor that keeps variance 1",
    returns=(Slot("scale", "float"),),
    claims=promises(
        "is the factor that gives such scores a variance of 1", 0.5, refuses=0.25, unchanged=0.25
    ),
    oracle=lambda Q, K: float(1 / tensor(float(K.shape[-1])).sqrt()),
    mistakes={
        "no-scale": lambda Q, K: 1.0,
        "scale-by-d": _by(_width, -1.0),
        "scale-multiplied": _by(_width, 0.5),
        "half-not-root": (lambda Q, K: 2 / _width(Q, K), lambda Q, K: 0.5 / _width(Q, K)),
        "fourth-root": _by(_width, -0.25),
        "width-itself": _by(_width, 1.0),
        "scale-by-sqrt-n": (_by(lambda Q, K: Q.shape[-2]), _by(lambda Q, K: K.shape[-2])),
        "scale-by-first-axis": (_by(lambda Q, K: len(Q)), _by(lambda Q, K: len(K))),
        "scale-by-second-axis": (_by(lambda Q, K: Q.shape[1]), _by(lambda Q, K: K.shape[1])),
        "measured-not-assumed": (
            lambda Q, K: float(K.shape[-1] ** -0.5 / (Q.std() * K.std())),
            lambda Q, K: float(1 / (Q @ K.swapaxes(-1, -2)).std()),
        ),
    },
)


# slope_in_query -----------------------------------------------------------------------------------


def _any_jacobian(rng: Generator, sizes: Mapping[str, Any]) -> np.ndarray:
    return _jacobian(softmax(rng.normal(size=sizes["m"])))


def _any_factor(rng: Generator, sizes: Mapping[str, Any]) -> float:
    return float(rng.choice([rng.uniform(0.2, 0.7), rng.uniform(1.5, 3.0)]))


def _slope_cases(rng: Generator) -> Iterator[Case]:
    m, k = sizes(rng, 2, 3)
    K, g, factor = rng.normal(size=(m, k)), rng.normal(size=m), _any_factor(rng, {})
    yield Case("values", (K, np.zeros((m, m)), g, factor), note="p is one-hot, and J is all 0")
    for rows, columns in ((-1, 0), (1, 0), (0, -1), (0, 1), (-1, -1), (1, 1)):
        J = _any_jacobian(rng, {"m": m + 1})[: m + rows, : m + columns]
        note = f"J is {J.shape}, K {K.shape} and g {g.shape}"
        kind = f"J misfits by {rows} and {columns}"
        yield Case("refuses", (K, J, g, factor), raises="ValueError", note=note, kind=kind)


def _slope(K: Arrays, J: Arrays, g: Arrays, factor: float) -> np.ndarray:
    """Autograd through what the error is near a query, all but a constant."""
    q = torch.zeros(K.shape[1], dtype=torch.float64, requires_grad=True)
    weights = tensor(J) @ (factor * (tensor(K) @ q))
    return torch.autograd.grad(tensor(g) @ weights, q)[0].numpy()


SLOPE = Exercise(
    name="slope_in_query",
    signature="(K, J, g, factor) -> (d_k,)",
    axes=("m k", "m m", "m", "factor"),
    read="Does it learn?",
    returns=(Slot("slope", "ndarray", "d_k"),),
    claims=promises(
        "equals the slope of the error in the query", 1.5, refuses=0.25, unchanged=0.25
    ),
    drawn={"J": _any_jacobian, "factor": _any_factor},
    cases=_slope_cases,
    oracle=_slope,
    mistakes={
        "factor-missing": lambda K, J, g, factor: _slope(K, J, g, 1.0),
        "factor-not-once": (
            lambda K, J, g, factor: _slope(K, J, g, factor**2),
            lambda K, J, g, factor: _slope(K, J, g, 1 / factor),
        ),
        "scaled-again": (
            lambda K, J, g, factor: _slope(K, J, g, factor) / K.shape[1] ** 0.5,
            lambda K, J, g, factor: _slope(K, J, g, factor) / K.shape[1],
        ),
        "jacobian-missing": lambda K, J, g, factor: _slope(K, np.eye(len(K)), g, factor),
        "slope-of-scores": lambda K, J, g, factor: factor * J @ g,
        "keys-not-transposed": lambda K, J, g, factor: factor * K @ J @ g,
        "error-left-out": (
            lambda K, J, g, factor: factor * K.T @ J,
            lambda K, J, g, factor: factor * (K.T @ J).sum(1),
        ),
        "not-added-up": (
            lambda K, J, g, factor: factor * (K.T @ J) * g,
            lambda K, J, g, factor: factor * K.T * (J @ g),
            lambda K, J, g, factor: factor * K * (J @ g)[:, None],
        ),
        "added-up-too-far": (
            lambda K, J, g, factor: _slope(K, J, g, factor).sum(),
            lambda K, J, g, factor: _slope(K, J, g, factor).sum(keepdims=True),
        ),
        "sign-flipped": lambda K, J, g, factor: -_slope(K, J, g, factor),
    },
)

EXERCISES = (SCORE_STD, JACOBIAN, ENTROPY, BEST_SCALE, SLOPE)
