"""Lesson 02's exercises: self-attention from lists of floats, one function at a time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from attnlab.checks.attention import Attention, Parts
from attnlab.checks.exercise import Exercise, Slot, promises
from attnlab.checks.recipe import Recipe
from attnlab.checks.reference import softmax, tensor
from attnlab.lessons.pure_python.adjective import POINT_TO_ADJECTIVE

Matrix = Any  # nested lists from a case, (rows, columns)


# matmul and transpose -----------------------------------------------------------------------------


def _matmul(A: Matrix, B: Matrix) -> np.ndarray:
    return (tensor(A) @ tensor(B)).numpy()


def _each_pair(combine: Callable[[np.ndarray, np.ndarray], float]) -> Callable[..., np.ndarray]:
    """A product that combines row i of A and column j of B in some other way."""

    def product(A: Matrix, B: Matrix) -> np.ndarray:
        columns = np.array(B).T
        return np.array([[combine(row, column) for column in columns] for row in np.array(A)])

    return product


def _first_of(rows: int | None, columns: int | None) -> Callable[..., np.ndarray]:
    """A product of which only the first entries were reached, and the others are still 0."""

    def product(A: Matrix, B: Matrix) -> np.ndarray:
        reached = np.zeros((len(A), len(B[0])))
        reached[:rows, :columns] = _matmul(A, B)[:rows, :columns]
        return reached

    return product


def _alike(row: np.ndarray, rows: int) -> np.ndarray:
    return np.broadcast_to(row, (rows, len(row)))


MATMUL = Exercise(
    name="matmul",
    signature="(A, B) -> list[list[float]]",
    axes=("n k", "k m"),
    read="Rows times columns",
    returns=(Slot("product", "list", "N M"),),
    claims=promises("equals the product of the two matrices", 0.5, refuses=0.25, unchanged=0.25),
    oracle=_matmul,
    mistakes={
        "product-transposed": lambda A, B: _matmul(A, B).T,
        "last-product-only": _each_pair(lambda row, column: row[-1] * column[-1]),
        "first-product-only": _each_pair(lambda row, column: row[0] * column[0]),
        "returned-too-early": (_first_of(1, 1), _first_of(1, None)),
        "sum-off-by-one": (
            _each_pair(lambda row, column: row[:-1] @ column[:-1]),
            _each_pair(lambda row, column: row[1:] @ column[1:]),
        ),
        "sum-of-sums": _each_pair(lambda row, column: (row + column).sum()),
        "product-of-sums": _each_pair(lambda row, column: row.sum() * column.sum()),
        "mean-of-products": _each_pair(lambda row, column: (row * column).mean()),
        "sum-not-reset": (
            lambda A, B: np.cumsum(_matmul(A, B), axis=1),
            lambda A, B: np.cumsum(_matmul(A, B)).reshape(len(A), len(B[0])),
        ),
        "rows-all-alike": (
            lambda A, B: _alike(_matmul(A, B).sum(0), len(A)),
            lambda A, B: _alike(_matmul(A, B)[-1], len(A)),
        ),
        "rows-times-rows": lambda A, B: [
            [sum(a * b for a, b in zip(row, other, strict=False)) for other in B] for row in A
        ],
        "entry-by-entry": lambda A, B: [
            [a * b for a, b in zip(row, other, strict=False)]
            for row, other in zip(A, B, strict=False)
        ],
    },
)

TRANSPOSE = Exercise(
    name="transpose",
    signature="(A) -> list[list[float]]",
    axes=("n m",),
    read="Rows times columns",
    returns=(Slot("transposed", "list", "M N"),),
    claims=promises("puts what stood at [i][j] at [j][i]", 0.5, ragged=0.25, unchanged=0.25),
    oracle=lambda A: tensor(A).T,
    mistakes={
        "not-transposed": lambda A: tensor(A),
        "rows-reversed": lambda A: tensor(A).flip(0),
        "columns-reversed": lambda A: tensor(A).flip(1),
        "turned-not-transposed": (lambda A: tensor(A).rot90(), lambda A: tensor(A).rot90(-1)),
        "other-diagonal": lambda A: tensor(A).flip(0, 1).T,
        "reshaped-not-transposed": lambda A: tensor(A).reshape(len(A[0]), len(A)),
        "rows-all-alike": lambda A: _alike(np.array(A)[:, -1], len(A[0])),
        "negated": lambda A: -tensor(A).T,
    },
)


# attention ----------------------------------------------------------------------------------------


def _running(powers: np.ndarray) -> np.ndarray:
    """Each row divided by its own sum and those of the rows before it."""
    return powers / np.cumsum(powers.sum(-1))[:, None]


SOFTMAX_ROWS = Exercise(
    name="softmax_rows",
    signature="(S) -> list[list[float]]",
    axes=("n m",),
    read="Scores become weights, row by row",
    returns=(Slot("weights", "list", "N M"),),
    claims=promises("equals softmax of each row", 0.5, large=0.25, unchanged=0.25),
    scores="S",
    oracle=softmax,
    mistakes={
        "sum-not-reset": (
            lambda S: _running(np.exp(S)),
            lambda S: _running(np.exp(S - np.max(S, axis=-1, keepdims=True))),
        ),
        "rows-all-alike": lambda S: softmax([S[-1]] * len(S)),
    },
)

OF_THE_EXAMPLE = Recipe(scale=lambda at: 3**-0.5)
WEIGHTS = Attention(lambda Q, K: Parts(Q, K), lambda out, weights, Q, K: weights)
ATTENTION_WEIGHTS = Exercise(
    name="attention_weights",
    signature="(Q, K) -> A",
    axes=("n k", "m k"),
    read="The formula, factor by factor",
    returns=(Slot("weights", "list", "N M"),),
    claims=promises(
        "equals softmax(Q Kᵀ / √d_k), row by row", 1.25, large=0.25, refuses=0.25, unchanged=0.25
    ),
    attention=WEIGHTS,
    mistakes={
        "scale-of-the-example": WEIGHTS.answer(OF_THE_EXAMPLE),
        "weights-transposed": lambda Q, K: WEIGHTS.oracle(Q, K).mT,
    },
)


def _projected(X: Matrix, W_q: Matrix, W_k: Matrix, W_v: Matrix) -> Parts:
    x = tensor(X)
    return Parts(x @ tensor(W_q), x @ tensor(W_k), x @ tensor(W_v), x)


BLOCK = Attention(_projected)
SELF_ATTENTION = Exercise(
    name="self_attention",
    signature="(X, W_q, W_k, W_v) -> (Z, A)",
    axes=("n d", "d k", "d k", "d v"),
    read="The formula, factor by factor",
    returns=(Slot("Z", "list", "N d_v"), Slot("A", "list", "N N")),
    claims=promises(
        "equals softmax(Q Kᵀ / √d_k) and its average of the values",
        1.75,
        shapes=0.25,
        large=0.25,
        refuses=0.5,
        unchanged=0.25,
    ),
    attention=BLOCK,
    mistakes={"scale-of-the-example": BLOCK.answer(OF_THE_EXAMPLE)},
)

EXERCISES = (
    MATMUL,
    TRANSPOSE,
    SOFTMAX_ROWS,
    ATTENTION_WEIGHTS,
    SELF_ATTENTION,
    POINT_TO_ADJECTIVE,
)
