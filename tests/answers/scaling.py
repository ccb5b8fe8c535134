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


@wrong("score_std", "variance-not-std")
def variance(d_k, n_pairs, rng):
    q = rng.standard_normal((n_pairs, d_k))
    k = rng.standard_normal((n_pairs, d_k))
    return float((q * k).sum(axis=1).var())


@wrong("score_std", "variance-not-std")
def mean_of_squares(d_k, n_pairs, rng):
    q, k = rng.normal(size=(2, n_pairs, d_k))
    return float(np.mean(np.sum(q * k, axis=-1) ** 2))


@wrong("score_std", "variance-not-std")
def known_variance(d_k, n_pairs, rng):
    return float(d_k)


@wrong("score_std", "already-scaled")
def scaled_scores(d_k, n_pairs, rng):
    q = rng.standard_normal((n_pairs, d_k))
    k = rng.standard_normal((n_pairs, d_k))
    return float(((q * k).sum(1) / np.sqrt(d_k)).std())


@wrong("score_std", "already-scaled")
def std_of_single_products(d_k, n_pairs, rng):
    q = rng.standard_normal((n_pairs, d_k))
    k = rng.standard_normal((n_pairs, d_k))
    return float((q * k).std())


@wrong("score_std", "divided-by-d")
def mean_for_sum(d_k, n_pairs, rng):
    q = rng.standard_normal((n_pairs, d_k))
    k = rng.standard_normal((n_pairs, d_k))
    return float((q * k).mean(axis=-1).std())


@wrong("score_std", "root-of-root")
def root_of_std(d_k, n_pairs, rng):
    q = rng.standard_normal((n_pairs, d_k))
    k = rng.standard_normal((n_pairs, d_k))
    return math.sqrt((q * k).sum(-1).std())


@wrong("score_std", "spread-of-norms")
def with_itself(d_k, n_pairs, rng):
    q = rng.standard_normal((n_pairs, d_k))
    k = q
    return float((q * k).sum(-1).std())


@wrong("score_std", "uniform-not-normal")
def rng_random(d_k, n_pairs, rng):
    q, k = rng.random((n_pairs, d_k)), rng.random((n_pairs, d_k))
    return float((q * k).sum(-1).std())


@wrong("score_std", "mean-absolute-score")
def mean_of_absolute(d_k, n_pairs, rng):
    q = rng.standard_normal((n_pairs, d_k))
    k = rng.standard_normal((n_pairs, d_k))
    return float(np.abs((q * k).sum(-1)).mean())


@wrong("score_std", "no-spread")
def all_products_in_one_sum(d_k, n_pairs, rng):
    q = rng.standard_normal((n_pairs, d_k))
    k = rng.standard_normal((n_pairs, d_k))
    return float((q * k).sum().std())


@wrong("score_std", "no-spread")
def mean_score(d_k, n_pairs, rng):
    q = rng.standard_normal((n_pairs, d_k))
    k = rng.standard_normal((n_pairs, d_k))
    return float((q * k).sum(-1).mean())


@wrong("score_std", "not-measured")
def by_theory(d_k, n_pairs, rng):
    return math.sqrt(d_k)


@wrong("score_std", "not-measured")
def own_fixed_seed(d_k, n_pairs, rng):
    rng = np.random.default_rng(0)
    q = rng.standard_normal((n_pairs, d_k))
    k = rng.standard_normal((n_pairs, d_k))
    return float((q * k).sum(-1).std())


@wrong("score_std", "pairs-ignored")
def always_as_many_pairs(d_k, n_pairs, rng):
    q = rng.standard_normal((100_000, d_k))
    k = rng.standard_normal((100_000, d_k))
    return float((q * k).sum(-1).std())


@wrong("score_std", "raised")
def old_style_size(d_k, n_pairs, rng):
    q, k = rng.randn(n_pairs, d_k), rng.randn(n_pairs, d_k)
    return float((q * k).sum(-1).std())


@wrong("score_std", "raised")
def matrix_product_of_pairs(d_k, n_pairs, rng):
    q = rng.standard_normal((n_pairs, d_k))
    k = rng.standard_normal((n_pairs, d_k))
    return float((q @ k).std())


@right("score_std")
def one_number_at_a_time(d_k, n_pairs, rng):
    scores = []
    for _ in range(n_pairs):
        score = 0.0
        for _ in range(d_k):
            score += rng.normal() * rng.normal()
        scores.append(score)
    return float(np.std(scores))


