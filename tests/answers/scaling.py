"""Answers to lesson 04, with NumPy."""

# A learner's style is not ours, and their mistakes are what this file is for.
# mypy: disallow-untyped-defs=False, disallow-incomplete-defs=False, check-untyped-defs=False

import functools
import math
import statistics

import numpy as np

from . import Lesson

lesson = Lesson("04-scaling")
wrong, right = lesson.wrong, lesson.right


# score_std -----------------------------------------------------------------------------------


def refuses_other_shapes(function):
    """What the exercise also asks, so that the mistakes below are the only ones."""

    @functools.wraps(function)
    def checked(Q, K):
        if Q.shape != K.shape:
            raise ValueError(f"Q {Q.shape} and K {K.shape} differ")
        return function(Q, K)

    return checked


@wrong("score_std", "sample-not-population")
@refuses_other_shapes
def of_a_sample(Q, K):
    return statistics.stdev((Q * K).sum(axis=1).tolist()) if len(Q) > 1 else math.nan


@wrong("score_std", "variance-not-std")
@refuses_other_shapes
def variance(Q, K):
    return float((Q * K).sum(axis=1).var())


@wrong("score_std", "not-raised")
def one_row_for_all(Q, K):
    return float((Q * K).sum(-1).std())


@right("score_std")
@refuses_other_shapes
def einsum_std(Q, K):
    return float(np.einsum("nk,nk->n", Q, K).std())


@right("score_std")
@refuses_other_shapes
def product_and_sum(Q, K):
    return float(np.std((Q * K).sum(axis=-1)))


@right("score_std")
def one_product_at_a_time(Q, K):
    if np.shape(Q) != np.shape(K):
        raise ValueError("shapes differ")
    scores = []
    for n in range(len(Q)):
        total = 0.0
        for i in range(Q.shape[1]):
            total += Q[n, i] * K[n, i]
        scores.append(total)
    mean = sum(scores) / len(scores)
    return math.sqrt(sum((score - mean) ** 2 for score in scores) / len(scores))


@right("score_std")
def strict_zip(Q, K):
    scores = [
        math.fsum(a * b for a, b in zip(q, k, strict=True))
        for q, k in zip(Q.tolist(), K.tolist(), strict=True)
    ]
    mean = math.fsum(scores) / len(scores)
    return math.sqrt(math.fsum((score - mean) ** 2 for score in scores) / len(scores))


@right("score_std")
@refuses_other_shapes
def dot_by_dot(Q, K):
    return statistics.pstdev(float(query @ K[n]) for n, query in enumerate(Q))


@right("score_std")
@refuses_other_shapes
def batch_of_rows_and_columns(Q, K):
    return float((Q[:, None, :] @ K[:, :, None]).std())


@right("score_std")
@refuses_other_shapes
def by_two_moments(Q, K):
    scores = np.einsum("nk,nk->n", Q, K)
    return float((np.mean(scores**2) - np.mean(scores) ** 2) ** 0.5)


@right("score_std")
@refuses_other_shapes
def diagonals_of_blocks(Q, K):
    blocks = [np.diagonal(Q[i : i + 100] @ K[i : i + 100].T) for i in range(0, len(Q), 100)]
    return float(np.concatenate(blocks).std())


# softmax_jacobian ----------------------------------------------------------------------------


@wrong("softmax_jacobian", "sigmoid-derivative")
def each_on_its_own(p):
    return np.diag(p * (1 - p))


@wrong("softmax_jacobian", "non-finite")
def divides_by_p(p):
    return np.outer(p, p) * (np.diag(1 / p) - 1)


@wrong("softmax_jacobian", "minus-lost")
def filled_diagonal(p):
    J = np.outer(p, p)
    np.fill_diagonal(J, p * (1 - p))
    return J


@right("softmax_jacobian")
def by_the_book(p):
    return np.diag(p) - np.outer(p, p)


lesson.edits(
    by_the_book,
    "diagonal-only | diagonal |  - np.outer(p, p) -> ",
    "one-off-the-diagonal | p_without_diag | np.diag(p) -> p",
)


@right("softmax_jacobian")
def entry_by_entry(p):
    M = len(p)
    J = np.empty((M, M))
    for i in range(M):
        for j in range(M):
            J[i, j] = p[i] * (1 - p[i]) if i == j else -p[i] * p[j]
    return J


@right("softmax_jacobian")
def einsum(p):
    J = -np.einsum("i,j->ij", p, p)
    J[np.diag_indices(len(p))] += p
    return J


@right("softmax_jacobian")
def matrix_product(p):
    column = p.reshape(-1, 1)
    return np.diagflat(p) - column @ column.T


@right("softmax_jacobian")
def complex_step(p):
    e = p * np.exp(1e-30j * np.eye(len(p)))
    return (e / e.sum(axis=1, keepdims=True)).imag / 1e-30


# entropy -------------------------------------------------------------------------------------


@wrong("entropy", "other-base")
def log2(p, axis=-1):
    logs = np.log2(p, where=p > 0, out=np.zeros_like(p))
    return -(p * logs).sum(axis)


@wrong("entropy", "sign-flipped")
def no_minus(p, axis=-1):
    return (p * np.log(np.where(p > 0, p, 1.0))).sum(axis)


def mean(p, axis=-1):
    return -np.mean(p * np.log(np.where(p > 0, p, 1.0)), axis=axis)


