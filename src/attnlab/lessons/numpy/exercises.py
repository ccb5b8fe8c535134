"""Lesson 03's exercises: the block in NumPy, its counts, and attention as one big matrix."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import torch

from attnlab.checks import in_attention, in_softmax
from attnlab.checks.exercise import (
    FLOAT32_TOLERANCE,
    Case,
    Exercise,
    Group,
    Mistake,
    Property,
    Slot,
    unchanged,
)
from attnlab.checks.inputs import (
    AFTER_A_MASK,
    EQUAL,
    SECOND,
    TOWERING,
    alike,
    far_rows,
    great_length,
    holes,
    low_rows,
    near_rows,
    one_size,
    ones_in_turn,
    qkv,
    sizes,
    tied_rows,
    towering,
)
from attnlab.checks.recipe import Part, Recipe, Variation, mistakes_in
from attnlab.checks.reference import attend, softmax, tensor, weights
from attnlab.lessons.numpy import LESSON

Arrays = Any  # arrays from a case


# softmax -------------------------------------------------------------------------------------


def _softmax_cases(rng: np.random.Generator) -> Iterator[Case]:
    b, n, m = sizes(rng, 3, 3)
    yield Case("values", (rng.normal(size=(n, m)),))
    yield Case("values", (rng.normal(0, 3, (b, n, m)),), note="scores have three axes")
    yield Case("values", (rng.normal(size=m),), note="scores have one axis")
    for one in ones_in_turn(rng, 2):
        yield Case("values", (rng.normal(size=one),), note="one of the sizes is 1")
    yield Case("values", (tied_rows(rng, m),), note="some scores are equal")
    yield Case("values", (np.zeros((n, m)),), note="all scores are 0")
    yield Case("values", (rng.normal(size=one_size(rng, 2)),), note=EQUAL)
    earlier, scores = rng.normal(size=(2, n, m))
    yield Case("values", (scores,), earlier=(earlier,), note=SECOND)
    yield Case("values", (rng.normal(size=(b, n, m)),), laid="views", note="scores are a view")
    yield Case("axis", (rng.normal(size=(n, m)), 0), note="axis is 0")
    yield Case("axis", (rng.normal(size=(b, n, m)),), {"axis": 1}, note="axis is 1")
    yield Case("axis", (rng.normal(size=(b, n, m)), -3), note="axis is -3")
    note = "axis is 1 of four"
    yield Case("axis", (rng.normal(size=(2, b, n, m)), 1), note=note)
    yield Case("large", (near_rows(rng, m),), note="rows are near 10,000, -10,000, 0 and 5,000")
    yield Case("large", (far_rows(rng, m),), note="scores are thousands apart")
    low = rng.normal(size=(n, m)) - 1e4
    yield Case("large", (low,), note="all scores are near -10,000")
    note = "some scores are -inf, the others far below 0"
    yield Case("large", (low_rows(rng, m),), note=note, exact_zeros=True)
    for rows in (rng.normal(size=(3, m)), far_rows(rng, m)):
        blocked = np.where(holes(rng, 3, m), rows, -np.inf)
        yield Case("large", (blocked,), note="some scores are -inf", exact_zeros=True)


def _summed_along_last_axis(scores: np.ndarray, axis: int = -1) -> np.ndarray:
    powers: np.ndarray = np.exp(scores - scores.max(axis, keepdims=True))
    return powers / powers.sum(-1, keepdims=True)


def _maximum_along_last_axis(scores: Arrays, axis: int = -1) -> np.ndarray:
    raised = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return np.asarray(raised / raised.sum(axis=axis, keepdims=True))


SOFTMAX = Exercise(
    name="softmax",
    lesson=LESSON.slug,
    stage=LESSON.stage,
    signature="(scores, axis=-1) -> ndarray",
    axes=("… m",),
    read="Softmax that does not overflow",
    returns=(Slot("weights", "ndarray", "…"),),
    groups=(
        Group("values", "equals softmax over the last axis", 0.5, core=True),
        Group("axis", "takes any axis", 0.125),
        Group("large", "is stable at ±10,000 and exactly 0 at -inf", 0.25),
        unchanged(0.125),
    ),
    cases=_softmax_cases,
    oracle=softmax,
    mistakes=(
        *mistakes_in(
            lambda recipe: recipe.softmax,
            in_softmax.SOFTMAX,
            in_softmax.ROWS,
            in_softmax.BATCH,
            in_softmax.LARGE,
            in_softmax.MAXIMA,
        ),
        Mistake(
            "axis-ignored",
            lambda scores, axis=-1: softmax(scores),
            "Softmax ran over the last axis, whatever `axis` says.",
            "Pass `axis` on to `max` and `sum`.",
        ),
        Mistake(
            "axis-ignored",
            _summed_along_last_axis,
            "The maximum is taken along `axis`, and the sum over the last axis.",
            "Pass `axis` on to `sum` as well.",
        ),
        Mistake(
            "maximum-along-last-axis",
            _maximum_along_last_axis,
            "The maximum is taken along the last axis and the sum along `axis`. What is subtracted "
            "cancels only if it is the same for all that are summed.",
            "Pass `axis` on to `max` as well as to `sum`.",
        ),
    ),
    properties=(
        Property("weights are numbers, none below 0", lambda args, w: bool((w >= 0).all())),
    ),
)


# project -------------------------------------------------------------------------------------


def _project_cases(rng: np.random.Generator) -> Iterator[Case]:
    def pair(*leading: int, among: tuple[int, ...] = ()) -> tuple[np.ndarray, np.ndarray]:
        n, d, k = among or sizes(rng, 3)
        return rng.normal(size=(*leading, n, d)), rng.normal(size=(d, k))

    yield Case("plain", pair())
    yield Case("plain", (*pair(), None), note="b is None")
    for one in ones_in_turn(rng, 3):
        yield Case("plain", pair(among=one), note="one of the sizes is 1")
    yield Case("plain", pair(among=one_size(rng, 3)), note=EQUAL)
    among = sizes(rng, 3)
    yield Case("plain", pair(among=among), earlier=pair(among=among), note=SECOND)
    X, W = pair()
    yield Case("bias", (X, W, rng.normal(size=W.shape[1])))
    X, W = pair(among=one_size(rng, 3))
    yield Case("bias", (X, W, rng.normal(size=W.shape[1])), note=EQUAL)
    some = rng.permutation([0.0, *rng.normal(size=W.shape[1] - 1)])
    yield Case("bias", (X, W, some), note="a number of b is 0")
    X, W = pair()
    yield Case("bias", (X, W), {"b": rng.normal(size=W.shape[1])})
    X, W = pair(2, among=sizes(rng, 3, 3))
    yield Case("batch", (X, W), note="X has a batch axis")
    yield Case("batch", pair(2, 3), note="X has two leading axes")
    yield Case("batch", (X, W), laid="views", note="X and W are views")
    b = rng.normal(size=W.shape[1])
    yield Case("bias", (X, W, b), note="X has a batch axis")
    for wrong, how in ((W[:-1], "few"), (np.concatenate([W, W[:1]]), "many")):
        yield Case("refuses", (X[0], wrong), raises="ValueError", note=f"W has a row too {how}")
    for args, note in (  # einsum repeats a size of 1
        ((X[0, :, :1], W), "X is one wide and W has more rows"),
        ((X[0], W[:1]), "W has one row and X is wider"),
        ((X[0].T, W), "X is turned round"),
        ((X[0], W.T), "W is turned round"),
    ):
        yield Case("refuses", args, raises="ValueError", note=note)


def _project(X: Arrays, W: Arrays, b: Arrays = None) -> np.ndarray:
    bias = None if b is None else tensor(b)
    return torch.nn.functional.linear(tensor(X), tensor(W).T, bias).numpy()


PROJECT = Exercise(
    name="project",
    lesson=LESSON.slug,
    stage=LESSON.stage,
    signature="(X, W, b=None) -> ndarray",
    axes=("… n d", "d k"),
    read="One einsum per arrow",
    returns=(Slot("projected", "ndarray", "… N k"),),
    groups=(
        Group("plain", "equals X W where there is no bias", 0.375, core=True),
        Group("bias", "adds the bias to every token", 0.25, needs=("batch",)),
        Group("batch", "takes any leading axes", 0.125),
        Group("refuses", "raises ValueError when X and W do not fit", 0.125),
        unchanged(0.125),
    ),
    cases=_project_cases,
    oracle=_project,
    mistakes=(
        Mistake(
            "bias-ignored",
            lambda X, W, b=None: _project(X, W),
            "The bias is not added.",
            "Add `b` when it is not None. Broadcasting gives it to every token.",
        ),
        Mistake(
            "bias-subtracted",
            lambda X, W, b=None: _project(X, W, None if b is None else -b),
            "The bias is subtracted.",
            "Q = X W + b.",
        ),
        Mistake(
            "bias-multiplied",
            lambda X, W, b=None: _project(X, W) * (1 if b is None else b),
            "The product is multiplied by the bias.",
            "Q = X W + b.",
        ),
        Mistake(
            "bias-on-first-token-only",
            lambda X, W, b=None: np.concatenate(
                [_project(X[..., :1, :], W, b), _project(X[..., 1:, :], W)], axis=-2
            ),
            "The bias reaches the first token alone.",
            "Q = 1 b + X W: every row gets the same b.",
        ),
        Mistake(
            "bias-summed",
            lambda X, W, b=None: _project(X, W) + (0 if b is None else b.sum()),
            "The sum of the bias is added to every entry.",
            "Add entry k of b to column k.",
        ),
        Mistake(
            "bias-averaged",
            lambda X, W, b=None: _project(X, W) + (0 if b is None else b.mean()),
            "The mean of the bias is added to every entry.",
            "Add entry k of b to column k.",
        ),
        Mistake(
            "bias-added-repeatedly",
            lambda X, W, b=None: _project(X, W, None if b is None else len(W) * b),
            "The bias is added once for each term of the sum, d times in all.",
            "Add it once, after the sum over d.",
        ),
        Mistake(
            "sum-off-by-one",
            lambda X, W, b=None: _project(X[..., :-1], W[:-1], b),
            "The last feature is missing from each sum.",
            "Check where the loop or slice over d ends: it stops before its end already.",
        ),
        Mistake(
            "weights-reshaped",
            lambda X, W, b=None: _project(X, W.T.reshape(W.shape), b),
            "W was transposed and then reshaped to fit: the shape is right, the entries moved.",
            "Contract X's last axis with W's first: `...nd,dk->...nk`.",
        ),
        Mistake(
            "weights-reversed",
            lambda X, W, b=None: _project(X, W[::-1].copy(), b),
            "W's rows are in reverse order.",
            "Contract X's last axis with W's first: `...nd,dk->...nk`.",
        ),
        Mistake(
            "columns-summed",
            lambda X, W, b=None: X.sum(-1, keepdims=True) * W.sum(0) + (0 if b is None else b),
            "X and W are each summed before they meet: an index that stands in both of einsum's "
            "inputs has to be the same letter.",
            "Use one letter for the width of X and the rows of W: `...nd,dk->...nk`.",
        ),
    ),
)


# scaled_dot_product_attention ----------------------------------------------------------------


def _attention_cases(rng: np.random.Generator) -> Iterator[Case]:
    def with_mask(*leading: int, of: Callable[..., Any] = qkv) -> tuple[np.ndarray, ...]:
        q, k, v = of(rng, *leading)
        return q, k, v, holes(rng, q.shape[-2], k.shape[-2])

    yield Case("values", qkv(rng))
    yield Case("values", qkv(rng, 2), note="there is a batch axis")
    yield Case("values", qkv(rng, 2, 3), note="there are batch and head axes")
    for one in ones_in_turn(rng, 4):
        yield Case("values", qkv(rng, among=one), note="one of the sizes is 1")
    yield Case("values", qkv(rng, 2), laid="views", note="inputs are views")
    yield Case("values", qkv(rng, among=one_size(rng, 4)), note=EQUAL)
    among = sizes(rng, 4)
    earlier = qkv(rng, among=among)
    yield Case("values", qkv(rng, among=among), earlier=earlier, note=SECOND)
    masked = (*qkv(rng, among=among), holes(rng, *among[:2]))
    yield Case("values", qkv(rng, among=among), earlier=masked, note=AFTER_A_MASK)
    n, m, d_k, d_v = sizes(rng, 4)
    note = "there are many queries, or many keys"
    for among in ((great_length(rng), m, d_k, d_v), (n, great_length(rng), d_k, d_v)):
        yield Case("values", qkv(rng, among=among), note=note)
    q, *others = with_mask()
    q[rng.integers(len(q))] = 0.0
    note = "one query is 0, and the mask is (N, M)"
    yield Case("mask", (q, *others), note=note, exact_zeros=True)
    q, k, v = qkv(rng, 2)
    each = holes(rng, 2, q.shape[-2], k.shape[-2])
    yield Case("mask", (q, k, v, each), note="the mask is (B, N, M)", exact_zeros=True)
    q, k, v = qkv(rng, 2, 3)
    kwargs = {"mask": holes(rng, 2, 1, 1, k.shape[-2])}
    yield Case("mask", (q, k, v), kwargs, note="the mask broadcasts", exact_zeros=True)
    q, k, v = qkv(rng, among=one_size(rng, 4))
    mask = holes(rng, len(q), len(k))
    yield Case("mask", (q, k, v, mask), note=EQUAL, exact_zeros=True)
    q, k, v = qkv(rng)
    mask = holes(rng, 1, len(k))[0]
    yield Case("mask", (q, k, v, mask), note="the mask is (M,)", exact_zeros=True)
    column = np.arange(len(q))[:, None] != rng.integers(len(q))
    yield Case("blocked", (q, k, v, column), note="the mask is (N, 1)", exact_zeros=True)
    none = np.zeros((len(q), len(k)), dtype=bool)
    note = "no query may attend to any key"
    yield Case("blocked", (q, k, v, none), note=note, exact_zeros=True)
    for leading in ((), (2,)):
        q, k, v, mask = with_mask(*leading)
        mask[rng.integers(len(mask))] = False
        note = "one query may attend to no key"
        yield Case("blocked", (q, k, v, mask), note=note, exact_zeros=True)
    yield Case("large", qkv(rng, std=1e4), note="scores are in the thousands")
    q, k, v = qkv(rng, std=1e4)
    yield Case("large", (-abs(q), abs(k), v), note="scores are in the thousands below 0")
    yield Case("large", alike(rng), note="scores are in the thousands, and close together")
    note = "scores are in the thousands, and some keys are blocked"
    yield Case("hidden", with_mask(of=alike), note=note, exact_zeros=True)
    yield Case("hidden", towering(rng), note=TOWERING, exact_zeros=True)
    for group, given in (("float32", qkv(rng, 2)), ("hidden", with_mask(2))):
        single = tuple(part.astype(np.float32) for part in given[:3])
        note = "inputs are float32" + (", and there is a mask" if given[3:] else "")
        yield Case(group, (*single, *given[3:]), note=note, tolerance=FLOAT32_TOLERANCE)
    q, k, v = qkv(rng, 2)
    yield Case("float32", (q, k, v * 1e5), note="values are in the hundred thousands")


def _attend(recipe: Recipe) -> Callable[..., Any]:
    """Attention, made from a recipe."""

    def block(Q: Arrays, K: Arrays, V: Arrays, mask: Arrays = None) -> Any:
        return recipe.compute(Q, K, V, mask=None if mask is None else ~mask)

    return block


def _attention(Q: Arrays, K: Arrays, V: Arrays, mask: Arrays = None) -> Any:
    return attend(Q, K, V, mask), weights(Q, K, mask)


def _rows_are_shares(args: Arrays, out: np.ndarray, A: np.ndarray) -> bool:
    sums = A.sum(-1)
    return bool(((abs(sums - 1) < 1e-4) | (sums == 0)).all())


HIDING = ("mask", "large", "float32")
SCALE_OF_THE_EXAMPLE: Part = (
    Variation(
        "scale-of-the-example",
        "The scores are divided by 2 whatever their queries are. On paper they were 4 wide; these "
        "are not.",
        "Take d_k from the input: it is the size of a query's last axis.",
        ways=({"scale": lambda at: 0.5},),
    ),
)

ATTENTION = Exercise(
    name="scaled_dot_product_attention",
    lesson=LESSON.slug,
    stage=LESSON.stage,
    signature="(Q, K, V, mask=None) -> (out, weights)",
    axes=("… n k", "… m k", "… m v"),
    read="The block in five lines",
    returns=(Slot("out", "ndarray", "… N d_v"), Slot("weights", "ndarray", "… N M")),
    groups=(
        Group("values", "equals softmax(Q Kᵀ / √d_k) V, and its weights", 1.5, core=True),
        Group("mask", "gives exactly 0 where the mask is False, and shares the rest", 1.25),
        Group("large", "stays right when scores are in the thousands", 0.125),
        Group(
            "hidden", "hides keys at scores in the thousands, and in float32", 0.125, needs=HIDING
        ),
        Group(
            "blocked",
            "gives 0, not NaN, to a query that may attend to nothing",
            0.5,
            needs=("mask",),
        ),
        Group(
            "float32",
            "takes float32 (compared at 1e-4), and computes in float64 where that is given",
            0.25,
        ),
        unchanged(0.25),
    ),
    cases=_attention_cases,
    oracle=_attention,
    mistakes=mistakes_in(
        _attend,
        in_softmax.SOFTMAX,
        in_softmax.NO_SOFTMAX,
        in_softmax.ROWS,
        in_softmax.BATCH,
        in_softmax.ANY_AXES,
        in_softmax.LARGE,
        in_softmax.MAXIMA,
        in_softmax.PRECISION,
        in_attention.SCALE,
        SCALE_OF_THE_EXAMPLE,
        in_attention.SCALE_LATE,
        in_attention.SCALE_BY_FIRST_AXIS,
        in_attention.SCALE_BY_VALUES,
        in_attention.SCORES,
        in_attention.RESHAPED,
        in_attention.MIX,
        in_attention.RESULTS,
        in_attention.MASK,
        in_attention.FAR_BELOW,
        in_attention.FAR_ABOVE,
        in_attention.EMPTY_ROWS,
    ),
    properties=(
        Property("weights are numbers, none below 0", lambda args, out, A: bool((A >= 0).all())),
        Property("each row of weights adds up to 1, or is all 0", _rows_are_shares),
    ),
)


# count_attention -----------------------------------------------------------------------------


def _count_cases(rng: np.random.Generator) -> Iterator[Case]:
    def sizes() -> tuple[int, ...]:
        return tuple(int(size) for size in rng.permutation(np.arange(2, 40))[:4])

    yield Case("plain", sizes())
    yield Case("plain", sizes())
    yield Case("plain", sizes()[:1] * 4, note=EQUAL)
    yield Case("plain", (1, *sizes()[1:]), note="there is one token")
    many = int(rng.integers(1000, 2000))
    yield Case("plain", (many, *sizes()[1:]), note="there are many tokens")
    yield Case("bias", (*sizes(), True), note="bias is True")
    yield Case("bias", sizes(), {"bias": True}, note="bias is True")


def _parameters(d: int, d_k: int, d_v: int, bias: bool) -> int:
    layers = [torch.nn.Linear(d, width, bias, device="meta") for width in (d_k, d_k, d_v)]
    return sum(parameter.numel() for layer in layers for parameter in layer.parameters())


def _count_oracle(n: int, d: int, d_k: int, d_v: int, bias: bool = False) -> Any:
    queries = torch.empty(n, d_k, device="meta")
    return _parameters(d, d_k, d_v, bias), (queries @ queries.T).numel()


def _count(
    parameters: Callable[..., int] = lambda n, d, k, v, bias: _parameters(d, k, v, bias),
    pairs: Callable[..., int] = lambda n, d, k, v: n * n,
) -> Callable[..., Any]:
    """count_attention with one of its two counts exchanged."""

    def count(n: int, d: int, d_k: int, d_v: int, bias: bool = False) -> Any:
        return parameters(n, d, d_k, d_v, bias), pairs(n, d, d_k, d_v)

    return count


COUNT = Exercise(
    name="count_attention",
    lesson=LESSON.slug,
    stage=LESSON.stage,
    signature="(n, d, d_k, d_v, bias=False) -> (parameters, weights)",
    axes=("=n", "=d", "=k", "=v"),
    read="What depends on N, and what on d",
    returns=(Slot("parameters", "int"), Slot("weights", "int")),
    groups=(
        Group("plain", "counts the entries of three matrices and of the weights", 0.625, core=True),
        Group("bias", "counts the biases when there are any", 0.25),
        unchanged(0.125),
    ),
    cases=_count_cases,
    oracle=_count_oracle,
    mistakes=(
        Mistake(
            "one-matrix",
            _count(lambda n, d, k, v, bias: d * k + (k if bias else 0)),
            "This is the size of W_q alone. There are three matrices.",
            "Add up W_q, W_k and W_v.",
        ),
        Mistake(
            "values-not-counted",
            _count(lambda n, d, k, v, bias: 2 * (d * k + (k if bias else 0))),
            "W_v is missing.",
            "Add d · d_v for W_v.",
        ),
        Mistake(
            "keys-not-counted",
            _count(lambda n, d, k, v, bias: _parameters(d, k, v, bias) - d * k - bias * k),
            "One matrix of width d_k is missing: queries and keys have one each.",
            "Add d · d_k twice and d · d_v once.",
        ),
        Mistake(
            "same-width-for-all",
            _count(lambda n, d, k, v, bias: 3 * (d * k + (k if bias else 0))),
            "W_v is counted as if it were d_k wide. Its width is d_v.",
            "Add d · d_k twice and d · d_v once.",
        ),
        Mistake(
            "square-matrices",
            _count(lambda n, d, k, v, bias: 3 * (d * d + (d if bias else 0))),
            "The matrices are counted as d × d. They map a width of d to d_k or d_v.",
            "Add d · d_k twice and d · d_v once.",
        ),
        Mistake(
            "activations-counted",
            _count(lambda n, d, k, v, bias: n * (2 * k + v)),
            "These are the entries of Q, K and V. Parameters are the entries of W_q, W_k, W_v: "
            "they are the same for a sentence of any length.",
            "Count matrices whose sizes do not depend on n.",
        ),
        Mistake(
            "bias-ignored",
            _count(lambda n, d, k, v, bias: _parameters(d, k, v, False)),
            "The biases are not counted.",
            "Each matrix has one bias for each column: d_k + d_k + d_v.",
        ),
        Mistake(
            "bias-per-input",
            _count(lambda n, d, k, v, bias: d * (2 * k + v) + (3 * d if bias else 0)),
            "The biases are counted as d wide. A bias is added to the output.",
            "Each matrix has one bias for each column: d_k + d_k + d_v.",
        ),
        Mistake(
            "bias-is-one-number",
            _count(lambda n, d, k, v, bias: d * (2 * k + v) + (3 if bias else 0)),
            "Each bias is counted as one number. It has one for each column of its matrix.",
            "Count d_k + d_k + d_v numbers.",
        ),
        Mistake(
            "bias-always-counted",
            _count(lambda n, d, k, v, bias: _parameters(d, k, v, True)),
            "The biases are counted whether there are any or not.",
            "Add them only if `bias` is True.",
        ),
        Mistake(
            "one-matrix-too-many",
            _count(
                lambda n, d, k, v, bias: _parameters(d, k, v, bias) + v * d + (d if bias else 0)
            ),
            "There are d · d_v too many: W_v counted twice, or a matrix from d_v back to d, which "
            "this block has not.",
            "Add up W_q, W_k and W_v.",
        ),
        Mistake(
            "bias-per-token",
            _count(lambda n, d, k, v, bias: (2 * k + v) * (d + (n if bias else 0))),
            "The biases are counted once for each token. All tokens share one.",
            "Each matrix has one bias for each column, whatever n is.",
        ),
        Mistake(
            "weights-per-width",
            _count(pairs=lambda n, d, k, v: n * k),
            "This is the size of Q. A weight belongs to a pair of a query and a key.",
            "There are n queries and n keys.",
        ),
        Mistake(
            "weights-per-width",
            _count(pairs=lambda n, d, k, v: n * d),
            "This is the size of X. A weight belongs to a pair of a query and a key.",
            "There are n queries and n keys.",
        ),
        Mistake(
            "weights-without-self",
            _count(pairs=lambda n, d, k, v: n * (n - 1)),
            "The diagonal is left out. A token attends to itself as well.",
            "There are n queries and n keys.",
        ),
        Mistake(
            "swapped-results",
            lambda *sizes, **kwargs: _count_oracle(*sizes, **kwargs)[::-1],
            "Both counts are right and stand in the wrong order.",
            "Return `parameters, weights`.",
        ),
        Mistake(
            "weights-linear",
            _count(pairs=lambda n, d, k, v: n),
            "There is one row of weights for each token, and each row has a weight for each key.",
            "There are n queries and n keys.",
        ),
        Mistake(
            "weights-per-feature",
            _count(pairs=lambda n, d, k, v: n * n * k),
            "The number of weights does not depend on the width: a dot product makes one number "
            "out of d_k products.",
            "There are n queries and n keys.",
        ),
        Mistake(
            "weights-causal",
            _count(pairs=lambda n, d, k, v: n * (n + 1) // 2),
            "These are the weights on and below the diagonal. Nothing is masked here.",
            "There are n queries and n keys.",
        ),
    ),
)


# routing_matrix ------------------------------------------------------------------------------


def _routing_cases(rng: np.random.Generator) -> Iterator[Case]:
    def pair(n: int, m: int, d: int, d_v: int) -> tuple[np.ndarray, np.ndarray]:
        return softmax(rng.normal(size=(n, m))), rng.normal(size=(d, d_v))

    yield Case("values", pair(*sizes(rng, 4)))
    yield Case("values", pair(*sizes(rng, 4)))
    n, d, d_v = sizes(rng, 3)
    yield Case("values", pair(n, n, d, d_v), note="attention is self-attention")
    yield Case("values", pair(*one_size(rng, 4)), note=EQUAL)
    A, W_v = pair(*sizes(rng, 4))
    A[0] *= 1e-4
    yield Case("values", (A, W_v), note="a row of weights is small")
    A = np.concatenate([np.zeros_like(A[:1]), A[1:]])
    yield Case("zeros", (A, W_v), note="a row of weights is 0", exact_zeros=True)
    for one in ones_in_turn(rng, 4):
        yield Case("values", pair(*one), note="one of the sizes is 1")
    yield Case("values", pair(*sizes(rng, 4)), laid="views", note="weights and W_v are views")
    n, m, d, d_v = sizes(rng, 4)
    A = np.eye(m)[rng.integers(m, size=n)]
    yield Case("zeros", (A, rng.normal(size=(d, d_v))), note="weights are 0 or 1", exact_zeros=True)


def _routing(weights: Arrays, W_v: Arrays) -> np.ndarray:
    plain = torch.contiguous_format  # `contiguous()` leaves odd strides where a size is 1
    left, right = (part.clone(memory_format=plain) for part in (tensor(weights), tensor(W_v).T))
    return torch.kron(left, right).numpy()


ROUTING = Exercise(
    name="routing_matrix",
    lesson=LESSON.slug,
    stage=LESSON.stage,
    signature="(weights, W_v) -> (N·d_v, M·d)",
    axes=("n m", "d v"),
    read="One big matrix, rebuilt for every input",
    returns=(Slot("routing", "ndarray", "N·d_v M·d"),),
    groups=(
        Group("values", "has the blocks a_nm W_vᵀ", 1.5, core=True),
        Group("zeros", "has a block of 0 where a weight is 0", 0.25),
        unchanged(0.25),
    ),
    cases=_routing_cases,
    oracle=_routing,
    mistakes=(
        Mistake(
            "block-not-transposed",
            lambda A, W_v: np.kron(A, W_v),
            "Each block is a_nm W_v, d × d_v. A block multiplies a column of d numbers from the "
            "left, so it has to be d_v × d.",
            "Use W_v.T in the blocks.",
        ),
        Mistake(
            "factors-swapped",
            lambda A, W_v: np.kron(W_v.T, A),
            "The two factors have changed places: this is W_vᵀ with a copy of the weights in each "
            "entry, which is right for X.T.ravel(), feature by feature.",
            "X.ravel() goes token by token, so the outer blocks are the weights.",
        ),
        Mistake(
            "routing-transposed",
            lambda A, W_v: _routing(A, W_v).T,
            "The whole matrix is transposed.",
            "Rows belong to outputs (N · d_v of them), columns to inputs (M · d).",
        ),
        Mistake(
            "weights-transposed",
            lambda A, W_v: _routing(A.T, W_v),
            "The weights are transposed: block (n, m) has the weight from m to n.",
            "Block (n, m) is a_nm W_vᵀ.",
        ),
        Mistake(
            "values-unweighted",
            lambda A, W_v: _routing(np.ones_like(A), W_v),
            "Every block is W_vᵀ: the weights were not used.",
            "Multiply block (n, m) by a_nm.",
        ),
        Mistake(
            "uniform-weights",
            lambda A, W_v: _routing(np.full_like(A, 1 / A.shape[1]), W_v),
            "Every block has the same weight, 1/M.",
            "Multiply block (n, m) by a_nm.",
        ),
        Mistake(
            "diagonal-blocks-only",
            lambda A, W_v: _routing(A * np.eye(*A.shape), W_v),
            "Only the blocks on the diagonal are filled: each token hears itself alone.",
            "Fill block (n, m) for every pair.",
        ),
        Mistake(
            "identity-blocks",
            lambda A, W_v: _routing(np.eye(*A.shape), W_v),
            "W_vᵀ stands on the diagonal and nothing elsewhere: that is one layer applied to each "
            "token, the same for every input. The weights were not used.",
            "Fill block (n, m) with a_nm W_vᵀ for every pair.",
        ),
        Mistake(
            "weights-without-values",
            lambda A, W_v: np.kron(A, np.ones_like(W_v.T)),
            "Each block holds the weight alone: W_v was not used.",
            "Block (n, m) is a_nm W_vᵀ.",
        ),
        Mistake(
            "block-reshaped",
            lambda A, W_v: np.kron(A, W_v.reshape(W_v.T.shape)),
            "W_v was reshaped to (d_v, d), which keeps the shape right and moves the entries.",
            "Use the transpose, `W_v.T`.",
        ),
        Mistake(
            "axes-not-interleaved",
            lambda A, W_v: np.einsum("nm,dv->nmvd", A, W_v).reshape(
                A.shape[0] * W_v.shape[1], A.shape[1] * W_v.shape[0]
            ),
            "The axes were joined in the order n, m, v, d. A row of the result belongs to one "
            "output (n, v) and a column to one input (m, d).",
            "Bring the axes into the order n, v, m, d before you reshape.",
        ),
        Mistake(
            "axes-not-interleaved",
            lambda A, W_v: np.multiply.outer(A, W_v).reshape(
                A.shape[0] * W_v.shape[1], A.shape[1] * W_v.shape[0]
            ),
            "The axes were joined in the order n, m, d, v. A row of the result belongs to one "
            "output (n, v) and a column to one input (m, d).",
            "Bring the axes into the order n, v, m, d before you reshape.",
        ),
        Mistake(
            "columns-by-feature",
            lambda A, W_v: np.einsum("nm,dv->nvdm", A, W_v).reshape(
                A.shape[0] * W_v.shape[1], A.shape[1] * W_v.shape[0]
            ),
            "Rows are right, and columns go feature by feature: the axes were joined in the order "
            "n, v, d, m. X.ravel() goes token by token.",
            "Bring the axes into the order n, v, m, d before you reshape.",
        ),
    ),
)

EXERCISES = (SOFTMAX, PROJECT, ATTENTION, COUNT, ROUTING)
