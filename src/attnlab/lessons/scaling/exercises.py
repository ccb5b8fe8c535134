"""Lesson 04's exercises: how scores spread, softmax's Jacobian, entropy, and the factor 1/√d_k."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import torch

from attnlab.calling.observe import Made, made
from attnlab.checks import in_attention
from attnlab.checks.exercise import (
    Case,
    Exercise,
    Group,
    Mistake,
    Property,
    Relation,
    Slot,
    unchanged,
)
from attnlab.checks.in_softmax import one_hot
from attnlab.checks.inputs import holes, ones_in_turn, sizes
from attnlab.checks.recipe import Recipe, Steps, mistakes_in
from attnlab.checks.reference import softmax, tensor
from attnlab.lessons.scaling import LESSON

Arrays = Any  # arrays from a case


# score_std -----------------------------------------------------------------------------------

# By d_k. Few enough for a loop in Python, one number at a time, to come to its end soon; the first
# too many to put each together with each.
PAIRS = {1: 100_000, 12: 4_000, 40: 2_000}


def _generator(rng: np.random.Generator) -> Made:
    """A generator to be made, with a seed drawn from another."""
    return made("things.default_rng", int(rng.integers(2**31)))


def _std_cases(rng: np.random.Generator) -> Iterator[Case]:
    for d_k, n_pairs in PAIRS.items():
        # Six standard errors of a measured standard deviation: a score's kurtosis is 3 + 6/d_k.
        tolerance = 6 * float(np.sqrt(d_k * (2 + 6 / d_k) / (4 * n_pairs)))
        yield Case("values", (d_k, n_pairs, _generator(rng)), tolerance=tolerance)


def _two_seeds(rng: np.random.Generator) -> tuple[Case, Case]:
    one, other = (Case("values", (9, 50, _generator(rng))) for _ in range(2))
    return one, other


def _two_sizes(rng: np.random.Generator) -> tuple[Case, Case]:
    seed = _generator(rng)
    return Case("values", (9, 40, seed)), Case("values", (9, 4_000, seed))


def _root(d_k: int) -> float:
    """√d_k: a score is a sum of d_k products, each of variance 1."""
    return float(torch.tensor(float(d_k), dtype=torch.float64).sqrt())


def _mean_absolute(d_k: int) -> float:
    """E|q·k| = E|q| · E|z|, z a standard normal number: q·k is normal once q is known."""
    norm = math.sqrt(2) * math.exp(math.lgamma((d_k + 1) / 2) - math.lgamma(d_k / 2))
    return norm * math.sqrt(2 / math.pi)


def _drawn(measure: Callable[[np.ndarray], Any]) -> Callable[..., float]:
    """A measure of the scores as most would draw them, queries first.

    A measured variance is too far from d_k to be known by that number.
    """

    def measured(d_k: int, n_pairs: int, rng: np.random.Generator) -> float:
        q, k = rng.normal(size=(2, n_pairs, d_k))
        return float(measure((q * k).sum(-1)))

    return measured


def _over_pairs(d_k: int, n_pairs: int, rng: np.random.Generator) -> float:
    q, k = rng.normal(size=(2, n_pairs, d_k))
    return float((q * k).sum(0).std())


def _tables_turned(d_k: int, n_pairs: int, rng: np.random.Generator) -> float:
    q, k = rng.normal(size=(2, d_k, n_pairs))
    return float((q * k).sum(-1).std())


def _one_query(d_k: int, n_pairs: int, rng: np.random.Generator) -> float:
    q = rng.normal(size=d_k)
    return float((rng.normal(size=(n_pairs, d_k)) @ q).std())


OVER_PAIRS = (
    "The sum ran over the pairs, and d_k numbers were left. A score belongs to one pair: it is the "
    "sum over the d_k entries.",
    "Make tables of shape (n_pairs, d_k), and sum over the last axis.",
)
VARIANCE = (
    "This is the variance of the scores, d_k. The standard deviation is its square root.",
    "Use `std`, or take the square root of the variance.",
)
BROADCASTS = (
    "p was subtracted from each row. `np.diag(p) - p` broadcasts where an outer product is meant.",
    "Use `np.outer(p, p)`.",
)


SCORE_STD = Exercise(
    name="score_std",
    lesson=LESSON.slug,
    stage=LESSON.stage,
    signature="(d_k, n_pairs, rng) -> float",
    axes=("=k", "=n", "?"),
    read="How far scores spread",
    returns=(Slot("std", "float"),),
    groups=(Group("values", "is √d_k within six standard errors", 0.5, core=True),),
    cases=_std_cases,
    oracle=lambda d_k, n_pairs, rng: _root(d_k),
    mistakes=(
        Mistake(
            "variance-not-std",
            lambda d_k, n_pairs, rng: float(d_k),
            *VARIANCE,
        ),
        Mistake("variance-not-std", _drawn(np.var), *VARIANCE),
        Mistake("variance-not-std", _drawn(lambda scores: (scores**2).mean()), *VARIANCE),
        Mistake("variance-not-std", _drawn(lambda scores: scores.var(ddof=1)), *VARIANCE),
        Mistake("summed-over-pairs", _over_pairs, *OVER_PAIRS),
        Mistake("summed-over-pairs", _tables_turned, *OVER_PAIRS),
        Mistake(
            "one-query-for-all",
            _one_query,
            "One query met all keys, so that its own length sets the spread.",
            "Draw as many queries as keys, and let query n meet key n.",
        ),
        Mistake(
            "already-scaled",
            lambda d_k, n_pairs, rng: 1.0,
            "A spread of 1: either the scores were scaled first, or the products of a pair were "
            "never added up. A raw score is the sum of d_k products.",
            "Sum over the last axis, leave the factor 1/√d_k out, and take the standard deviation.",
        ),
        Mistake(
            "divided-by-d",
            lambda d_k, n_pairs, rng: 1 / _root(d_k),
            "Each score is d_k times too small: it was divided by d_k, or is the mean of the "
            "products where their sum is asked for.",
            "A score is the sum over the d_k entries: `(q * k).sum(axis=-1)`.",
        ),
        Mistake(
            "root-of-root",
            lambda d_k, n_pairs, rng: _root(d_k) ** 0.5,
            "A square root was taken twice.",
            "`std` is a square root already.",
        ),
        Mistake(
            "spread-of-norms",
            lambda d_k, n_pairs, rng: float(np.sqrt(2 * d_k)),
            "This is the spread of Σ q², of queries with themselves. A score is between a query "
            "and a key drawn apart from it.",
            "Draw queries and keys separately.",
        ),
        Mistake(
            "uniform-not-normal",
            lambda d_k, n_pairs, rng: float(np.sqrt(d_k * 7 / 144)),
            "The numbers were drawn uniformly from 0 to 1, as `rng.random` does.",
            "Draw with `rng.standard_normal`.",
        ),
        Mistake(
            "mean-absolute-score",
            lambda d_k, n_pairs, rng: _mean_absolute(d_k),
            "This is the mean absolute score, which is smaller than the standard deviation.",
            "Use `std`.",
        ),
        Mistake(
            "no-spread",
            lambda d_k, n_pairs, rng: 0.0,
            "This is 0, or nearly, whatever d_k is: so is the mean of the scores, and so is the "
            "spread of one number, if all products were added up to one.",
            "Sum over the last axis alone, `axis=-1`, and take `std` of the n_pairs scores.",
        ),
    ),
    relations=(
        Relation(
            "two generators give two measurements",
            _two_seeds,
            lambda one, other: bool(one[0] != other[0]),
            0.25,
            "not-measured",
            "Two different generators gave the same number to the last digit, so it was not "
            "measured on numbers drawn from `rng`.",
            "Draw both queries and keys from `rng`, and return the standard deviation you measure.",
        ),
        Relation(
            "n_pairs makes a difference",
            _two_sizes,
            lambda few, many: bool(few[0] != many[0]),
            0.25,
            "pairs-ignored",
            "40 pairs and 4,000 pairs gave the same number, so `n_pairs` was not used.",
            "Draw arrays of shape (n_pairs, d_k).",
        ),
    ),
)


# softmax_jacobian ----------------------------------------------------------------------------


def _jacobian_cases(rng: np.random.Generator) -> Iterator[Case]:
    some, more = sizes(rng, 2, 3)
    yield Case("values", (softmax(rng.normal(size=some)),))
    yield Case("values", (softmax(rng.normal(0, 2, more)),))
    yield Case("values", (softmax(rng.normal(size=2)),), note="there are two weights")
    yield Case("values", (np.full(some, 1 / some),), note="all weights are equal")
    hard = one_hot(tensor(rng.normal(size=some))).numpy()
    yield Case("hard", (hard,), note="p is one-hot", exact_zeros=True)
    for rest in (rng.uniform(0.1, 0.25), rng.uniform(0.01, 0.1), 10 ** rng.uniform(-5.0, -2.0)):
        p = rest * softmax(rng.normal(size=more))
        p[rng.integers(more)] += 1 - rest
        yield Case("hard", (p,), note=f"one weight is {p.max():.5f}")
    yield Case("hard", (softmax(rng.normal(0, 30, more)),), note="p is almost one-hot")


def _jacobian(p: Arrays) -> np.ndarray:
    """Autograd through torch.softmax, at the scores log p."""
    scores = tensor(p).log()
    result = torch.autograd.functional.jacobian(lambda s: torch.softmax(s, -1), scores)
    return np.asarray(result)


JACOBIAN = Exercise(
    name="softmax_jacobian",
    lesson=LESSON.slug,
    stage=LESSON.stage,
    signature="(p) -> (M, M)",
    axes=("m",),
    read="Softmax's Jacobian",
    returns=(Slot("jacobian", "ndarray", "M M"),),
    groups=(
        Group("values", "equals the slopes of softmax, each weight by each score", 1.5, core=True),
        Group("hard", "is right where p is one-hot or nearly so", 0.25),
        unchanged(0.25),
    ),
    cases=_jacobian_cases,
    oracle=_jacobian,
    mistakes=(
        Mistake(
            "diagonal-only",
            lambda p: np.diag(p),
            "This is diag(p) alone. It leaves out that raising one score takes from every weight.",
            "Subtract p pᵀ.",
        ),
        Mistake(
            "sigmoid-derivative",
            lambda p: np.diag(p * (1 - p)),
            "The diagonal is right and the rest is 0, as if each weight depended on its own score "
            "alone.",
            "Off the diagonal, entry (i, j) is −p_i p_j.",
        ),
        Mistake(
            "outer-product-only",
            lambda p: -np.outer(p, p),
            "This is −p pᵀ alone.",
            "Add diag(p).",
        ),
        Mistake(
            "sign-flipped",
            lambda p: np.outer(p, p) - np.diag(p),
            "Every sign is turned round.",
            "It is diag(p) − p pᵀ.",
        ),
        Mistake(
            "outer-product-added",
            lambda p: np.diag(p) + np.outer(p, p),
            "The outer product is added. Raising one score lowers the other weights, so that off "
            "the diagonal the entries are negative.",
            "It is diag(p) − p pᵀ.",
        ),
        Mistake(
            "identity-not-diagonal",
            lambda p: np.eye(len(p)) - np.outer(p, p),
            "The identity stands where diag(p) should.",
            "Put p on the diagonal: `np.diag(p)`.",
        ),
        Mistake(
            "log-softmax-jacobian",
            lambda p: np.eye(len(p)) - p[None, :] * np.ones((len(p), 1)),
            "This is the Jacobian of log p: rows were not multiplied by p_i.",
            "Multiply row i by p_i.",
        ),
        Mistake(
            "inner-not-outer-product",
            lambda p: np.diag(p) - p @ p,
            "p·p is one number; it was subtracted from every entry.",
            "Use `np.outer(p, p)`.",
        ),
        Mistake(
            "elementwise-product",
            lambda p: np.diag(p) - p * p,
            "The vector of the squares p_i² is subtracted from every row, where a matrix belongs.",
            "Subtract the whole matrix p pᵀ, `np.outer(p, p)`: entry (i, j) is p_i p_j.",
        ),
        Mistake(
            "rows-minus-columns",
            lambda p: np.diag(p) - p[None, :] * np.ones((len(p), 1)),
            *BROADCASTS,
        ),
        Mistake(
            "rows-minus-columns",
            lambda p: np.diag(p) - p[:, None] * np.ones((1, len(p))),
            "p was subtracted from each column, where an outer product is meant.",
            "Use `np.outer(p, p)`.",
        ),
        Mistake(
            "own-share-not-subtracted",
            lambda p: np.diag(p + p * p) - np.outer(p, p),
            "Off the diagonal the entries are right. On it they are p_i: the sum grows with power "
            "i too, and takes p_i² back.",
            "On the diagonal, entry (i, i) is p_i − p_i².",
        ),
        Mistake(
            "one-off-the-diagonal",
            lambda p: np.outer(p, 1 - p),
            "p_i (1 − p_j) stands everywhere. The 1 belongs on the diagonal alone.",
            "Off the diagonal, entry (i, j) is −p_i p_j.",
        ),
        Mistake(
            "off-diagonal-only",
            lambda p: np.diag(p * p) - np.outer(p, p),
            "Off the diagonal the entries are right. On it they are 0.",
            "On the diagonal, entry (i, i) is p_i (1 − p_i).",
        ),
        Mistake(
            "softmax-of-weights",
            lambda p: _jacobian(np.exp(p) / np.exp(p).sum()),
            "Softmax was applied to p. p holds weights, so softmax has been taken already.",
            "Use p as it is: diag(p) − p pᵀ.",
        ),
    ),
    properties=(
        Property("each row adds up to 0", lambda args, J: bool((abs(J.sum(1)) < 1e-9).all())),
        Property("it is symmetric", lambda args, J: np.allclose(J, J.T, 0, 1e-9)),
    ),
)


# entropy -------------------------------------------------------------------------------------


def _entropy_cases(rng: np.random.Generator) -> Iterator[Case]:
    b, n, m = sizes(rng, 3, 4)
    yield Case("values", (softmax(rng.normal(size=(n, m))),))
    # Each row has a weight of about 0.0003: small, but it counts.
    spread = rng.permuted(np.tile([0.0, 3.0, 5.0, 8.0], (b, n, 1)), axis=-1)
    yield Case("values", (softmax(spread + rng.normal(0, 0.1, (b, n, 4))),))
    yield Case("values", (softmax(rng.normal(size=m)),), note="p has one axis")
    for one in ones_in_turn(rng, 2):
        yield Case("values", (softmax(rng.normal(size=one)),), note="one of the sizes is 1")
    weights = softmax(rng.normal(size=(b, n, m)))
    yield Case("values", (weights,), laid="views", note="p is a view")
    yield Case("axis", (softmax(rng.normal(size=(n, m)), 0), 0), note="axis is 0")
    yield Case("axis", (softmax(rng.normal(size=(b, n, m)), 1),), {"axis": 1}, note="axis is 1")
    for axis in (-2, -3):
        p = softmax(rng.normal(size=(b, n, m)), axis)
        yield Case("axis", (p, axis), note=f"axis is {axis}")
    some = softmax(np.where(holes(rng, n, m), rng.normal(size=(n, m)), -np.inf))
    some[0] = one_hot(tensor(rng.normal(size=m))).numpy()
    yield Case("zeros", (some,), note="some weights are exactly 0")


def _entropy(p: Arrays, axis: int = -1) -> np.ndarray:
    return torch.special.entr(tensor(p)).sum(axis).numpy()


def _of(measure: Callable[[Any, int], Any]) -> Callable[..., Any]:
    return lambda p, axis=-1: measure(p, axis)


ENTROPY = Exercise(
    name="entropy",
    lesson=LESSON.slug,
    stage=LESSON.stage,
    signature="(p, axis=-1) -> ndarray",
    axes=("… m",),
    read="Entropy: how many keys share",
    returns=(Slot("entropy", "ndarray", "…"),),
    groups=(
        Group("values", "equals −p log p, summed over the last axis", 0.5, core=True),
        Group("axis", "takes any axis", 0.125),
        Group("zeros", "counts 0·log 0 as 0", 0.25),
        unchanged(0.125),
    ),
    cases=_entropy_cases,
    oracle=_entropy,
    mistakes=(
        Mistake(
            "entropy-in-bits",
            _of(lambda p, axis: _entropy(p, axis) / np.log(2)),
            "This is the entropy in bits. Nats are asked for: the natural logarithm.",
            "Use `np.log`, not `np.log2`.",
        ),
        Mistake(
            "base-ten",
            _of(lambda p, axis: _entropy(p, axis) / np.log(10)),
            "The logarithm has base 10. Nats are asked for: the natural logarithm.",
            "Use `np.log`.",
        ),
        Mistake(
            "sign-flipped",
            _of(lambda p, axis: -_entropy(p, axis)),
            "The sign is missing: log p is negative, so the sum has to be negated.",
            "Entropy is −Σ p log p.",
        ),
        Mistake(
            "mean-not-sum",
            _of(lambda p, axis: _entropy(p, axis) / p.shape[axis]),
            "The mean over keys was taken where the sum is asked for.",
            "Use `sum` along the axis.",
        ),
        Mistake(
            "summed-over-everything",
            _of(lambda p, axis: _entropy(p.ravel(), 0)),
            "The sum ran over the whole array.",
            "Give `sum` the axis.",
        ),
        Mistake(
            "axis-ignored",
            _of(lambda p, axis: _entropy(p, -1)),
            "The sum ran over the last axis, whatever `axis` says.",
            "Give `sum` the axis.",
        ),
        Mistake(
            "unweighted-logarithms",
            _of(lambda p, axis: -np.log(p).sum(axis)),
            "The logarithms were summed without their weights.",
            "Multiply each log p by p before you sum.",
        ),
        Mistake(
            "unweighted-logarithms",
            _of(lambda p, axis: -np.log(p).mean(axis)),
            "The logarithms were averaged evenly. Each counts as often as its key is attended to.",
            "Multiply each log p by p and sum.",
        ),
        Mistake(
            "not-summed",
            _of(lambda p, axis: torch.special.entr(tensor(p)).numpy()),
            "These are the terms −p log p, one for each key. They were not summed.",
            "Use `sum` along the axis.",
        ),
        Mistake(
            "perplexity",
            _of(lambda p, axis: np.exp(_entropy(p, axis))),
            "This is e to the entropy, the perplexity: how many keys share, as a number of keys.",
            "Leave out the exponential.",
        ),
        Mistake(
            "normalised-entropy",
            _of(lambda p, axis: _entropy(p, axis) / np.log(p.shape[axis])),
            "The entropy was divided by its largest possible value, log M.",
            "Leave out the division.",
        ),
        Mistake(
            "gini-not-entropy",
            _of(lambda p, axis: 1 - (p**2).sum(axis)),
            "This is 1 − Σ p², another measure of spread.",
            "Entropy is −Σ p log p.",
        ),
        Mistake(
            "zero-log-zero",
            _of(lambda p, axis: -(p * np.log(p)).sum(axis)),
            "0 · log 0 is 0 · (−inf), which NumPy makes NaN. Its limit, as p goes to 0, is 0.",
            "Put 1 where p is 0 before the logarithm, whose value there is 0: "
            "`np.log(np.where(p > 0, p, 1))`.",
        ),
        Mistake(
            "zeros-clipped",
            _of(
                lambda p, axis: -(np.clip(p, 1e-3, None) * np.log(np.clip(p, 1e-3, None))).sum(axis)
            ),
            "Weights were raised to a smallest value of 0.001 before the logarithm.",
            "Leave p as it is, and count 0 · log 0 as 0.",
        ),
    ),
    properties=(
        Property("entropy is a number, none below 0", lambda args, h: bool((h >= -1e-9).all())),
    ),
)


# best_scale ----------------------------------------------------------------------------------


def _scale_cases(rng: np.random.Generator) -> Iterator[Case]:
    def pair(*leading: int, std: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
        n, m, d_k = sizes(rng, 3, 3, 20)
        return rng.normal(0, std, (*leading, n, d_k)), rng.normal(0, 1 / std, (*leading, m, d_k))

    yield Case("values", pair())
    yield Case("values", pair())
    yield Case("values", pair(2), note="there is a batch axis")
    yield Case("assumed", pair(std=5.0), note="the numbers do not have unit variance")
    Q, K = pair()
    for wrong in (Q[:, :-1], np.concatenate([Q, Q[:, :1]], -1)):
        note = f"queries are {wrong.shape[-1]} wide and keys {K.shape[-1]}"
        yield Case("refuses", (wrong, K), raises="ValueError", note=note)


def _scale(recipe: Recipe) -> Callable[..., Any]:
    """best_scale, made from a recipe: the factor alone."""

    def factor(Q: Arrays, K: Arrays) -> float:
        q, k = tensor(Q), tensor(K)
        return recipe.scale(Steps(q, k, k, q, None, q, q, q))

    return factor


BEST_SCALE = Exercise(
    name="best_scale",
    lesson=LESSON.slug,
    stage=LESSON.stage,
    signature="(Q, K) -> float",
    axes=("… n k", "… m k"),
    read="The factor that keeps variance 1",
    returns=(Slot("scale", "float"),),
    groups=(
        Group("values", "is the factor that gives such scores a variance of 1", 0.5, core=True),
        Group("assumed", "depends on the shapes alone, whatever the numbers", 0.125),
        Group("refuses", "raises ValueError when queries and keys differ in width", 0.25),
        unchanged(0.125),
    ),
    cases=_scale_cases,
    oracle=lambda Q, K: float(1 / tensor(float(K.shape[-1])).sqrt()),
    mistakes=(
        *mistakes_in(_scale, in_attention.SCALE, in_attention.SCALE_BY_FIRST_AXIS),
        Mistake(
            "scale-by-second-axis",
            lambda Q, K: float(Q.shape[1] ** -0.5),
            "`shape[1]` is d_k for a table alone. With a batch axis it counts queries.",
            "d_k is the size of the last axis, `shape[-1]`.",
        ),
        Mistake(
            "scale-by-second-axis",
            lambda Q, K: float(K.shape[1] ** -0.5),
            "`shape[1]` is d_k for a table alone. With a batch axis it counts keys.",
            "d_k is the size of the last axis, `shape[-1]`.",
        ),
        Mistake(
            "width-itself",
            lambda Q, K: float(K.shape[-1]),
            "This is d_k itself, the variance of the raw scores.",
            "The factor is one over its square root.",
        ),
        Mistake(
            "measured-not-assumed",
            lambda Q, K: float(K.shape[-1] ** -0.5 / (Q.std() * K.std())),
            "The spread of these very queries and keys went into it. The factor has to follow from "
            "the shapes alone, so that it does not change with each input.",
            "Assume unit variance for the entries of Q and K: then it is 1/√d_k.",
        ),
        Mistake(
            "measured-not-assumed",
            lambda Q, K: float(1 / (Q @ K.swapaxes(-1, -2)).std()),
            "This is one over the spread of these very scores. The factor has to follow from the "
            "shapes alone, so that it does not change with each input.",
            "Assume unit variance for the entries of Q and K: then it is 1/√d_k.",
        ),
    ),
)

EXERCISES = (SCORE_STD, JACOBIAN, ENTROPY, BEST_SCALE)
