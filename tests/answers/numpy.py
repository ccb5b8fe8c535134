"""Answers to lesson 03, with NumPy."""

# A learner's style is not ours, and their mistakes are what this file is for.
# mypy: disallow-untyped-defs=False, disallow-incomplete-defs=False, check-untyped-defs=False

import functools
import itertools
import math
import sys

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


@right("count_attention")
def by_formula(n, d, d_k, d_v, bias=False):
    return d * (2 * d_k + d_v) + (2 * d_k + d_v if bias else 0), n * n


lesson.edits(
    by_formula,
    "raised | length_of_a_number |  d * ->  len(d) *;  + (2 * d_k + d_v if bias else 0) -> ",
)


@right("count_attention")
def bias_as_one_more_input(n, d, d_k, d_v, bias=False):
    return (d + bool(bias)) * sum([d_k, d_k, d_v]), pow(n, 2)


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


@right("routing_matrix")
def kron(weights, W_v):
    return np.kron(weights, W_v.T)


lesson.edits(
    kron,
    "factors-swapped | kron_the_other_way | weights, W_v.T -> W_v.T, weights",
    "raised | weights_times_values | np.kron(weights, W_v.T) -> weights @ W_v",
)


@right("routing_matrix")
def einsum_in_order(weights, W_v):
    (N, M), (d, d_v) = weights.shape, W_v.shape
    return np.einsum("nm,dv->nvmd", weights, W_v).reshape(N * d_v, M * d)


@right("routing_matrix")
def np_block(weights, W_v):
    return np.block([[a * W_v.T for a in row] for row in weights])


lesson.edits(
    np_block,
    "block-not-transposed | kron_as_it_comes | block([[a * W_v.T for a in row] for row in "
    "weights]) -> kron(weights, W_v)",
)


@right("routing_matrix")
def one_unit_input_at_a_time(weights, W_v):
    M, d = weights.shape[1], W_v.shape[0]
    columns = []
    for unit in np.eye(M * d):
        columns.append((weights @ unit.reshape(M, d) @ W_v).ravel())
    return np.array(columns).T


@right("routing_matrix")
def index_arithmetic(weights, W_v):
    (N, M), (d, d_v) = weights.shape, W_v.shape

    def entry(row, column):
        row, column = row.astype(int), column.astype(int)
        return weights[row // d_v, column // d] * W_v[column % d, row % d_v]

    return np.fromfunction(entry, (N * d_v, M * d))


# mistakes in loops ---------------------------------------------------------------------------
