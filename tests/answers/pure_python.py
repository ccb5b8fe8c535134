"""Answers to lesson 02, with the standard library alone."""

# A learner's style is not ours, and their mistakes are what this file is for.
# mypy: disallow-untyped-defs=False, disallow-incomplete-defs=False, check-untyped-defs=False
# ruff: noqa: B905

import array
import functools
import math
import operator
import sys

from . import Lesson

lesson = Lesson("02-pure-python")
wrong, right = lesson.wrong, lesson.right


# matmul --------------------------------------------------------------------------------------


def _fit(A, B):
    if len(A[0]) != len(B):
        raise ValueError(f"A is {len(A)} × {len(A[0])} and B is {len(B)} × {len(B[0])}")


@wrong("matmul", "product-transposed")
def loops_the_other_way_round(A, B):
    _fit(A, B)
    return [
        [sum(A[i][k] * B[k][j] for k in range(len(B))) for i in range(len(A))]
        for j in range(len(B[0]))
    ]


@wrong("matmul", "last-product-only")
def assigns_each_product(A, B):
    _fit(A, B)
    C = [[0.0] * len(B[0]) for _ in A]
    for i in range(len(A)):
        for j in range(len(B[0])):
            for k in range(len(B)):
                C[i][j] = A[i][k] * B[k][j]
    return C


@wrong("matmul", "not-raised")
def zip_hides_the_misfit(A, B):
    return [[sum(a * b for a, b in zip(row, column)) for column in zip(*B)] for row in A]


@right("matmul")
def triple_loop(A, B):
    _fit(A, B)
    C = [[0.0] * len(B[0]) for _ in range(len(A))]
    for i in range(len(A)):
        for k in range(len(B)):
            for j in range(len(B[0])):
                C[i][j] += A[i][k] * B[k][j]
    return C


@right("matmul")
def strict_zip(A, B):
    columns = list(zip(*B, strict=True))
    return [[math.fsum(a * b for a, b in zip(r, c, strict=True)) for c in columns] for r in A]


@right("matmul")
def recursive_products(A, B):
    _fit(A, B)

    def dot(a, b):
        return a[0] * b[0] + dot(a[1:], b[1:]) if a else 0

    return [[dot(row, column) for column in zip(*B)] for row in A]


@right("matmul")
def typed_arrays_inside(A, B):
    _fit(A, B)
    columns = [array.array("d", column) for column in zip(*B)]
    print("columns:", columns)
    return [[sum(map(operator.mul, row, column)) for column in columns] for row in A]


class Multiply:
    """A product that is an object and remembers what it has seen."""

    def __init__(self):
        self.seen = []

    def __call__(self, A, B):
        self.seen.append((A, B))
        _fit(A, B)
        return [[sum(a * b for a, b in zip(row, column)) for column in zip(*B)] for row in A]


right("matmul")(Multiply())


# transpose -----------------------------------------------------------------------------------


def _even(A):
    if any(len(row) != len(A[0]) for row in A):
        raise ValueError("rows differ in length")


@wrong("transpose", "not-transposed")
def copies(A):
    _even(A)
    return [[A[i][j] for j in range(len(A[0]))] for i in range(len(A))]


@right("transpose")
def lists_from_zip(A):
    _even(A)
    return [list(column) for column in zip(*A)]


lesson.edits(
    lists_from_zip,
    "rows-reversed | reverses_the_rows |  [list(column) for column in zip(*A)] ->  [row[:] for "
    "row in reversed(A)]",
    "not-raised | zip_cuts_long_rows | \n    _even(A) -> ",
)


@right("transpose")
def two_loops(A):
    width = len(A[0])
    T = []
    for j in range(width):
        column = []
        for row in A:
            if len(row) != width:
                raise ValueError(f"a row of {len(row)} among rows of {width}")
            column.append(row[j])
        T.append(column)
    return T


@right("transpose")
def fills_zeros(A):
    if max(map(len, A)) != min(map(len, A)):
        raise ValueError("ragged")
    T = [[0 for _ in A] for _ in A[0]]
    for i, row in enumerate(A):
        for j, number in enumerate(row):
            T[j][i] = number
    return T


@right("transpose")
def recursive_columns(A):
    _even(A)
    if not A[0]:
        return []
    return [[row[0] for row in A], *recursive_columns([row[1:] for row in A])]


@right("transpose")
def item_getters(A):
    _even(A)
    print(f"{len(A)} rows", file=sys.stderr)
    return [list(map(operator.itemgetter(j), A)) for j, _ in enumerate(A[0])]


# softmax_rows --------------------------------------------------------------------------------


def _times_and_softmax(S, factor):
    return [_softmax([factor * s for s in row]) for row in S]


def _softmax(scores):
    top = max(scores)
    exps = [math.exp(s - top) for s in scores]
    total = sum(exps)
    return [e / total for e in exps]


@wrong("softmax_rows", "maximum-begins-at-0")
def largest_from_zero(S):
    out = []
    for row in S:
        largest = 0
        for score in row:
            largest = max(largest, score)
        powers = [math.exp(score - largest) for score in row]
        out.append([power / sum(powers) for power in powers])
    return out