@right("score_std")
def two_arrays(d_k, n_pairs, rng):
    q = rng.standard_normal((n_pairs, d_k))
    k = rng.standard_normal((n_pairs, d_k))
    return (q * k).sum(axis=-1).std()


@right("score_std")
def one_draw(d_k, n_pairs, rng):
    q, k = rng.normal(size=(2, n_pairs, d_k))
    return float(np.std(np.einsum("nk,nk->n", q, k)))


@right("score_std")
def pair_by_pair(d_k, n_pairs, rng):
    scores = [rng.normal(size=d_k) @ rng.normal(size=d_k) for _ in range(n_pairs)]
    return statistics.pstdev(map(float, scores))


@right("score_std")
def sample_std(d_k, n_pairs, rng):
    q = rng.normal(0, 1, (n_pairs, d_k))
    k = rng.normal(0, 1, (n_pairs, d_k))
    return float((q * k).sum(1).std(ddof=1))


@right("score_std")
def columns_are_pairs(d_k, n_pairs, rng):
    q, k = (rng.standard_normal((d_k, n_pairs)) for _ in range(2))
    return float(np.sqrt(np.var(np.sum(q * k, axis=0))))


@right("score_std")
def mean_known_to_be_zero(d_k, n_pairs, rng):
    q = rng.standard_normal((n_pairs, d_k))
    k = rng.standard_normal((n_pairs, d_k))
    scores = np.matmul(q[:, None, :], k[:, :, None])
    return math.sqrt(np.mean(scores**2))


@right("score_std")
def running_totals(d_k, n_pairs, rng):
    total = squares = 0.0
    for start in range(0, n_pairs, 1000):
        size = min(1000, n_pairs - start)
        scores = (rng.normal(size=(size, d_k)) * rng.normal(size=(size, d_k))).sum(-1)
        total += scores.sum()
        squares += (scores**2).sum()
    return (squares / n_pairs - (total / n_pairs) ** 2) ** 0.5


@wrong("score_std", "summed-over-pairs")
def summed_down_the_columns(d_k, n_pairs, rng):
    q = rng.standard_normal((n_pairs, d_k))
    k = rng.standard_normal((n_pairs, d_k))
    return float((q * k).sum(axis=0).std())


@wrong("score_std", "summed-over-pairs")
def rows_are_lines(d_k, n_pairs, rng):
    q = rng.standard_normal((d_k, n_pairs))
    k = rng.standard_normal((d_k, n_pairs))
    return float(np.einsum("nd,nd->n", q, k).std())


@wrong("score_std", "one-query-for-all")
def one_reader(d_k, n_pairs, rng):
    q = rng.standard_normal(d_k)
    k = rng.standard_normal((n_pairs, d_k))
    return float((k @ q).std())


# softmax_jacobian ----------------------------------------------------------------------------


@wrong("softmax_jacobian", "diagonal-only")
def diagonal(p):
    return np.diag(p)


@wrong("softmax_jacobian", "sigmoid-derivative")
def each_on_its_own(p):
    return np.diag(p * (1 - p))


@wrong("softmax_jacobian", "outer-product-only")
def minus_outer(p):
    return -p[:, None] * p


@wrong("softmax_jacobian", "sign-flipped")
def outer_minus_diagonal(p):
    return p[:, None] @ p[None, :] - np.diag(p)


@wrong("softmax_jacobian", "outer-product-added")
def plus_outer(p):
    return np.diag(p) + np.outer(p, p)


@wrong("softmax_jacobian", "identity-not-diagonal")
def eye(p):
    return np.eye(p.shape[0]) - np.outer(p, p)


@wrong("softmax_jacobian", "log-softmax-jacobian")
def kronecker_minus_p(p):
    M = len(p)
    return np.array([[float(i == j) - p[j] for j in range(M)] for i in range(M)])


@wrong("softmax_jacobian", "inner-not-outer-product")
def dot(p):
    return np.diag(p) - np.dot(p, p)


@wrong("softmax_jacobian", "rows-minus-columns")
def broadcasts(p):
    return np.diag(p) - p


@wrong("softmax_jacobian", "rows-minus-columns")
def broadcasts_down(p):
    return np.diag(p) - p[:, None]


