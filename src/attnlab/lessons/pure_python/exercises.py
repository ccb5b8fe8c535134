"""Lesson 02's exercises: self-attention from lists of floats, one function at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from attnlab.exercise import Case, Exercise, Group, Mistake, Property, Slot, unchanged
from attnlab.lessons.pure_python import LESSON
from attnlab.lessons.soft_lookup.exercises import MINUS_INFINITY, random_list
from attnlab.mistakes.bank import (
    CLIPPED,
    OVER_QUERIES,
    UNSTABLE_REASON,
    UNSTABLE_REMEDY,
    Weigh,
    mistakes_in_scale,
    mistakes_in_softmax,
    over_sum,
    python_softmax,
    python_softmax_rows,
    scaled,
    scaled_right,
)
from attnlab.reference import attend, softmax, tensor, weights

Matrix = Any  # nested lists from a case, (rows, columns)

SHARED_ROWS = (
    "All rows came out the same: they are one list, `[[0] * n] * m`, and each write lands in all.",
    "Make a new list for every row: `[[0.0] * n for _ in range(m)]`.",
)
NOT_RESET = "Put the line that sets it to 0 inside the loop, just before the sum that it is for."


# matmul --------------------------------------------------------------------------------------


def _matmul_cases(rng: np.random.Generator) -> Iterator[Case]:
    for n, inner, m in ((5, 4, 3), (2, 6, 7)):
        yield Case("values", (random_list(rng, n, inner), random_list(rng, inner, m)))
    ints = rng.integers(-4, 5, (3, 2)).tolist(), rng.integers(-4, 5, (2, 4)).tolist()
    yield Case("values", ints, note="entries are ints")
    note = "the sizes are 1"
    yield Case("values", (random_list(rng, 1, 3), random_list(rng, 3, 1)), note=note)
    for rows_of_b in (3, 5):
        args = random_list(rng, 2, 4), random_list(rng, rows_of_b, 6)
        note = f"A is (2, 4) and B is ({rows_of_b}, 6)"
        yield Case("refuses", args, raises="ValueError", note=note)


def _each_pair(combine: Callable[[np.ndarray, np.ndarray], float]) -> Callable[..., np.ndarray]:
    """A product that combines row i of A and column j of B in some other way."""

    def product(A: Matrix, B: Matrix) -> np.ndarray:
        columns = np.array(B).T
        return np.array([[combine(row, column) for column in columns] for row in np.array(A)])

    return product


def _matmul(A: Matrix, B: Matrix) -> np.ndarray:
    return (tensor(A).double() @ tensor(B).double()).numpy()


MATMUL = Exercise(
    name="matmul",
    lesson=LESSON.slug,
    stage=LESSON.stage,
    signature="(A, B) -> list[list[float]]",
    axes=("n k", "k m"),
    read="Rows times columns",
    returns=(Slot("product", "list", "N M"),),
    groups=(
        Group("values", "equals torch.matmul", 0.5, core=True),
        Group("refuses", "raises ValueError when A's columns and B's rows differ in number", 0.25),
        unchanged(0.25),
    ),
    cases=_matmul_cases,
    oracle=_matmul,
    mistakes=(
        Mistake(
            "product-transposed",
            lambda A, B: _matmul(A, B).T,
            "The numbers are right and stand at [j][i] instead of [i][j].",
            "Let the outer loop run over rows of A and the inner one over columns of B.",
        ),
        Mistake(
            "last-product-only",
            _each_pair(lambda row, column: row[-1] * column[-1]),
            "Each entry is one product, the last: it was assigned where it should be added.",
            "Start each entry at 0.0 and use `+=`.",
        ),
        Mistake(
            "first-product-only",
            _each_pair(lambda row, column: row[0] * column[0]),
            "Each entry is one product, the first: the loop returned or stopped too early.",
            "Look at the indentation of what follows the innermost loop.",
        ),
        Mistake(
            "sum-off-by-one",
            _each_pair(lambda row, column: row[:-1] @ column[:-1]),
            "The last product of each sum is missing.",
            "Check the end of the innermost `range`: it stops before its end already.",
        ),
        Mistake(
            "sum-off-by-one",
            _each_pair(lambda row, column: row[1:] @ column[1:]),
            "The first product of each sum is missing.",
            "Check the start of the innermost `range`: the first index is 0.",
        ),
        Mistake(
            "sum-of-sums",
            _each_pair(lambda row, column: (row + column).sum()),
            "Entries of the row and the column are added to each other instead of multiplied.",
            "Multiply pairs, then add up the products.",
        ),
        Mistake(
            "product-of-sums",
            _each_pair(lambda row, column: row.sum() * column.sum()),
            "The sum of the row is multiplied by the sum of the column: every entry of one meets "
            "every entry of the other.",
            "Pair entry k of the row with entry k of the column alone.",
        ),
        Mistake(
            "mean-of-products",
            _each_pair(lambda row, column: (row * column).mean()),
            "Each sum is divided by its number of terms.",
            "Leave out the division.",
        ),
        Mistake(
            "sum-not-reset",
            lambda A, B: np.cumsum(_matmul(A, B), axis=1),
            "Each entry contains the entries before it in its row: the sum does not start again.",
            NOT_RESET,
        ),
        Mistake(
            "sum-not-reset",
            lambda A, B: np.cumsum(_matmul(A, B)).reshape(len(A), len(B[0])),
            "Each entry contains all entries before it: the sum never starts again.",
            NOT_RESET,
        ),
        Mistake(
            "shared-rows",
            lambda A, B: np.broadcast_to(_matmul(A, B).sum(0), (len(A), len(B[0]))),
            *SHARED_ROWS,
        ),
        Mistake(
            "shared-rows",
            lambda A, B: np.broadcast_to(_matmul(A, B)[-1], (len(A), len(B[0]))),
            *SHARED_ROWS,
        ),
    ),
)


# transpose -----------------------------------------------------------------------------------


def _transpose_cases(rng: np.random.Generator) -> Iterator[Case]:
    yield Case("values", (random_list(rng, 5, 3),))
    yield Case("values", (random_list(rng, 2, 7),))
    yield Case("values", (random_list(rng, 1, 4),), note="there is one row")
    yield Case("values", (random_list(rng, 4, 1),), note="there is one column")
    ragged = random_list(rng, 3, 4)
    ragged[1] = ragged[1][:-1]
    yield Case("refuses", (ragged,), raises="ValueError", note="the second row is shorter")
    longer = random_list(rng, 3, 4)
    longer[2] = longer[2] + [0.5]
    yield Case("refuses", (longer,), raises="ValueError", note="the last row is longer")


TRANSPOSE = Exercise(
    name="transpose",
    lesson=LESSON.slug,
    stage=LESSON.stage,
    signature="(A) -> list[list[float]]",
    axes=("n m",),
    read="Rows times columns",
    returns=(Slot("transposed", "list", "M N"),),
    groups=(
        Group("values", "equals torch's A.T", 0.5, core=True),
        Group("refuses", "raises ValueError when rows differ in length", 0.25),
        unchanged(0.25),
    ),
    cases=_transpose_cases,
    oracle=lambda A: tensor(A).T.numpy(),
    mistakes=(
        Mistake(
            "not-transposed",
            lambda A: np.array(A),
            "This is A as it was: row i is still row i.",
            "Entry [i][j] of A belongs at [j][i].",
        ),
        Mistake(
            "rows-reversed",
            lambda A: np.array(A)[::-1],
            "The rows are in reverse order, and are still rows.",
            "Entry [i][j] of A belongs at [j][i]; nothing is reversed.",
        ),
        Mistake(
            "columns-reversed",
            lambda A: np.array(A)[:, ::-1],
            "Each row is reversed, and is still a row.",
            "Entry [i][j] of A belongs at [j][i]; nothing is reversed.",
        ),
        Mistake(
            "turned-not-transposed",
            lambda A: np.rot90(A),
            "The matrix is turned by 90 degrees against the clock: its columns come last first.",
            "Take the columns from first to last.",
        ),
        Mistake(
            "turned-not-transposed",
            lambda A: np.rot90(A, -1),
            "The matrix is turned by 90 degrees with the clock: each column is upside down.",
            "Take each column from top to bottom.",
        ),
        Mistake(
            "other-diagonal",
            lambda A: np.array(A)[::-1, ::-1].T,
            "The matrix is mirrored at its other diagonal: rows became columns, last ones first.",
            "Entry [i][j] of A belongs at [j][i], counted from 0 in both.",
        ),
        Mistake(
            "reshaped-not-transposed",
            lambda A: np.array(A).reshape(len(A[0]), len(A)),
            "The shape is right, but the entries were refilled in reading order.",
            "Entry [i][j] of A belongs at [j][i].",
        ),
        Mistake(
            "shared-rows",
            lambda A: np.broadcast_to(np.array(A)[:, -1], (len(A[0]), len(A))),
            *SHARED_ROWS,
        ),
        Mistake(
            "negated",
            lambda A: -np.array(A).T,
            "Every sign is turned round.",
            "Copy the entries as they are.",
        ),
    ),
)


# softmax_rows --------------------------------------------------------------------------------


def _softmax_rows_cases(rng: np.random.Generator) -> Iterator[Case]:
    yield Case("values", (random_list(rng, 5, 7),))
    yield Case("values", (random_list(rng, 3, 2, std=3.0),))
    yield Case("values", (random_list(rng, 4, 1),), note="each row has one score")
    near = [[shift + score for score in random_list(rng, 3)] for shift in (1e4, -1e4, 0.0, 5e3)]
    yield Case("large", (near,), note="rows are near 10,000, -10,000, 0 and 5,000")
    blocked = random_list(rng, 4, 3)
    blocked[0][1] = blocked[1][0] = blocked[1][2] = blocked[3][2] = MINUS_INFINITY
    yield Case("blocked", (blocked,), note="some scores are -inf", exact_zeros=True)


def _rows_of(weigh: Callable[..., np.ndarray]) -> Callable[..., Any]:
    return lambda S: weigh(np.array(S, dtype=float))


def _one_maximum(S: Matrix) -> np.ndarray:
    raised = np.exp(np.array(S, dtype=float) - np.max(S))
    if (raised.sum(-1) == 0).any():
        raise ZeroDivisionError
    return over_sum(raised)


def _shifted(S: np.ndarray) -> np.ndarray:
    return np.exp(S - S.max(-1, keepdims=True))


SOFTMAX_ROWS = Exercise(
    name="softmax_rows",
    lesson=LESSON.slug,
    stage=LESSON.stage,
    signature="(S) -> list[list[float]]",
    axes=("n m",),
    read="Scores become weights, row by row",
    returns=(Slot("weights", "list", "N M"),),
    groups=(
        Group("values", "equals torch.softmax over the last axis", 0.5, core=True),
        Group("large", "is stable at ±10,000, row by row", 0.125),
        Group("blocked", "gives exactly 0 to a score of -inf", 0.125),
        unchanged(0.25),
    ),
    cases=_softmax_rows_cases,
    oracle=lambda S: softmax(np.array(S, dtype=float)),
    mistakes=(
        *mistakes_in_softmax(_rows_of),
        Mistake("softmax-over-queries", _rows_of(lambda S: softmax(S, 0)), *OVER_QUERIES),
        Mistake(
            "softmax-over-everything",
            _rows_of(lambda S: softmax(S.ravel()).reshape(S.shape)),
            "All entries together add up to 1. Each row should, on its own.",
            "Let the sum that you divide by start again at 0 for every row.",
        ),
        Mistake(
            "one-maximum-for-all-rows",
            _one_maximum,
            "The maximum of the whole matrix is subtracted, so that a row far below it turns into "
            "zeros that are then divided by their sum, 0.",
            "Subtract each row's own maximum.",
        ),
        Mistake(
            "sum-not-reset",
            lambda S: np.exp(S) / np.cumsum(np.exp(S).sum(-1))[:, None],
            "Each row is divided by its own sum and those of the rows before it: the sum does not "
            "start again.",
            NOT_RESET,
        ),
        Mistake(
            "sum-not-reset",
            _rows_of(lambda S: _shifted(S) / np.cumsum(_shifted(S).sum(-1))[:, None]),
            "Each row is divided by its own sum and those of the rows before it: the sum does not "
            "start again.",
            NOT_RESET,
        ),
        Mistake("shared-rows", _rows_of(lambda S: softmax(S[[-1] * len(S)])), *SHARED_ROWS),
        Mistake("scores-clipped", _rows_of(lambda S: softmax(np.clip(S, -100, 100))), *CLIPPED),
        Mistake(
            "unstable-softmax",
            lambda S: [python_softmax(row) for row in S],
            UNSTABLE_REASON,
            UNSTABLE_REMEDY,
        ),
        Mistake("unstable-softmax", python_softmax_rows, UNSTABLE_REASON, UNSTABLE_REMEDY),
    ),
    properties=(
        Property("weights are numbers, none below 0", lambda args, w: bool((w >= 0).all())),
        Property("each row adds up to 1", lambda args, w: bool((abs(w.sum(-1) - 1) < 1e-6).all())),
    ),
)


# attention_weights ---------------------------------------------------------------------------


def _weights_cases(rng: np.random.Generator) -> Iterator[Case]:
    for n, m, d_k in ((5, 7, 4), (3, 2, 6)):
        yield Case("values", (random_list(rng, n, d_k), random_list(rng, m, d_k)))
    yield Case(
        "values", (random_list(rng, 1, 3), random_list(rng, 2, 3)), note="there is one query"
    )
    large = random_list(rng, 3, 2, std=90.0), random_list(rng, 5, 2, std=90.0)
    yield Case("large", large, note="scores are in the thousands")
    for wide in (3, 5):
        args = random_list(rng, 2, 4), random_list(rng, 6, wide)
        note = f"queries are 4 wide and keys {wide}"
        yield Case("refuses", args, raises="ValueError", note=note)


def _weigh(
    weigh: Weigh = softmax, score: Callable[..., np.ndarray] = scaled_right
) -> Callable[..., Any]:
    """attention_weights with one of its parts exchanged."""
    return lambda Q, K: weigh(score(np.array(Q), np.array(K)))


def _unit(vectors: np.ndarray) -> np.ndarray:
    return vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)


ATTENTION_WEIGHTS = Exercise(
    name="attention_weights",
    lesson=LESSON.slug,
    stage=LESSON.stage,
    signature="(Q, K) -> A",
    axes=("n k", "m k"),
    read="The formula, factor by factor",
    returns=(Slot("weights", "list", "N M"),),
    groups=(
        Group(
            "values", "equals the weights inside F.scaled_dot_product_attention", 1.25, core=True
        ),
        Group("large", "stays right when scores are in the thousands", 0.25),
        Group("refuses", "raises ValueError when queries and keys differ in width", 0.25),
        unchanged(0.25),
    ),
    cases=_weights_cases,
    oracle=weights,
    mistakes=(
        *mistakes_in_softmax(lambda weigh: _weigh(weigh=weigh)),
        *mistakes_in_scale(lambda score: _weigh(score=score)),
        Mistake("softmax-over-queries", _weigh(weigh=lambda S: softmax(S, 0)), *OVER_QUERIES),
        Mistake(
            "swapped-q-k",
            lambda Q, K: weights(K, Q),
            "Queries and keys have changed places: this is how keys would attend to queries.",
            "Row i belongs to query i, so the outer loop runs over Q.",
        ),
        Mistake(
            "queries-with-queries",
            lambda Q, K: weights(Q, Q),
            "Queries are compared with queries: K was not used.",
            "Score each query against each key.",
        ),
        Mistake(
            "weights-transposed",
            lambda Q, K: weights(Q, K).T,
            "The weights are right and stand at [key][query].",
            "Row i belongs to query i: return them untransposed.",
        ),
        Mistake(
            "softmax-over-everything",
            _weigh(weigh=lambda S: softmax(S.ravel()).reshape(S.shape)),
            "All entries together add up to 1. Each row should, on its own.",
            "Take softmax of one row at a time.",
        ),
        Mistake(
            "no-softmax",
            _weigh(weigh=lambda S: S),
            "These are the scaled scores. Softmax is missing, so they are not weights yet.",
            "Pass the scores through `softmax_rows`.",
        ),
        Mistake(
            "softmax-twice",
            _weigh(weigh=lambda S: softmax(softmax(S))),
            "Softmax was taken twice, which flattens the weights.",
            "`softmax_rows` turns scores into weights; weights need nothing more.",
        ),
        Mistake(
            "scale-after-softmax",
            lambda Q, K: softmax(np.array(Q) @ np.array(K).T) / len(Q[0]) ** 0.5,
            "The weights are divided by √d_k, not the scores; rows no longer add up to 1.",
            "Divide first, then take softmax.",
        ),
        Mistake(
            "distance-not-dot-product",
            _weigh(
                score=lambda Q, K: (
                    -np.linalg.norm(Q[:, None] - K[None], axis=-1) / Q.shape[-1] ** 0.5
                )
            ),
            "Similarity is measured by (negative) distance instead of the dot product.",
            "Score a pair by the sum of the products of their entries.",
        ),
        Mistake(
            "cosine-not-dot-product",
            _weigh(score=lambda Q, K: (_unit(Q) @ _unit(K).T) / Q.shape[-1] ** 0.5),
            "Queries and keys were brought to length 1 first. That makes cosines of the dot "
            "products, which forget how long a key is.",
            "Leave queries and keys as they are.",
        ),
        Mistake(
            "unstable-softmax",
            _weigh(weigh=lambda S: np.array([python_softmax(row) for row in S.tolist()])),
            UNSTABLE_REASON,
            UNSTABLE_REMEDY,
        ),
        Mistake(
            "unstable-softmax",
            _weigh(weigh=lambda S: np.array(python_softmax_rows(S.tolist()))),
            UNSTABLE_REASON,
            UNSTABLE_REMEDY,
        ),
    ),
    properties=(
        Property("weights are numbers, none below 0", lambda args, w: bool((w >= 0).all())),
        Property("each row adds up to 1", lambda args, w: bool((abs(w.sum(-1) - 1) < 1e-6).all())),
    ),
)


# self_attention ------------------------------------------------------------------------------


def _self_cases(rng: np.random.Generator) -> Iterator[Case]:
    def sentence(n: int, d: int, d_k: int, d_v: int, std: float = 1.0) -> tuple[Any, ...]:
        X = random_list(rng, n, d, std=std)
        return X, *(random_list(rng, d, width) for width in (d_k, d_k, d_v))

    yield Case("values", sentence(5, 6, 4, 3))
    yield Case("values", sentence(3, 4, 2, 5))
    yield Case("single", sentence(1, 3, 4, 2), note="there is one token")
    yield Case("large", sentence(3, 4, 2, 5, std=60.0), note="scores are in the thousands")
    X, W_q, W_k, W_v = sentence(5, 6, 4, 3)
    narrow = [row[:-1] for row in X]
    note = "X is (5, 5) and the matrices have 6 rows"
    yield Case("refuses", (narrow, W_q, W_k, W_v), raises="ValueError", note=note)
    note = "W_q is (6, 4) and W_k is (6, 3)"
    thin = [row[:-1] for row in W_k]
    yield Case("refuses", (X, W_q, thin, W_v), raises="ValueError", note=note)


def _attend(
    weigh: Weigh = softmax,
    score: Callable[..., np.ndarray] = scaled_right,
    mix: Callable[..., np.ndarray] = lambda A, Q, K, V, X: A @ V,
) -> Callable[..., Any]:
    """self_attention with one of its parts exchanged."""

    def block(X: Matrix, W_q: Matrix, W_k: Matrix, W_v: Matrix) -> Any:
        Q, K, V = (np.array(X) @ np.array(W) for W in (W_q, W_k, W_v))
        A = weigh(score(Q, K))
        return mix(A, Q, K, V, np.array(X)), A

    return block


def _self_oracle(X: Matrix, W_q: Matrix, W_k: Matrix, W_v: Matrix) -> Any:
    Q, K, V = (tensor(X) @ tensor(W) for W in (W_q, W_k, W_v))
    return attend(Q, K, V), weights(Q, K)


def _swapped(*args: Matrix) -> Any:
    Z, A = _self_oracle(*args)
    return A, Z


def _scale_by_width_of_x(X: Matrix, W_q: Matrix, W_k: Matrix, W_v: Matrix) -> Any:
    return _attend(score=scaled(len(X[0]) ** -0.5))(X, W_q, W_k, W_v)


SELF_ATTENTION = Exercise(
    name="self_attention",
    lesson=LESSON.slug,
    stage=LESSON.stage,
    signature="(X, W_q, W_k, W_v) -> (Z, A)",
    axes=("n d", "d k", "d k", "d v"),
    read="The formula, factor by factor",
    returns=(Slot("Z", "list", "N d_v"), Slot("A", "list", "N N")),
    groups=(
        Group("values", "equals F.scaled_dot_product_attention", 1.75, core=True),
        Group("single", "works for one token", 0.25),
        Group("large", "stays right when scores are in the thousands", 0.25),
        Group("refuses", "raises ValueError for matrices that do not fit", 0.5),
        unchanged(0.25),
    ),
    cases=_self_cases,
    oracle=_self_oracle,
    mistakes=(
        *mistakes_in_softmax(lambda weigh: _attend(weigh=weigh)),
        *mistakes_in_scale(lambda score: _attend(score=score))[:-1],  # N is M here
        Mistake(
            "scale-by-sqrt-d",
            _scale_by_width_of_x,
            "The scores are divided by √d, the width of X. They are dot products of queries and "
            "keys, which are d_k wide.",
            "Take d_k from the width of a query, `len(Q[0])`.",
        ),
        Mistake("softmax-over-queries", _attend(weigh=lambda S: softmax(S, 0)), *OVER_QUERIES),
        Mistake(
            "swapped-q-k",
            lambda X, W_q, W_k, W_v: _self_oracle(X, W_k, W_q, W_v),
            "W_q and W_k have changed places: each token asks with its key.",
            "Q = X W_q and K = X W_k, in this order into `attention_weights(Q, K)`.",
        ),
        Mistake(
            "keys-from-w-q",
            lambda X, W_q, W_k, W_v: _self_oracle(X, W_q, W_q, W_v),
            "Keys are made with W_q. With one matrix for two roles, a token is drawn to itself.",
            "K = X W_k.",
        ),
        Mistake(
            "queries-from-w-k",
            lambda X, W_q, W_k, W_v: _self_oracle(X, W_k, W_k, W_v),
            "Queries are made with W_k. With one matrix for two roles, a token is drawn to itself.",
            "Q = X W_q.",
        ),
        Mistake(
            "keys-as-values",
            _attend(mix=lambda A, Q, K, V, X: A @ K),
            "Z is an average of the keys. Keys decide the weights; values are what is averaged.",
            "Z = A V.",
        ),
        Mistake(
            "queries-as-values",
            _attend(mix=lambda A, Q, K, V, X: A @ Q),
            "Z is an average of the queries. Queries decide the weights; values are what is "
            "averaged.",
            "Z = A V.",
        ),
        Mistake(
            "nothing-projected",
            lambda X, W_q, W_k, W_v: (attend(X, X, X), weights(X, X)),
            "X is its own queries, keys and values: the matrices were not used.",
            "Q = X W_q, K = X W_k and V = X W_v come first.",
        ),
        Mistake(
            "values-not-projected",
            _attend(mix=lambda A, Q, K, V, X: A @ X),
            "Z is an average of the tokens themselves: W_v was not used.",
            "V = X W_v, then Z = A V.",
        ),
        Mistake(
            "values-unweighted",
            _attend(mix=lambda A, Q, K, V, X: V),
            "Z is V as it is: the weights were not used.",
            "Z = A V.",
        ),
        Mistake(
            "values-unweighted",
            _attend(mix=lambda A, Q, K, V, X: np.broadcast_to(V.sum(0), V.shape)),
            "Each row of Z is the sum of all values: the weights were not used.",
            "Z = A V.",
        ),
        Mistake(
            "weights-transposed",
            _attend(mix=lambda A, Q, K, V, X: A.T @ V),
            "The weights are used by columns: row i of Z is mixed by how much others attend to i.",
            "Row i of Z is mixed by row i of A.",
        ),
        Mistake(
            "no-softmax",
            _attend(weigh=lambda S: S),
            "The weights are the scaled scores: softmax is missing.",
            "Pass the scores through `softmax_rows`.",
        ),
        Mistake(
            "softmax-twice",
            _attend(weigh=lambda S: softmax(softmax(S))),
            "Softmax was taken twice, which flattens the weights.",
            "`attention_weights` ends with softmax already.",
        ),
        Mistake(
            "scale-after-softmax",
            lambda X, W_q, W_k, W_v: tuple(
                part / len(W_k[0]) ** 0.5 for part in _attend(score=scaled(1.0))(X, W_q, W_k, W_v)
            ),
            "The weights are divided by √d_k, not the scores; rows no longer add up to 1.",
            "Divide first, then take softmax.",
        ),
        Mistake(
            "mean-of-weighted-values",
            _attend(mix=lambda A, Q, K, V, X: A @ V / len(X)),
            "Z is divided by the number of tokens. Each row of weights adds up to 1 already, so "
            "the sum is the average.",
            "Leave out the division.",
        ),
        Mistake(
            "unstable-softmax",
            _attend(weigh=lambda S: np.array([python_softmax(row) for row in S.tolist()])),
            UNSTABLE_REASON,
            UNSTABLE_REMEDY,
        ),
        Mistake(
            "unstable-softmax",
            _attend(weigh=lambda S: np.array(python_softmax_rows(S.tolist()))),
            UNSTABLE_REASON,
            UNSTABLE_REMEDY,
        ),
        Mistake(
            "swapped-results",
            _swapped,
            "Both results are right and stand in the wrong order.",
            "Return `Z, A`.",
        ),
    ),
    properties=(
        Property("weights are numbers, none below 0", lambda args, Z, A: bool((A >= 0).all())),
        Property(
            "each row of A adds up to 1", lambda args, Z, A: bool((abs(A.sum(-1) - 1) < 1e-6).all())
        ),
    ),
)

EXERCISES = (MATMUL, TRANSPOSE, SOFTMAX_ROWS, ATTENTION_WEIGHTS, SELF_ATTENTION)