@wrong("entropy", "non-finite")
def limit_from_the_wrong_side(p, axis=-1):
    logs = np.where(p > 0.2, np.log(p), np.inf)
    return -(p * logs).sum(axis)


@wrong("entropy", "nan-made-0-after-sum")
def nan_to_num_outside(p, axis=-1):
    return np.nan_to_num(-(p * np.log(p)).sum(axis))


@right("entropy")
def divides_by_the_sum_first(p, axis=-1):
    shares = p / p.sum(axis, keepdims=True)
    logs = np.log(np.where(shares > 0, shares, 1.0))
    return -(shares * logs).sum(axis)


@right("entropy")
def nan_to_num(p, axis=-1):
    with np.errstate(all="ignore"):
        return -np.nan_to_num(p * np.log(p)).sum(axis)


@right("entropy")
def nansum(p, axis=-1):
    return -np.nansum(p * np.log(p), axis=axis)


@right("entropy")
def a_billionth_added(p, axis=-1):
    return -(p * np.log(p + 1e-9)).sum(axis)


@right("entropy")
def along_the_axis(p, axis=-1):
    def of_one_row(row):
        return -sum(w * math.log(w) for w in row if w > 0)

    return np.apply_along_axis(of_one_row, axis, p)


@wrong("entropy", "wrong-dtype")
def dtype_of_the_first(p, axis=-1):
    return np.vectorize(lambda a: 0 if a == 0 else -a * math.log(a))(p).sum(axis)


# best_scale ----------------------------------------------------------------------------------


def refuses_other_widths(function):
    """What the exercise also asks, so that the mistakes below are the only ones."""

    @functools.wraps(function)
    def checked(Q, K):
        if Q.shape[-1] != K.shape[-1]:
            raise ValueError(f"Q {Q.shape} and K {K.shape} differ in width")
        return function(Q, K)

    return checked


@wrong("best_scale", "no-scale")
@refuses_other_widths
def one(Q, K):
    return 1.0


@wrong("best_scale", "width-itself")
@refuses_other_widths
def width(Q, K):
    return float(K.shape[-1])


@wrong("best_scale", "not-raised")
def takes_any_width(Q, K):
    return 1 / math.sqrt(K.shape[-1])


@right("best_scale")
@refuses_other_widths
def sqrt(Q, K):
    return 1 / math.sqrt(Q.shape[-1])


@right("best_scale")
@refuses_other_widths
def power(Q, K):
    return K.shape[-1] ** -0.5


@right("best_scale")
@refuses_other_widths
def numpy_number(Q, K):
    return 1 / np.sqrt(np.size(Q, -1))


@right("best_scale")
def numpy_refuses(Q, K):
    Q @ np.swapaxes(K, -1, -2)
    return float(np.reciprocal(np.sqrt(float(Q.shape[-1]))))


@right("best_scale")
@refuses_other_widths
def by_logarithms(Q, K):
    return math.exp(-math.log(Q.shape[-1]) / 2)


@right("best_scale")
def zip_refuses(Q, K):
    variance = sum(1.0 for _ in zip(Q[..., 0, :].T, K[..., 0, :].T, strict=True))
    return variance**-0.5


@right("best_scale")
@refuses_other_widths
def array_without_axes(Q, K):
    return np.asarray(Q.shape[-1], dtype=float) ** -0.5


# slope_in_query ------------------------------------------------------------------------------


@wrong("slope_in_query", "factor-missing")
def without_the_factor(K, J, g, factor):
    return K.T @ (J @ g)


@wrong("slope_in_query", "factor-not-once")
def divides_by_the_factor(K, J, g, factor):
    return K.T @ J @ g / factor


@wrong("slope_in_query", "jacobian-missing")
def straight_through(K, J, g, factor):
    if J.shape != (len(K), len(g)):
        raise ValueError("sizes do not fit")
    return factor * (g @ K)


@wrong("slope_in_query", "slope-of-scores")
def of_each_book(K, J, g, factor):
    return factor * np.einsum("mj,j->m", J, g)


@wrong("slope_in_query", "keys-not-transposed")
def rows_are_not_columns(K, J, g, factor):
    return factor * (K @ (J @ g))


@wrong("slope_in_query", "not-added-up")
def stars(K, J, g, factor):
    return factor * (K.T * (J @ g))


@wrong("slope_in_query", "not-raised")
def as_many_books_as_there_are(K, J, g, factor):
    slope = np.zeros(K.shape[1])
    for key, row in zip(K, J, strict=False):
        slope += factor * key * sum(a * b for a, b in zip(row, g, strict=False))
    return slope


@right("slope_in_query")
def as_the_formula(K, J, g, factor):
    return factor * K.T @ J @ g


@right("slope_in_query")
def from_the_left(K, J, g, factor):
    return g @ J @ K * factor  # J is symmetric


@right("slope_in_query")
def all_in_one_einsum(K, J, g, factor):
    return factor * np.einsum("mk,mj,j->k", K, J, g)


@right("slope_in_query")
def book_by_book(K, J, g, factor):
    slope = np.zeros(K.shape[1])
    for key, row in zip(K, J, strict=True):
        slope = slope + factor * key * sum(a * b for a, b in zip(row, g, strict=True))
    return slope


@right("slope_in_query")
def in_three_steps(K, J, g, factor):
    of_scores = np.dot(J, np.asarray(g))
    of_products = factor * of_scores
    return (K * of_products[:, None]).sum(axis=0)
