"""Mistakes that several lessons share: how weights go wrong, with the reason and what to try.

Each is computed from `softmax` and `attend`, so that an answer can be compared with it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from attnlab.exercise import Mistake
from attnlab.reference import softmax

Weigh = Callable[[np.ndarray], np.ndarray]


def exponentials(scores: Any) -> np.ndarray:
    """e to each score, with nothing done against overflow."""
    return np.exp(np.asarray(scores, dtype=float))


def over_sum(numbers: np.ndarray, axis: int = -1) -> np.ndarray:
    """Each number divided by the sum along an axis."""
    return numbers / numbers.sum(axis=axis, keepdims=True)


def one_hot(scores: Any, axis: int = -1) -> np.ndarray:
    """1 at the largest score, 0 elsewhere."""
    scores = np.asarray(scores, dtype=float)
    best = np.argmax(scores, axis=axis, keepdims=True)
    weights = np.zeros_like(scores)
    np.put_along_axis(weights, best, 1.0, axis=axis)
    return weights


def python_softmax(scores: list[float]) -> list[float]:
    """Softmax as `math.exp` alone gives it: OverflowError above 709, 0/0 far below 0."""
    import math

    raised = [math.exp(score) for score in scores]
    return [number / sum(raised) for number in raised]


def guarded_softmax(scores: list[float]) -> list[float]:
    """The same by someone who takes a sum of 0 for a sign that there is nothing to share."""
    try:
        return python_softmax(scores)
    except ZeroDivisionError:
        raise ValueError("the exponentials add up to 0") from None


def python_softmax_rows(scores: list[list[float]]) -> list[list[float]]:
    """The same for a matrix, all exponentials first: another row may be the first to fail."""
    import math

    raised = [[math.exp(score) for score in row] for row in scores]
    return [[number / sum(row) for number in row] for row in raised]


# Ways to turn scores into weights along an axis that are not softmax, by slug.
NOT_SOFTMAX: dict[str, tuple[Callable[..., np.ndarray], str, str]] = {
    "not-normalised": (
        lambda scores, axis=-1: exponentials(scores),
        "These are e to the power of each score. They were never divided by their sum, so they "
        "are not shares of anything.",
        "Divide each exponential by the sum of them all, and check that the result adds up to 1.",
    ),
    "no-exponential": (
        lambda scores, axis=-1: over_sum(np.asarray(scores, dtype=float), axis),
        "These are the scores divided by their sum. A negative score makes a negative weight, and "
        "scores that sum to 0 divide by it.",
        "Raise e to each score first: exponentials are positive whatever the score.",
    ),
    "divided-by-max": (
        lambda scores, axis=-1: (
            exponentials(scores) / exponentials(scores).max(axis=axis, keepdims=True)
        ),
        "The largest weight is 1 and the others are measured against it, so they add up to more "
        "than 1.",
        "Divide by the sum of the exponentials. The maximum is for subtracting from the scores.",
    ),
    "negated-scores": (
        lambda scores, axis=-1: softmax(-np.asarray(scores, dtype=float), axis),
        "The sign is turned round: the best match gets the least weight.",
        "Look for a minus sign, such as `exp(max - score)` where `exp(score - max)` was meant.",
    ),
    "base-two": (
        lambda scores, axis=-1: over_sum(2.0 ** np.asarray(scores, dtype=float), axis),
        "These weights are powers of 2, not of e.",
        "Use `exp`.",
    ),
    "log-softmax": (
        lambda scores, axis=-1: np.log(softmax(np.asarray(scores, dtype=float), axis)),
        "These are logarithms of the weights: all negative, adding up to nothing in particular.",
        "Leave out the last logarithm, or take `exp` of the result.",
    ),
    "hard-argmax": (
        one_hot,
        "All the weight is on the best match. That is the hard lookup again, with no gradient.",
        "Every key gets a share: keep all the exponentials, divided by their sum.",
    ),
    "uniform-weights": (
        lambda scores, axis=-1: np.full(
            np.shape(scores), 1.0 / np.shape(scores)[axis], dtype=float
        ),
        "Every key gets the same weight, so the scores make no difference to the answer.",
        "Check that what goes into `exp` is each key's own score.",
    ),
    "sigmoid": (
        lambda scores, axis=-1: 1 / (1 + exponentials(-np.asarray(scores, dtype=float))),
        "Each score went through a sigmoid on its own. The weights do not compete, so they do not "
        "add up to 1.",
        "Divide e to each score by the sum over all scores.",
    ),
    "rounded": (
        lambda scores, axis=-1: np.round(softmax(np.asarray(scores, dtype=float), axis), 3),
        "The weights are rounded to three decimals.",
        "Return them as they are; round when you print.",
    ),
}


CLIPPED = (
    "Scores beyond a limit are cut to the limit, so that all large scores become equal.",
    "Subtract the largest score from all of them: differences stay as they are.",
)


def mistakes_in_softmax(answer: Callable[[Weigh], Callable[..., Any]]) -> tuple[Mistake, ...]:
    """The bank of wrong softmaxes, each put into an exercise.

    Args:
        answer: makes the exercise's function out of a way to weigh scores.
    """
    return tuple(
        Mistake(slug, answer(weigh), reason, remedy)
        for slug, (weigh, reason, remedy) in NOT_SOFTMAX.items()
    )


# More ways not to take a softmax, asked where softmax is the whole exercise.
IN_SOFTMAX_ALONE: tuple[Mistake, ...] = (
    Mistake(
        "divided-by-norm",
        lambda scores, axis=-1: (
            exponentials(scores) / np.linalg.norm(exponentials(scores), axis=axis, keepdims=True)
        ),
        "The exponentials are divided by the root of the sum of their squares: the squares of the "
        "weights add up to 1, and the weights do not.",
        "Divide by the plain sum.",
    ),
    Mistake(
        "divided-by-count",
        lambda scores, axis=-1: exponentials(scores) / np.shape(scores)[axis],
        "The exponentials are divided by how many there are, not by their sum.",
        "Divide by `sum`, not by `len`.",
    ),
    Mistake(
        "running-sum",
        lambda scores, axis=-1: exponentials(scores) / np.cumsum(exponentials(scores), axis=axis),
        "Each exponential is divided by the sum up to itself: the total was still growing.",
        "Finish the sum first, then divide in a second pass.",
    ),
    Mistake(
        "order-lost",
        lambda scores, axis=-1: np.sort(softmax(np.asarray(scores, dtype=float), axis), axis=axis),
        "The weights are right and in the order of their size: weight i no longer belongs to "
        "score i.",
        "Use `max` to find the largest score; sorting moves the others.",
    ),
    Mistake(
        "order-lost",
        lambda scores, axis=-1: np.flip(
            np.sort(softmax(np.asarray(scores, dtype=float), axis), axis=axis), axis
        ),
        "The weights are right and in the order of their size, largest first: weight i no longer "
        "belongs to score i.",
        "Use `max` to find the largest score; sorting moves the others.",
    ),
    Mistake(
        "scores-clipped",
        lambda scores, axis=-1: softmax(np.clip(np.asarray(scores, dtype=float), -100, 100), axis),
        *CLIPPED,
    ),
)


UNSTABLE_REASON = (
    "e to a large power overflows (beyond 709 in float64), and e to a very negative one is 0, so "
    "that the sum divides by 0."
)
UNSTABLE_REMEDY = (
    "Subtract the largest score from all of them before `exp`, in a matrix each row's own. The "
    "weights stay the same, as the "
    "factor cancels, and the largest exponent becomes 0."
)


def scaled(factor: float | Callable[..., float]) -> Callable[[np.ndarray, np.ndarray], np.ndarray]:
    """Scores of queries (…, N, d_k) against keys (…, M, d_k), times a factor.

    Args:
        factor: a number, or a function of the arrays' shapes.
    """

    def score(queries: np.ndarray, keys: np.ndarray) -> np.ndarray:
        times = factor(queries, keys) if callable(factor) else factor
        return queries @ keys.swapaxes(-1, -2) * times

    return score


# Ways to scale scores that are not 1/√d_k, by slug.
NOT_THE_SCALE: tuple[tuple[str, Callable[..., float], str, str], ...] = (
    (
        "no-scale",
        lambda q, k: 1.0,
        "The scores are not scaled. Their spread grows like √d_k, and for wide keys softmax "
        "then puts almost all weight on one.",
        "Divide the scores by √d_k before softmax.",
    ),
    (
        "scale-by-d",
        lambda q, k: 1.0 / q.shape[-1],
        "The scores are divided by d_k, which flattens them too much.",
        "Divide by the square root of d_k.",
    ),
    (
        "scale-multiplied",
        lambda q, k: q.shape[-1] ** 0.5,
        "The scores are multiplied by √d_k, so that they spread even more.",
        "Divide by √d_k.",
    ),
    (
        "half-not-root",
        lambda q, k: 2.0 / q.shape[-1],
        "The scores are divided by d_k / 2, not by √d_k: `**` binds closer than `/`, so "
        "`d_k ** 1/2` is half of d_k.",
        "Write `d_k ** 0.5` or `sqrt(d_k)`.",
    ),
    (
        "half-not-root",
        lambda q, k: 0.5 / q.shape[-1],
        "The scores are divided by d_k and then by 2: `scores / d_k ** 1/2` is read from left to "
        "right.",
        "Write `scores / d_k ** 0.5` or `scores / sqrt(d_k)`.",
    ),
    (
        "scale-by-sqrt-n",
        lambda q, k: q.shape[-2] ** -0.5,
        "The scores are divided by √N, the number of queries. A score is a sum of d_k products, "
        "however many queries there are.",
        "d_k is the width of a query, the size of its last axis.",
    ),
    (
        "scale-by-sqrt-n",
        lambda q, k: k.shape[-2] ** -0.5,
        "The scores are divided by √M, the number of keys. A score is a sum of d_k products, "
        "however many keys there are.",
        "d_k is the width of a key, the size of its last axis.",
    ),
)


def mistakes_in_scale(
    answer: Callable[[Callable[..., np.ndarray]], Callable[..., Any]],
) -> tuple[Mistake, ...]:
    """The bank of wrong scales, each put into an exercise.

    Args:
        answer: makes the exercise's function out of a way to score queries against keys.
    """
    return tuple(
        Mistake(slug, answer(scaled(factor)), reason, remedy)
        for slug, factor, reason, remedy in NOT_THE_SCALE
    )


def root_scale(queries: np.ndarray, keys: np.ndarray) -> float:
    """1/√d_k."""
    return float(queries.shape[-1]) ** -0.5


scaled_right = scaled(root_scale)

OVER_QUERIES = (
    "Softmax ran over the queries: each column adds up to 1 where each row should. A query has to "
    "share its attention among the keys.",
    "Take softmax along the last axis of the (N, M) scores, one row at a time.",
)