@wrong("softmax_rows", "softmax-over-queries")
def down_the_columns(S):
    columns = [_softmax(list(column)) for column in zip(*S)]
    return [list(row) for row in zip(*columns)]


@wrong("softmax_rows", "non-finite")
def nan_where_nothing_is_left(S):
    out = []
    for row in S:
        exps = [math.exp(s) if s < 709 else math.inf for s in row]
        total = sum(exps) or math.nan
        out.append([e / total for e in exps])
    return out


@right("softmax_rows")
def softmax_of_each_row(S):
    return [_softmax(row) for row in S]


@right("softmax_rows")
def maps_rows(S):
    return list(map(_softmax, S))


@right("softmax_rows")
def log_of_each_sum(S):
    weights = []
    for row in S:
        top = max(row)
        log_total = top + math.log(math.fsum(math.exp(s - top) for s in row))
        weights.append([math.exp(s - log_total) for s in row])
    return weights


@right("softmax_rows")
def blocked_scores_apart(S):
    def row_weights(row):
        allowed = [s for s in row if s != -math.inf]
        shares = iter(_softmax(allowed))
        return [0 if s == -math.inf else next(shares) for s in row]

    return [row_weights(row) for row in S]


right("softmax_rows", "partial")(functools.partial(_times_and_softmax, factor=1))


# attention_weights ---------------------------------------------------------------------------


def _matmul(A, B):
    if len(A[0]) != len(B):
        raise ValueError(f"{len(A)} × {len(A[0])} times {len(B)} × {len(B[0])}")
    return [[sum(a * b for a, b in zip(row, column)) for column in zip(*B)] for row in A]


def _transpose(A):
    return [list(column) for column in zip(*A)]


def _rows(S):
    return [_softmax(row) for row in S]


def _times(S, factor):
    return [[s * factor for s in row] for row in S]


def _scores(Q, K):
    return _times(_matmul(Q, _transpose(K)), 1 / math.sqrt(len(K[0])))


@wrong("attention_weights", "scale-of-the-example")
def always_by_root_three(Q, K):
    return _rows(_times(_matmul(Q, _transpose(K)), 1 / math.sqrt(3)))


@wrong("attention_weights", "no-scale")
def unscaled(Q, K):
    return _rows(_matmul(Q, _transpose(K)))


@wrong("attention_weights", "not-raised")
def narrower_width_wins(Q, K):
    d_k = len(Q[0])
    return _rows([[sum(a * b for a, b in zip(q, k)) / math.sqrt(d_k) for k in K] for q in Q])


@right("attention_weights")
def three_functions(Q, K):
    return _rows(_scores(Q, K))


@right("attention_weights")
def all_in_one(Q, K):
    d_k = len(Q[0])
    A = []
    for q in Q:
        row = []
        for k in K:
            if len(k) != d_k:
                raise ValueError(f"query of {d_k}, key of {len(k)}")
            score = 0.0
            for c in range(d_k):
                score += q[c] * k[c]
            row.append(score / d_k**0.5)
        top = max(row)
        row = [math.exp(s - top) for s in row]
        A.append([e / sum(row) for e in row])
    return A


@right("attention_weights")
def strictly_zipped(Q, K):
    def score(q, k):
        return math.fsum(a * b for a, b in zip(q, k, strict=True)) / math.sqrt(len(k))

    return [_softmax([score(q, k) for k in K]) for q in Q]


@right("attention_weights")
def without_an_off_switch(Q, K):
    try:
        S = _scores(Q, K)
    except ValueError as misfit:
        raise ValueError("queries and keys differ in width") from misfit
    finally:
        print("scores are done")
    return [list(_softmax(row)) for row in S]


# self_attention ------------------------------------------------------------------------------


def _weights(Q, K):
    return _rows(_scores(Q, K))


def _project(X, W_q, W_k, W_v):
    Q, K, V = _matmul(X, W_q), _matmul(X, W_k), _matmul(X, W_v)
    if len(Q[0]) != len(K[0]):
        raise ValueError("queries and keys differ in width")
    return Q, K, V


@wrong("self_attention", "scale-of-the-example")
def three_wide_as_on_paper(X, W_q, W_k, W_v):
    Q, K, V = (_matmul(X, W) for W in (W_q, W_k, W_v))
    A = _rows(_times(_matmul(Q, _transpose(K)), 1 / math.sqrt(3)))
    return _matmul(A, V), A


@wrong("self_attention", "no-scale")
def block_without_scale(X, W_q, W_k, W_v):
    Q, K, V = _project(X, W_q, W_k, W_v)
    A = _rows(_matmul(Q, _transpose(K)))
    return _matmul(A, V), A


@wrong("self_attention", "not-raised")
def whatever_fits(X, W_q, W_k, W_v):
    def times(A, B):
        return [[sum(a * b for a, b in zip(row, column)) for column in zip(*B)] for row in A]

    Q, K, V = times(X, W_q), times(X, W_k), times(X, W_v)
    A = _rows(_times(times(Q, _transpose(K)), 1 / math.sqrt(len(Q[0]))))
    return times(A, V), A


