"""Answers to lesson 03, with NumPy."""

# A learner's style is not ours, and their mistakes are what this file is for.
# mypy: disallow-untyped-defs=False, disallow-incomplete-defs=False, check-untyped-defs=False
# ruff: noqa: SIM108

import functools
import itertools
import math
import sys
import warnings

import numpy as np

from . import Lesson

lesson = Lesson("03-numpy")
wrong, right = lesson.wrong, lesson.right


# softmax -------------------------------------------------------------------------------------


@wrong("softmax", "maximum-begins-at-0")
def largest_from_zero(scores, axis=-1):
    powers = np.exp(scores - np.max(scores, axis=axis, keepdims=True, initial=0.0))
    return powers / powers.sum(axis=axis, keepdims=True)


@wrong("softmax", "softmax-over-queries")
def last_axis_but_one(scores, axis=-1):
    axis = max(scores.ndim - 2, 0)
    e = np.exp(scores - scores.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


@wrong("softmax", "raised")
def forgets_keepdims(scores, axis=-1):
    e = np.exp(scores - scores.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis)


@right("softmax")
def by_the_book(scores, axis=-1):
    e = np.exp(scores - np.max(scores, axis=axis, keepdims=True))
    return e / np.sum(e, axis=axis, keepdims=True)


@right("softmax")
def by_logarithms(scores, axis=-1):
    return np.exp(scores - np.logaddexp.reduce(scores, axis=axis, keepdims=True))


@right("softmax")
def along_each_line(scores, axis=-1):
    def line(s):
        e = np.exp(s - s.max())
        return e / e.sum()

    return np.apply_along_axis(line, axis, scores)


@right("softmax")
def moves_the_axis_and_back(scores, axis=-1):
    moved = np.moveaxis(scores, axis, 0)
    e = np.exp(moved - moved.max(axis=0))
    return np.moveaxis(e / e.sum(axis=0), 0, axis)


@right("softmax")
def in_fortran_order(scores, axis=-1):
    e = np.exp(scores - np.expand_dims(scores.max(axis), axis))
    return np.asfortranarray(e / np.expand_dims(e.sum(axis), axis))


@right("softmax")
def python_loops(scores, axis=-1):
    print("softmax over axis", axis, file=sys.stderr)
    weights = np.empty_like(scores)
    lines = np.swapaxes(scores, axis, -1)
    out = np.swapaxes(weights, axis, -1)
    for where in np.ndindex(lines.shape[:-1]):
        top = max(lines[where])
        e = [math.exp(s - top) for s in lines[where]]
        out[where] = [x / sum(e) for x in e]
    return weights


@right("softmax")
def masked_inside(scores, axis=-1):
    blocked = np.isneginf(scores)
    e = np.exp(np.where(blocked, 0, scores - scores.max(axis=axis, keepdims=True)))
    e = e * ~blocked
    return e / e.sum(axis=axis, keepdims=True)


@right("softmax")
def vectorized_exp(scores, axis=-1):
    e = np.vectorize(math.exp)(scores - scores.max(axis, keepdims=True))
    return np.true_divide(e, np.add.reduce(e, axis, keepdims=True))


def _softmax_of(shift, scores, axis=-1):
    e = np.exp(scores - shift(scores, axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


right("softmax", "partial")(functools.partial(_softmax_of, np.max))


@wrong("softmax", "softmax-over-first-axis")
def always_the_first(scores, axis=-1):
    e = np.exp(scores - scores.max(axis=0))
    return e / e.sum(axis=0)


@wrong("softmax", "hard-coded-axis")
def always_the_second(scores, axis=-1):
    e = np.exp(scores - scores.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


# project -------------------------------------------------------------------------------------


@wrong("project", "bias-ignored")
def no_bias(X, W, b=None):
    return X @ W


@wrong("project", "bias-subtracted")
def minus_bias(X, W, b=None):
    return X @ W if b is None else X @ W - b


@wrong("project", "not-raised")
def as_far_as_it_goes(X, W, b=None):
    d = min(X.shape[-1], W.shape[0])
    Q = X[..., :d] @ W[:d]
    return Q if b is None else Q + b


@right("project")
def at(X, W, b=None):
    Q = X @ W
    return Q if b is None else Q + b


@right("project")
def einsum_with_dots(X, W, b=None):
    if X.shape[-1] != W.shape[0]:
        raise ValueError("X and W do not fit")
    Q = np.einsum("...nd,dk->...nk", X, W, optimize=True)
    if b is not None:
        Q += b
    return Q


@right("project")
def dot(X, W, b=None):
    return np.dot(X, W) + (0 if b is None else b)


@right("project")
def tensordot(X, W, b=None):
    return np.tensordot(X, W, axes=1) + np.zeros(W.shape[1]) if b is None else X.dot(W) + b


@right("project")
def bias_as_one_more_row(X, W, b=None):
    b = np.zeros(W.shape[1]) if b is None else b
    ones = np.ones((*X.shape[:-1], 1))
    return np.concatenate([X, ones], axis=-1) @ np.vstack([W, b])


@right("project")
def loops_over_columns(X, W, b=None):
    if X.shape[-1] != W.shape[0]:
        raise ValueError(f"X is {X.shape} and W is {W.shape}")
    columns = []
    for k in range(W.shape[1]):
        column = (X * W[:, k]).sum(axis=-1)
        columns.append(column if b is None else column + b[k])
    return np.stack(columns, axis=-1)


@right("project")
def broadcast_and_sum(X, W, b=None):
    if X.shape[-1] != W.shape[0]:
        raise ValueError("X and W do not fit")
    Q = (X[..., :, None] * W).sum(axis=-2)
    return np.add(Q, 0 if b is None else b)


@right("project")
def transposes_that_meet(X, W, b=None):
    Q = np.swapaxes(W.T @ np.swapaxes(X, -1, -2), -1, -2)
    return Q if b is None else Q + b[None, :]


# scaled_dot_product_attention ----------------------------------------------------------------


def _softmax(S):
    with np.errstate(invalid="ignore"):
        e = np.exp(S - S.max(axis=-1, keepdims=True))
        return e / e.sum(axis=-1, keepdims=True)


def _scores(Q, K):
    return Q @ K.swapaxes(-1, -2) / math.sqrt(Q.shape[-1])


def _weights(S, mask):
    if mask is None:
        return _softmax(S)
    return np.where(mask, _softmax(np.where(mask, S, -np.inf)), 0.0)


@wrong("scaled_dot_product_attention", "scale-of-the-example")
def always_by_two(Q, K, V, mask=None):
    A = _weights(Q @ K.swapaxes(-1, -2) / 2, mask)
    return A @ V, A


@wrong("scaled_dot_product_attention", "no-scale")
def unscaled(Q, K, V, mask=None):
    A = _weights(Q @ K.swapaxes(-1, -2), mask)
    return A @ V, A


@wrong("scaled_dot_product_attention", "scale-by-second-axis")
def width_of_a_table(Q, K, V, mask=None):
    A = _weights(Q @ K.swapaxes(-1, -2) / math.sqrt(Q.shape[1]), mask)
    return A @ V, A


@wrong("scaled_dot_product_attention", "zero-scores-blocked")
def multiplied_by_the_mask(Q, K, V, mask=None):
    S = Q @ K.swapaxes(-1, -2) / math.sqrt(Q.shape[-1])
    A = _weights(S, None if mask is None else S * mask != 0)
    return A @ V, A


@wrong("scaled_dot_product_attention", "raised")
def plain_transpose(Q, K, V, mask=None):
    A = _weights(Q @ K.T / math.sqrt(Q.shape[-1]), mask)
    return A @ V, A


@wrong("scaled_dot_product_attention", "mask-inverted")
def open_ones_covered(Q, K, V, mask=None):
    S = _scores(Q, K)
    if mask is not None:
        S = np.where(mask, S, -np.inf)
    with np.errstate(invalid="ignore"):
        A = _softmax(S)
    if mask is not None:
        A = np.where(mask, 0.0, A)
    return A @ V, A


@right("scaled_dot_product_attention")
def five_lines(Q, K, V, mask=None):
    S = np.einsum("...nk,...mk->...nm", Q, K) / np.sqrt(Q.shape[-1])
    if mask is not None:
        S = np.where(mask, S, -np.inf)
    top = S.max(axis=-1, keepdims=True)
    e = np.exp(S - np.where(np.isfinite(top), top, 0))
    total = e.sum(axis=-1, keepdims=True)
    A = e / np.where(total == 0, 1, total)
    return np.einsum("...nm,...mv->...nv", A, V), A


@right("scaled_dot_product_attention")
def masks_after_and_shares_again(Q, K, V, mask=None):
    S = _scores(Q, K)
    S = S - S.max(-1, keepdims=True)
    A = np.exp(S)
    if mask is not None:
        A = A * mask
    total = A.sum(-1, keepdims=True)
    A = np.divide(A, total, out=np.zeros_like(A), where=total > 0)
    return A @ V, A


@right("scaled_dot_product_attention")
def softmax_then_mask_then_shares(Q, K, V, mask=None):
    A = _softmax(_scores(Q, K))
    if mask is not None:
        A = np.where(mask, A, 0)
        A = np.nan_to_num(A / A.sum(-1, keepdims=True))
    return np.matmul(A, V), A


@right("scaled_dot_product_attention")
def additive_bias(Q, K, V, mask=None):
    bias = 0.0 if mask is None else np.where(mask, 0.0, -np.inf)
    A = np.nan_to_num(_softmax(_scores(Q, K) + bias), nan=0.0)
    return A @ V, A


@right("scaled_dot_product_attention")
def large_number_and_mask(Q, K, V, mask=None):
    S = _scores(Q, K)
    if mask is None:
        A = _softmax(S)
    else:
        A = _softmax(np.where(mask, S, np.finfo(S.dtype).min)) * mask
    return A @ V, A


@right("scaled_dot_product_attention")
def masked_arrays(Q, K, V, mask=None):
    S = _scores(Q, K)
    if mask is None:
        mask = np.ones(S.shape, bool)
    S = np.ma.masked_where(~np.broadcast_to(mask, S.shape), S)
    e = np.ma.exp(S - S.max(-1, keepdims=True))
    A = (e / e.sum(-1, keepdims=True)).filled(0.0)
    return A @ V, A


@right("scaled_dot_product_attention")
def query_by_query(Q, K, V, mask=None):
    N, M = Q.shape[-2], K.shape[-2]
    leading = Q.shape[:-2]
    allowed = np.broadcast_to(True if mask is None else mask, (*leading, N, M))
    out = np.zeros((*leading, N, V.shape[-1]), dtype=Q.dtype)
    A = np.zeros((*leading, N, M), dtype=Q.dtype)
    for where in np.ndindex(*leading, N):
        keys = K[where[:-1]][allowed[where]]
        if len(keys) == 0:
            continue
        s = keys @ Q[where] / math.sqrt(len(Q[where]))
        e = np.exp(s - s.max())
        A[where][allowed[where]] = e / e.sum()
        out[where] = A[where] @ V[where[:-1]]
    return out, A


@right("scaled_dot_product_attention")
def through_logarithms(Q, K, V, mask=None):
    warnings.warn("this will warn", RuntimeWarning, stacklevel=2)
    S = _scores(Q, K)
    if mask is not None:
        S = np.where(mask, S, -np.inf)
    total = np.logaddexp.reduce(S, axis=-1, keepdims=True)
    A = np.exp(S - total)
    A[np.isnan(A)] = 0
    return A @ V, A


@right("scaled_dot_product_attention")
def keys_first(Q, K, V, mask=None):
    S = np.swapaxes(K @ np.swapaxes(Q, -1, -2), -1, -2) * Q.shape[-1] ** -0.5
    A = _weights(S, mask)
    out = np.swapaxes(np.swapaxes(V, -1, -2) @ np.swapaxes(A, -1, -2), -1, -2)
    return [np.asfortranarray(out), A]


class Attention:
    """Attention as an object that keeps its last weights."""

    def __call__(self, Q, K, V, mask=None):
        print("Q", Q.shape, "K", K.shape, "V", V.shape)
        self.weights = _weights(_scores(Q, K), mask)
        return self.weights @ V, self.weights.copy()


right("scaled_dot_product_attention")(Attention())


@wrong("scaled_dot_product_attention", "computed-in-float32")
def all_in_float32(Q, K, V, mask=None):
    q, k, v = (part.astype(np.float32) for part in (Q, K, V))
    s = q @ k.swapaxes(-1, -2) / np.float32(math.sqrt(q.shape[-1]))
    open_ = np.ones(s.shape, bool) if mask is None else np.broadcast_to(mask, s.shape)
    s = np.where(open_, s, np.float32(-np.inf))
    top = np.where(open_.any(-1, keepdims=True), s.max(-1, keepdims=True), 0)
    e = np.exp(s - top.astype(np.float32))
    a = e / np.maximum(e.sum(-1, keepdims=True), np.float32(1e-30))
    return (a @ v).astype(Q.dtype), a.astype(Q.dtype)


# count_attention -----------------------------------------------------------------------------


@wrong("count_attention", "one-matrix")
def w_q_alone(n, d, d_k, d_v, bias=False):
    return d * d_k + (d_k if bias else 0), n * n


@wrong("count_attention", "values-not-counted")
def queries_and_keys(n, d, d_k, d_v, bias=False):
    return 2 * d * d_k + (2 * d_k if bias else 0), n**2


@wrong("count_attention", "raised")
def length_of_a_number(n, d, d_k, d_v, bias=False):
    return len(d) * (2 * d_k + d_v), n * n


@right("count_attention")
def by_formula(n, d, d_k, d_v, bias=False):
    return d * (2 * d_k + d_v) + (2 * d_k + d_v if bias else 0), n * n


@right("count_attention")
def by_making_them(n, d, d_k, d_v, bias=False):
    arrays = [np.zeros((d, d_k)), np.zeros((d, d_k)), np.zeros((d, d_v))]
    if bias:
        arrays += [np.zeros(d_k), np.zeros(d_k), np.zeros(d_v)]
    Q = K = np.zeros((n, d_k))
    return sum(a.size for a in arrays), (Q @ K.T).size


@right("count_attention")
def bias_as_one_more_input(n, d, d_k, d_v, bias=False):
    return (d + bool(bias)) * sum([d_k, d_k, d_v]), pow(n, 2)


@right("count_attention")
def numpy_numbers(n, d, d_k, d_v, bias=False):
    shapes = np.array([[d, d_k], [d, d_k], [d, d_v]])
    parameters = shapes.prod(axis=1).sum() + bias * shapes[:, 1].sum()
    return parameters, np.prod([n, n])


@right("count_attention")
def counts_one_by_one(n, d, d_k, d_v, bias=False):
    parameters = 0
    for width in (d_k, d_k, d_v):
        for _ in range(width):
            parameters += d
            if bias:
                parameters += 1
    return [parameters, len(list(itertools.product(range(n), repeat=2)))]


@right("count_attention")
def zero_dimensional_arrays(n, d, d_k, d_v, bias=False):
    widths = np.array([d_k, d_k, d_v])
    return np.asarray((widths * (d + int(bias))).sum()), np.asarray(n) ** 2


# routing_matrix ------------------------------------------------------------------------------


@wrong("routing_matrix", "block-not-transposed")
def kron_as_it_comes(weights, W_v):
    return np.kron(weights, W_v)


@wrong("routing_matrix", "factors-swapped")
def kron_the_other_way(weights, W_v):
    return np.kron(W_v.T, weights)


@wrong("routing_matrix", "raised")
def weights_times_values(weights, W_v):
    return weights @ W_v


@right("routing_matrix")
def kron(weights, W_v):
    return np.kron(weights, W_v.T)


@right("routing_matrix")
def einsum_in_order(weights, W_v):
    (N, M), (d, d_v) = weights.shape, W_v.shape
    return np.einsum("nm,dv->nvmd", weights, W_v).reshape(N * d_v, M * d)


@right("routing_matrix")
def np_block(weights, W_v):
    return np.block([[a * W_v.T for a in row] for row in weights])


@right("routing_matrix")
def block_by_block(weights, W_v):
    (N, M), (d, d_v) = weights.shape, W_v.shape
    R = np.zeros((N * d_v, M * d))
    for n in range(N):
        for m in range(M):
            R[n * d_v : (n + 1) * d_v, m * d : (m + 1) * d] = weights[n, m] * W_v.T
    return R


@right("routing_matrix")
def entry_by_entry(weights, W_v):
    (N, M), (d, d_v) = weights.shape, W_v.shape
    return np.array(
        [
            [weights[n, m] * W_v[j, c] for m in range(M) for j in range(d)]
            for n in range(N)
            for c in range(d_v)
        ]
    )


@right("routing_matrix")
def repeats_and_tiles(weights, W_v):
    d, d_v = W_v.shape
    return weights.repeat(d_v, axis=0).repeat(d, axis=1) * np.tile(W_v.T, weights.shape)


@right("routing_matrix")
def one_unit_input_at_a_time(weights, W_v):
    M, d = weights.shape[1], W_v.shape[0]
    columns = []
    for unit in np.eye(M * d):
        columns.append((weights @ unit.reshape(M, d) @ W_v).ravel())
    return np.array(columns).T


@right("routing_matrix")
def the_transpose_of_a_transpose(weights, W_v):
    return np.kron(weights.T, W_v).T


@right("routing_matrix")
def index_arithmetic(weights, W_v):
    (N, M), (d, d_v) = weights.shape, W_v.shape

    def entry(row, column):
        row, column = row.astype(int), column.astype(int)
        return weights[row // d_v, column // d] * W_v[column % d, row % d_v]

    return np.fromfunction(entry, (N * d_v, M * d))


# mistakes in loops ---------------------------------------------------------------------------