@wrong("softmax_jacobian", "elementwise-product")
def elementwise_square(p):
    return np.diag(p) - p * p


@wrong("softmax_jacobian", "softmax-of-weights")
def softmax_once_more(p):
    e = np.exp(p - p.max())
    s = e / e.sum()
    return np.diag(s) - np.outer(s, s)


@wrong("softmax_jacobian", "off-diagonal-only")
def one_minus_p_forgotten(p):
    J = -np.outer(p, p)
    np.fill_diagonal(J, 0.0)
    return J


@wrong("softmax_jacobian", "non-finite")
def divides_by_p(p):
    return np.outer(p, p) * (np.diag(1 / p) - 1)


@wrong("softmax_jacobian", "raised")
def two_axes_assumed(p):
    M, _ = p.shape
    return np.diag(p) - np.outer(p, p[:M])


@right("softmax_jacobian")
def by_the_book(p):
    return np.diag(p) - np.outer(p, p)


@right("softmax_jacobian")
def entry_by_entry(p):
    M = len(p)
    J = np.empty((M, M))
    for i in range(M):
        for j in range(M):
            J[i, j] = p[i] * (1 - p[i]) if i == j else -p[i] * p[j]
    return J


@right("softmax_jacobian")
def identity_times_rows(p):
    return p[:, None] * (np.eye(len(p)) - p)


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


@right("softmax_jacobian")
def covariance_of_one_hots(p):
    units = np.eye(len(p))
    return sum(w * np.outer(u - p, u - p) for w, u in zip(p, units, strict=True))


@right("softmax_jacobian")
def fortran_order(p):
    return np.asfortranarray(np.diag(p) - np.multiply.outer(p, p))


@wrong("softmax_jacobian", "own-share-not-subtracted")
def p_on_the_diagonal(p):
    J = -np.outer(p, p)
    np.fill_diagonal(J, p)
    return J


@wrong("softmax_jacobian", "one-off-the-diagonal")
def diagonal_rule_everywhere(p):
    return np.outer(p, 1 - p)


# entropy -------------------------------------------------------------------------------------


@wrong("entropy", "entropy-in-bits")
def log2(p, axis=-1):
    logs = np.log2(p, where=p > 0, out=np.zeros_like(p))
    return -(p * logs).sum(axis)


@wrong("entropy", "base-ten")
def log10(p, axis=-1):
    logs = np.log10(np.where(p > 0, p, 1.0))
    return -(p * logs).sum(axis)


@wrong("entropy", "sign-flipped")
def no_minus(p, axis=-1):
    return (p * np.log(np.where(p > 0, p, 1.0))).sum(axis)


@wrong("entropy", "mean-not-sum")
def mean(p, axis=-1):
    return -np.mean(p * np.log(np.where(p > 0, p, 1.0)), axis=axis)


@wrong("entropy", "summed-over-everything")
def no_axis(p, axis=-1):
    return -(p * np.log(np.where(p > 0, p, 1.0))).sum()


@wrong("entropy", "axis-ignored")
def always_the_last(p, axis=-1):
    return -(p * np.log(np.where(p > 0, p, 1.0))).sum(-1)


@wrong("entropy", "unweighted-logarithms")
def logarithms_alone(p, axis=-1):
    return -np.sum(np.log(p), axis=axis)


@wrong("entropy", "perplexity")
def exponential_of_it(p, axis=-1):
    return np.exp(-(p * np.log(np.where(p > 0, p, 1.0))).sum(axis))


@wrong("entropy", "normalised-entropy")
def share_of_the_largest(p, axis=-1):
    h = -(p * np.log(np.where(p > 0, p, 1.0))).sum(axis)
    return h / math.log(p.shape[axis])


@wrong("entropy", "gini-not-entropy")
def one_minus_squares(p, axis=-1):
    return 1 - np.square(p).sum(axis=axis)


@wrong("entropy", "zero-log-zero")
def plain_formula(p, axis=-1):
    return -(p * np.log(p)).sum(axis=axis)


@wrong("entropy", "zeros-clipped")
def clipped_at_a_thousandth(p, axis=-1):
    p = np.maximum(p, 1e-3)
    return -(p * np.log(p)).sum(axis)


@wrong("entropy", "not-summed")
def terms(p, axis=-1):
    return -p * np.log(np.where(p > 0, p, 1.0))


