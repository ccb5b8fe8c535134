"""Lesson 02's exercises: self-attention from lists of floats, one function at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from attnlab.checks import in_attention, in_softmax
from attnlab.checks.exercise import Case, Exercise, Group, Mistake, Property, Slot, unchanged
from attnlab.checks.inputs import (
    EQUAL,
    SECOND,
    far_rows,
    high_row,
    holes,
    low_rows,
    near_rows,
    one_size,
    ones_in_turn,
    opposed,
    ragged,
    random_list,
    rounded,
    sizes,
    tied_rows,
)
from attnlab.checks.recipe import Part, Recipe, Variation, mistakes_in
from attnlab.checks.reference import attend, softmax, tensor, weights
from attnlab.lessons.pure_python import LESSON
from attnlab.lessons.pure_python.adjective import POINT_TO_ADJECTIVE

Matrix = Any  # nested lists from a case, (rows, columns)

SHARED_ROWS = (
    "All rows came out like the last. Either they are one list, as in `[[0] * n] * m`, and each "
    "write lands in all; or the row's own index is not in the sum.",
    "Make a new list for every row, `[[0.0] * n for _ in range(m)]`, and use that row's numbers.",
)
NOT_RESET = "Put the line that sets it to 0 inside the loop, just before the sum that it is for."
SCALE_OF_THE_EXAMPLE: Part = (
    Variation(
        "scale-of-the-example",
        "The scores are divided by √3 whatever their queries are. On paper they were 3 wide; these "
        "are not.",
        "Take d_k from the input: it is how long a query is.",
        ways=({"scale": lambda at: 3**-0.5},),
    ),
)


# matmul --------------------------------------------------------------------------------------


def _matmul_cases(rng: np.random.Generator) -> Iterator[Case]:
    def pair(n: int, inner: int, m: int) -> tuple[Matrix, Matrix]:
        return random_list(rng, n, inner), random_list(rng, inner, m)

    yield Case("values", pair(*sizes(rng, 3)))
    yield Case("values", pair(*sizes(rng, 3)))
    n, inner, m = sizes(rng, 3)
    ints = rng.integers(-4, 5, (n, inner)).tolist(), rng.integers(-4, 5, (inner, m)).tolist()
    yield Case("values", ints, note="entries are ints")
    yield Case("values", pair(*one_size(rng, 3)), note=EQUAL)
    earlier, (A, B) = pair(n, inner, m), pair(n, inner, m)
    yield Case("values", (A, B), earlier=earlier, note=SECOND)
    A = [[0.0] * inner, *A[1:]]
    yield Case("values", (A, B), note="a row of A is 0")
    for one in ones_in_turn(rng, 3):
        yield Case("values", pair(*one), note="one of the sizes is 1")
    n, inner, m = sizes(rng, 3, 3)
    for rows_of_b in (inner - 1, inner + 1):
        args = random_list(rng, n, inner), random_list(rng, rows_of_b, m)
        note = f"A is ({n}, {inner}) and B is ({rows_of_b}, {m})"
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
        Group("values", "equals the product of the two matrices", 0.5, core=True),
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
            "Check the end of the innermost `range`, which itself leaves its end out.",
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
            "rows-all-alike",
            lambda A, B: np.broadcast_to(_matmul(A, B).sum(0), (len(A), len(B[0]))),
            *SHARED_ROWS,
        ),
        Mistake(
            "rows-all-alike",
            lambda A, B: np.broadcast_to(_matmul(A, B)[-1], (len(A), len(B[0]))),
            *SHARED_ROWS,
        ),
    ),
)


# transpose -----------------------------------------------------------------------------------


def _transpose_cases(rng: np.random.Generator) -> Iterator[Case]:
    yield Case("values", (random_list(rng, *sizes(rng, 2)),))
    yield Case("values", (rng.normal(size=sizes(rng, 2)).tolist(),))
    yield Case("values", (random_list(rng, *one_size(rng, 2)),), note="A is square")
    n, m = sizes(rng, 2, 3)
    earlier, A = (random_list(rng, n, m) for _ in range(2))
    yield Case("values", (A,), earlier=(earlier,), note=SECOND)
    yield Case("values", ([[*row, row[0]] for row in A],), note="two columns are equal")
    yield Case("values", ([*A, A[0]],), note="two rows are equal")
    for one in ones_in_turn(rng, 2):
        yield Case("values", (random_list(rng, *one),), note="one of the sizes is 1")
    yield Case("values", (random_list(rng, 1, 1),), note="there is one number")
    for wrong, note in ragged(rng, random_list(rng, *sizes(rng, 2, 3))):
        yield Case("refuses", (wrong,), raises="ValueError", note=note)


TRANSPOSE = Exercise(
    name="transpose",
    lesson=LESSON.slug,
    stage=LESSON.stage,
    signature="(A) -> list[list[float]]",
    axes=("n m",),
    read="Rows times columns",
    returns=(Slot("transposed", "list", "M N"),),
    groups=(
        Group("values", "puts what stood at [i][j] at [j][i]", 0.5, core=True),
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
            "rows-all-alike",
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
    n, m = sizes(rng, 2, 4)
    yield Case("values", (random_list(rng, n, m),))
    yield Case("values", (rng.normal(0, 3, sizes(rng, 2)).tolist(),))
    for one in ones_in_turn(rng, 2):
        yield Case("values", (random_list(rng, *one),), note="one of the sizes is 1")
    yield Case("values", (rounded(tied_rows(rng, m)),), note="some scores are equal")
    yield Case("values", (random_list(rng, *one_size(rng, 2)),), note=EQUAL)
    earlier, S = (random_list(rng, n, m) for _ in range(2))
    yield Case("values", (S,), earlier=(earlier,), note=SECOND)
    note = "rows are near 10,000, -10,000, 0 and 5,000"
    yield Case("large", (rounded(near_rows(rng, n)),), note=note)
    yield Case("large", (rounded(far_rows(rng, m)),), note="scores are thousands apart")
    yield Case("large", (rounded(high_row(rng, m)),), note="the smallest is the farthest from 0")
    note = "some scores are -inf, the others far below 0"
    yield Case("large", (rounded(low_rows(rng, m)),), note=note, exact_zeros=True)
    low = [[score - 1e4 for score in row] for row in random_list(rng, n, m)]
    yield Case("large", (low,), note="all rows are near -10,000")
    for group, rows in (("large", far_rows(rng, m)), ("blocked", rng.normal(size=(3, m)))):
        blocked = rounded(np.where(holes(rng, 3, m), rows, -np.inf))
        yield Case(group, (blocked,), note="some scores are -inf", exact_zeros=True)


def _shifted(S: Matrix) -> np.ndarray:
    return np.exp(S - np.max(S, axis=-1, keepdims=True))


SOFTMAX_ROWS = Exercise(
    name="softmax_rows",
    lesson=LESSON.slug,
    stage=LESSON.stage,
    signature="(S) -> list[list[float]]",
    axes=("n m",),
    read="Scores become weights, row by row",
    returns=(Slot("weights", "list", "N M"),),
    groups=(
        Group("values", "equals softmax of each row", 0.5, core=True),
        Group("large", "is stable at ±10,000, row by row", 0.125, needs=("blocked",)),
        Group("blocked", "gives exactly 0 to a score of -inf", 0.125),
        unchanged(0.25),
    ),
    cases=_softmax_rows_cases,
    oracle=lambda S: softmax(np.array(S, dtype=float)),
    mistakes=(
        *mistakes_in(
            lambda recipe: recipe.softmax,
            in_softmax.SOFTMAX,
            in_softmax.ROWS,
            in_softmax.LARGE_IN_PYTHON,
            in_softmax.MAXIMA_IN_PYTHON,
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
            lambda S: _shifted(S) / np.cumsum(_shifted(S).sum(-1))[:, None],
            "Each row is divided by its own sum and those of the rows before it: the sum does not "
            "start again.",
            NOT_RESET,
        ),
        Mistake("rows-all-alike", lambda S: softmax([S[-1]] * len(S)), *SHARED_ROWS),
    ),
    properties=(
        Property("weights are numbers, none below 0", lambda args, w: bool((w >= 0).all())),
        Property("each row adds up to 1", lambda args, w: bool((abs(w.sum(-1) - 1) < 1e-6).all())),
    ),
)


# attention_weights ---------------------------------------------------------------------------


def _weights_cases(rng: np.random.Generator) -> Iterator[Case]:
    def pair(n: int, m: int, d_k: int) -> tuple[Matrix, Matrix]:
        return random_list(rng, n, d_k), random_list(rng, m, d_k)

    n, m, d_k = sizes(rng, 3)
    yield Case("values", pair(n, m, d_k))
    yield Case("values", pair(*sizes(rng, 3)))
    yield Case("values", pair(*one_size(rng, 3)), note=EQUAL)
    yield Case("values", pair(n, m, d_k), earlier=pair(n, m, d_k), note=SECOND)
    for one in ones_in_turn(rng, 3):
        yield Case("values", pair(*one), note="one of the sizes is 1")
    n, m, d_k = sizes(rng, 3, 4)
    queries = rounded(opposed(rng.normal(0, 90, (n, d_k))))
    large = queries, random_list(rng, m, d_k, std=90.0)
    yield Case("large", large, note="scores are in the thousands")
    for wide in (d_k - 1, d_k + 1):
        args = random_list(rng, n, d_k), random_list(rng, m, wide)
        note = f"queries are {d_k} wide and keys {wide}"
        yield Case("refuses", args, raises="ValueError", note=note)


ATTENTION_WEIGHTS = Exercise(
    name="attention_weights",
    lesson=LESSON.slug,
    stage=LESSON.stage,
    signature="(Q, K) -> A",
    axes=("n k", "m k"),
    read="The formula, factor by factor",
    returns=(Slot("weights", "list", "N M"),),
    groups=(
        Group("values", "equals softmax(Q Kᵀ / √d_k), row by row", 1.25, core=True),
        Group("large", "stays right when scores are in the thousands", 0.25),
        Group("refuses", "raises ValueError when queries and keys differ in width", 0.25),
        unchanged(0.25),
    ),
    cases=_weights_cases,
    oracle=weights,
    mistakes=(
        *mistakes_in(
            lambda recipe: recipe.weights,
            in_softmax.SOFTMAX,
            in_softmax.NO_SOFTMAX,
            in_softmax.ROWS,
            in_softmax.LARGE_IN_PYTHON,
            in_attention.SCALE,
            SCALE_OF_THE_EXAMPLE,
            in_attention.SCALE_LATE,
            in_attention.SCORES,
            in_attention.RESHAPED,
            in_attention.SWAPPED,
            in_attention.QUERIES_ALONE,
        ),
        Mistake(
            "weights-transposed",
            lambda Q, K: weights(Q, K).T,
            "The weights are right and stand at [key][query].",
            "Row i belongs to query i: return them untransposed.",
        ),
    ),
    properties=(
        Property("weights are numbers, none below 0", lambda args, w: bool((w >= 0).all())),
        Property("each row adds up to 1", lambda args, w: bool((abs(w.sum(-1) - 1) < 1e-6).all())),
    ),
)


# self_attention ------------------------------------------------------------------------------


def _self_cases(rng: np.random.Generator) -> Iterator[Case]:
    def sentence(n: int, d: int, d_k: int, d_v: int) -> list[Matrix]:
        matrices = [random_list(rng, d, width, std=d**-0.5) for width in (d_k, d_k, d_v)]
        return [random_list(rng, n, d), *matrices]

    some = sizes(rng, 4, 3)
    yield Case("values", tuple(sentence(*some)))
    yield Case("values", tuple(sentence(*sizes(rng, 4))))
    yield Case("values", tuple(sentence(*one_size(rng, 4))), note=EQUAL)
    earlier, (X, *matrices) = tuple(sentence(*some)), sentence(*some)
    yield Case("values", (X, *matrices), earlier=earlier, note=SECOND)
    yield Case("values", ([*X, list(X[0])], *matrices), note="two tokens are equal")
    single, *others = ones_in_turn(rng, 4)
    yield Case("single", tuple(sentence(*single)), note="there is one token")
    for one in others:
        yield Case("single", tuple(sentence(*one)), note="one of the sizes is 1")
    X, W_q, W_k, W_v = sentence(*sizes(rng, 4, 4))
    tokens = opposed(np.array(X))
    scores = tokens[0] @ np.array(W_q) @ (tokens @ np.array(W_k)).T
    large = rounded(tokens * np.sqrt(1e4 / abs(scores).max()))
    yield Case("large", (large, W_q, W_k, W_v), note="scores are in the thousands")
    X, *matrices = sentence(*some)
    for change, how in ((lambda row: row[:-1], "narrower"), (lambda row: [*row, 0.5], "wider")):
        wrong = [change(row) for row in X]
        note = f"X is {how} than the matrices have rows"
        yield Case("refuses", (wrong, *matrices), raises="ValueError", note=note)
        thin = [change(row) for row in matrices[1]]
        note = f"W_k is {how} than W_q"
        yield Case("refuses", (X, matrices[0], thin, matrices[2]), raises="ValueError", note=note)
    for place, name in enumerate(("W_q", "W_k", "W_v")):
        matrix = matrices[place]
        for wrong, how in ((matrix[:-1], "few"), ([*matrix, matrix[0]], "many")):
            changed = [*matrices[:place], wrong, *matrices[place + 1 :]]
            note = f"{name} has a row too {how}"
            yield Case("refuses", (X, *changed), raises="ValueError", note=note)


def _attend(recipe: Recipe) -> Callable[..., Any]:
    """self_attention, made from a recipe."""

    def block(X: Matrix, W_q: Matrix, W_k: Matrix, W_v: Matrix) -> Any:
        Q, K, V = (tensor(X) @ tensor(W) for W in (W_q, W_k, W_v))
        return recipe.compute(Q, K, V, X)

    return block


def _self_oracle(X: Matrix, W_q: Matrix, W_k: Matrix, W_v: Matrix) -> Any:
    Q, K, V = (tensor(X) @ tensor(W) for W in (W_q, W_k, W_v))
    return attend(Q, K, V), weights(Q, K)


SELF_ATTENTION = Exercise(
    name="self_attention",
    lesson=LESSON.slug,
    stage=LESSON.stage,
    signature="(X, W_q, W_k, W_v) -> (Z, A)",
    axes=("n d", "d k", "d k", "d v"),
    read="The formula, factor by factor",
    returns=(Slot("Z", "list", "N d_v"), Slot("A", "list", "N N")),
    groups=(
        Group(
            "values", "equals softmax(Q Kᵀ / √d_k) and its average of the values", 1.75, core=True
        ),
        Group("single", "works for one token", 0.25),
        Group("large", "stays right when scores are in the thousands", 0.25),
        Group("refuses", "raises ValueError for matrices that do not fit", 0.5),
        unchanged(0.25),
    ),
    cases=_self_cases,
    oracle=_self_oracle,
    mistakes=mistakes_in(
        _attend,
        in_softmax.SOFTMAX,
        in_softmax.NO_SOFTMAX,
        in_softmax.ROWS,
        in_softmax.LARGE_IN_PYTHON,
        in_attention.SCALE,
        SCALE_OF_THE_EXAMPLE,
        in_attention.SCALE_LATE,
        in_attention.SCALE_BY_INPUT,
        in_attention.SCALE_BY_VALUES,
        in_attention.SCORES,
        in_attention.RESHAPED,
        in_attention.SWAPPED,
        in_attention.PROJECTIONS,
        in_attention.MIX,
        in_attention.RESULTS,
    ),
    properties=(
        Property("weights are numbers, none below 0", lambda args, Z, A: bool((A >= 0).all())),
        Property(
            "each row of A adds up to 1", lambda args, Z, A: bool((abs(A.sum(-1) - 1) < 1e-6).all())
        ),
    ),
)

EXERCISES = (
    MATMUL,
    TRANSPOSE,
    SOFTMAX_ROWS,
    ATTENTION_WEIGHTS,
    SELF_ATTENTION,
    POINT_TO_ADJECTIVE,
)