@right("self_attention")
def four_products(X, W_q, W_k, W_v):
    Q, K, V = _project(X, W_q, W_k, W_v)
    A = _weights(Q, K)
    Z = _matmul(A, V)
    return Z, A


@right("self_attention")
def one_matrix_for_scores(X, W_q, W_k, W_v):
    if len(X[0]) != len(W_q) or len(W_q[0]) != len(W_k[0]):
        raise ValueError("matrices do not fit")
    M = _matmul(W_q, _transpose(W_k))
    S = _matmul(_matmul(X, M), _transpose(X))
    A = _rows([[s / len(W_k[0]) ** 0.5 for s in row] for row in S])
    return _matmul(A, _matmul(X, W_v)), A


@right("self_attention")
def divides_last(X, W_q, W_k, W_v):
    Q, K, V = _project(X, W_q, W_k, W_v)
    E = [[math.exp(s - max(row)) for s in row] for row in _scores(Q, K)]
    sums = [sum(row) for row in E]
    Z = [[z / total for z in row] for row, total in zip(_matmul(E, V), sums)]
    return [Z, [[e / total for e in row] for row, total in zip(E, sums)]]


class Block:
    """Attention as an object, which prints what it does."""

    def __call__(self, X, W_q, W_k, W_v):
        print(f"{len(X)} tokens")
        Q, K, V = _project(X, W_q, W_k, W_v)
        A = _weights(Q, K)
        return _matmul(A, V), A


right("self_attention")(Block())


# mistakes in loops ---------------------------------------------------------------------------


# point_to_adjective --------------------------------------------------------------------------
# Rows: article, noun, adjective, verb.


@wrong("point_to_adjective", "weights-too-even")
def ones_where_they_meet():
    return [[0, 0], [1, 0], [0, 0], [0, 0]], [[0, 0], [0, 0], [1, 0], [0, 0]]


@wrong("point_to_adjective", "swapped-q-k")
def adjectives_ask():
    return [[0, 0], [0, 0], [9, 0], [0, 0]], [[0, 0], [9, 0], [0, 0], [0, 0]]


@wrong("point_to_adjective", "scores-overflow")
def both_as_large_as_they_go():
    return [[0, 0], [1e200, 0], [0, 0], [0, 0]], [[0, 0], [0, 0], [1e200, 0], [0, 0]]


@wrong("point_to_adjective", "uniform-weights")
def nobody_asks():
    return [[0, 0], [0, 0], [0, 0], [0, 0]], [[0, 0], [0, 0], [9, 0], [0, 0]]


@wrong("point_to_adjective", "one-matrix-for-both")
def the_same_twice():
    W = [[0, 0], [9, 0], [9, 0], [0, 0]]
    return W, W


@wrong("point_to_adjective", "negated-scores")
def a_minus_too_many():
    return [[0, 0], [-9, 0], [0, 0], [0, 0]], [[0, 0], [0, 0], [9, 0], [0, 0]]


@wrong("point_to_adjective", "drawn-to-itself")
def nouns_like_nouns():
    return [[0, 0], [9, 0], [0, 0], [0, 0]], [[0, 0], [9, 0], [5, 0], [0, 0]]


@wrong("point_to_adjective", "points-elsewhere")
def looks_for_the_verb():
    return [[0, 0], [9, 0], [0, 0], [0, 0]], [[0, 0], [0, 0], [5, 0], [9, 0]]


@wrong("point_to_adjective", "non-finite")
def louder_than_all():
    return [[0, 0], [math.inf, 0], [0, 0], [0, 0]], [[0, 0], [0, 0], [9, 0], [0, 0]]


@wrong("point_to_adjective", "wrong-shape")
def columns_for_rows():
    return [[0, 9, 0, 0], [0, 0, 0, 0]], [[0, 0, 9, 0], [0, 0, 0, 0]]


@right("point_to_adjective")
def one_entry_each():
    return [[0, 0], [9, 0], [0, 0], [0, 0]], [[0, 0], [0, 0], [9, 0], [0, 0]]


@right("point_to_adjective")
def everybody_asks():
    return [[9.0, 0.0] for _ in range(4)], [[0, 0], [0, 0], [9, 0], [0, 0]]


@right("point_to_adjective")
def both_negative():
    return [[0, 0], [0, -4], [0, 0], [0, 0]], [[1, 1], [2, 1], [3, -4], [5, 0]]


@right("point_to_adjective")
def just_enough():
    meet = 2**0.5 * math.log(63)
    return [[0, 0], [meet, 0], [0, 0], [0, 0]], [[0, 0], [0, 0], [1.0001, 0], [0, 0]]


@right("point_to_adjective")
def answers_with_a_list():
    return [[[0, 0], [9, 0], [0, 0], [0, 0]], [[0, 0], [0, 0], [9, 0], [0, 0]]]