@wrong("entropy", "unweighted-logarithms")
def mean_of_logarithms(p, axis=-1):
    return -np.log(p).mean(axis)


@wrong("entropy", "non-finite")
def limit_from_the_wrong_side(p, axis=-1):
    logs = np.where(p > 0.2, np.log(p), np.inf)
    return -(p * logs).sum(axis)


@wrong("entropy", "raised")
def math_log(p, axis=-1):
    return -sum(x * math.log(x) for x in p)


@right("entropy")
def divides_by_the_sum_first(p, axis=-1):
    shares = p / p.sum(axis, keepdims=True)
    logs = np.log(np.where(shares > 0, shares, 1.0))
    return -(shares * logs).sum(axis)


@right("entropy")
def where_positive(p, axis=-1):
    return -(p * np.log(np.where(p > 0, p, 1.0))).sum(axis=axis)


@right("entropy")
def log_with_where(p, axis=-1):
    logs = np.log(p, where=p > 0, out=np.zeros_like(p))
    return -np.sum(p * logs, axis=axis)


@right("entropy")
def nan_to_num(p, axis=-1):
    with np.errstate(all="ignore"):
        return -np.nan_to_num(p * np.log(p)).sum(axis)


@right("entropy")
def nansum(p, axis=-1):
    return -np.nansum(p * np.log(p), axis=axis)


@right("entropy")
def tiny_added(p, axis=-1):
    return -(p * np.log(p + 1e-300)).sum(axis)


@right("entropy")
def clipped_at_tiny(p, axis=-1):
    return -(p * np.log(np.clip(p, 1e-30, None))).sum(axis)


@right("entropy")
def along_the_axis(p, axis=-1):
    def of_one_row(row):
        return -sum(w * math.log(w) for w in row if w > 0)

    return np.apply_along_axis(of_one_row, axis, p)


@right("entropy")
def moved_to_the_end(p, axis=-1):
    rows = np.moveaxis(p, axis, -1)
    logs = np.log(np.where(rows > 0, rows, 1.0))
    return -np.einsum("...m,...m->...", rows, logs)


@right("entropy")
def power_trick(p, axis=-1):
    return -np.log(np.prod(p**p, axis=axis))


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


@wrong("best_scale", "scale-by-first-axis")
@refuses_other_widths
def length_of_q(Q, K):
    return 1 / np.sqrt(len(Q))


@wrong("best_scale", "scale-by-first-axis")
@refuses_other_widths
def length_of_k(Q, K):
    return len(K) ** -0.5


@wrong("best_scale", "measured-not-assumed")
@refuses_other_widths
def measured(Q, K):
    return float(1 / np.std(Q @ np.swapaxes(K, -1, -2)))


@wrong("best_scale", "measured-not-assumed")
@refuses_other_widths
def measured_on_inputs(Q, K):
    return float(1 / (Q.std() * K.std() * math.sqrt(Q.shape[-1])))


@wrong("best_scale", "not-raised")
def takes_any_width(Q, K):
    return 1 / math.sqrt(K.shape[-1])


@wrong("best_scale", "raised")
def two_axes_always(Q, K):
    _, d_k = Q.shape
    if K.shape[1] != d_k:
        raise ValueError(f"{Q.shape} and {K.shape}")
    return 1 / d_k**0.5


@wrong("best_scale", "wrong-type")
@refuses_other_widths
def scaled_scores_instead(Q, K):
    return Q @ np.swapaxes(K, -1, -2) / np.sqrt(Q.shape[-1])


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


@wrong("best_scale", "scale-by-second-axis")
@refuses_other_widths
def second_size_of_q(Q, K):
    return Q.shape[1] ** -0.5


@wrong("best_scale", "scale-by-second-axis")
@refuses_other_widths
def second_size_of_k(Q, K):
    return 1 / np.sqrt(K.shape[1])


# mistakes in loops ---------------------------------------------------------------------------


def _factor(block):
    def best_scale(Q, K):
        sizes = {"n": Q.shape[-2], "m": K.shape[-2], "d_k": Q.shape[-1], "batch": Q.shape[0]}
        if Q.shape[-1] != K.shape[-1]:
            raise ValueError("queries and keys differ in width")
        return float(block.keywords["factor"](**sizes))

    return best_scale


lesson.in_loops("best_scale", _factor, "scale", "batch")
