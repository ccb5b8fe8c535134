"""Lesson 08's first exercise: attention over another sequence, as a function."""

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
    Slot,
    unchanged,
)
from attnlab.checks.inputs import (
    AFTER_A_MASK,
    EQUAL,
    SECOND,
    TOWERING,
    Generator,
    alike,
    great_length,
    one_size,
    ones_in_turn,
    qkv,
    sizes,
    towering,
)
from attnlab.checks.recipe import GIVEN, Recipe, Tensor, detached, mistakes_in, pairs_in
from attnlab.checks.relations import ORDER
from attnlab.lessons.cross_attention import LESSON
from attnlab.lessons.cross_attention.context import (
    CONTEXT_IGNORED,
    EMPTY_BATCH,
    EMPTY_SLOPE,
    HIDES,
    KEYS_FROM_X,
    MASK_ON_BATCH,
    MASK_ON_QUERIES,
    PADDING_ZEROED,
    SWAPPED,
    SWAPPED_K_V,
    SWAPPED_Q_K,
    VALUES_AS_KEYS,
    VALUES_FROM_X,
    X_IGNORED,
    masks,
    mostly_real,
    named,
    one_empty,
    order_relation,
    padding_relation,
    real_and_padding,
    some_real,
    unless_empty,
    zeroed,
)
from attnlab.lessons.pytorch.exercises import IN_WEIGHING, REFUSED, SHARES, normal, sdpa


def _inputs(
    rng: Generator, b: int, n: int, m: int, d: int, c: int, d_k: int, d_v: int
) -> tuple[Tensor, ...]:
    """x (b, n, d), context (b, m, c) and the three matrices."""
    return (
        normal(rng, b, n, d),
        normal(rng, b, m, c),
        normal(rng, d, d_k, std=d**-0.5),
        normal(rng, c, d_k, std=c**-0.5),
        normal(rng, c, d_v, std=c**-0.5),
    )


def _some(rng: Generator, low: int = 2) -> tuple[Tensor, ...]:
    return _inputs(rng, *sizes(rng, 7, low, 9))


def _with_mask(
    rng: Generator, mask: Callable[[Generator, int, int], Tensor], low: int = 2
) -> tuple[Any, ...]:
    inputs = _some(rng, low)
    return (*inputs, mask(rng, *inputs[1].shape[:2]))


def _unprojected(rng: Generator, q: np.ndarray, k: np.ndarray, v: np.ndarray) -> tuple[Tensor, ...]:
    """Tokens and matrices that make these queries, keys and values."""
    d_k, d_v = q.shape[-1], v.shape[-1]
    asks = np.linalg.qr(rng.normal(size=(d_k + 1, d_k)))[0]
    answers = np.linalg.qr(rng.normal(size=(d_k + d_v + 2, d_k + d_v)))[0]
    context = np.concatenate([k, v], -1) @ answers.T
    parts = (q @ asks.T, context, asks, answers[:, :d_k], answers[:, d_k:])
    return tuple(torch.from_numpy(np.ascontiguousarray(part)) for part in parts)


def _equal_sizes(rng: Generator) -> tuple[Tensor, ...]:
    """Inputs for which mistakes run that raise an error elsewhere: N = M, d = d_c, d_k = d_v."""
    b, n, d, d_k = sizes(rng, 4, 2, 9)
    return _inputs(rng, b, n, n, d, d, d_k, d_k)


def _function_cases(rng: Generator) -> Iterator[Case]:
    b, few, many, *widths = _longer_context(rng)
    yield Case("values", _inputs(rng, b, few, many, *widths), note="the context is longer than x")
    b, few, many, *widths = _longer_context(rng)
    yield Case("values", _inputs(rng, b, many, few, *widths), note="the context is shorter than x")
    note = "x and context are equally long and wide"
    yield Case("values", _equal_sizes(rng), note=note)
    yield Case("values", _inputs(rng, *one_size(rng, 7)), note=EQUAL)
    b, n, m, *widths = sizes(rng, 7)
    inputs = _inputs(rng, b, n, great_length(rng), *widths)
    inputs[1][:, 0] = 0.0
    note = "the context has many tokens, the first of them 0"
    yield Case("values", inputs, note=note)
    yield Case("values", _inputs(rng, b, great_length(rng), m, *widths), note="x has many tokens")
    inputs = _some(rng)
    yield Case("values", inputs, earlier=_some_like(rng, inputs), note=SECOND)
    earlier = (*_some_like(rng, inputs), real_and_padding(rng, *inputs[1].shape[:2]))
    yield Case("values", inputs, earlier=earlier, note=AFTER_A_MASK)
    b, m = inputs[1].shape[:2]
    for mask, note in masks(rng, b, m):
        yield Case("padding", (*_some_like(rng, inputs), mask), note=note, exact_zeros=True)
    by_name = {"context_mask": real_and_padding(rng, b, m)}
    note = "the mask is given by name"
    yield Case("padding", inputs, by_name, note=note, exact_zeros=True)
    earlier = (*_some_like(rng, inputs), real_and_padding(rng, b, m))
    given = (*inputs, real_and_padding(rng, b, m))
    yield Case("padding", given, earlier=earlier, note=SECOND, exact_zeros=True)
    whole = torch.ones(b, m, dtype=torch.bool)
    yield Case("padding", (*inputs, whole), note="nothing is padding")
    n, d, c, d_k, d_v = sizes(rng, 5, 3, 9)
    square = _inputs(rng, n, n, n, d, c, d_k, d_v)
    note = "B, N and M are equal, and some of the context is padding"
    yield Case("padding", (*square, real_and_padding(rng, n, n)), note=note, exact_zeros=True)
    note = "one sentence of the context is all padding"
    yield Case("empty", _with_mask(rng, one_empty), note=note, exact_zeros=True)
    *others, mask = _with_mask(rng, real_and_padding)
    note = "the whole context is padding"
    yield Case("empty", (*others, torch.zeros_like(mask)), note=note, exact_zeros=True)
    for one, name in zip(ones_in_turn(rng, 7), "BNM", strict=False):
        nothing = torch.zeros(one[0], one[2], dtype=torch.bool)
        also = f"{note}, and {name} is 1"
        yield Case("empty", (*_inputs(rng, *one), nothing), note=also, exact_zeros=True)
    *others, mask = _with_mask(rng, one_empty)
    given, also = (*(part.float() for part in others), mask), "and inputs are float32"
    note = f"one sentence of the context is all padding, {also}"
    yield Case("empty", given, note=note, tolerance=FLOAT32_TOLERANCE, exact_zeros=True)
    *others, W_v = _some(rng)
    yield Case("gradient", (*others, W_v * 1e5), gradient=True)
    *others, W_v, mask = _with_mask(rng, mostly_real, 3)
    note = "some of the context is padding"
    yield Case("masked gradient", (*others, W_v * 1e5, mask), gradient=True, note=note)
    note = "one sentence of the context is all padding"
    *others, W_v, mask = _with_mask(rng, one_empty, 3)
    yield Case("empty gradient", (*others, W_v * 1e5, mask), gradient=True, note=note)
    for fixed, name in (((0,), "x"), ((1,), "context"), ((0, 1), "neither x nor context")):
        *others, W_v, mask = _with_mask(rng, mostly_real, 3)
        note = f"{name} needs {'a' if len(fixed) > 1 else 'no'} gradient"
        for given in ((*others, W_v * 1e5), (*others, W_v * 1e5, mask)):
            yield Case("frozen", given, gradient=True, fixed=fixed, note=note)
            note += ", and there is a mask"
    for one in ones_in_turn(rng, 7):
        yield Case("single", _inputs(rng, *one), note="one of the sizes is 1")
    for one, name in zip(ones_in_turn(rng, 7), "BNM", strict=False):
        mask = some_real(rng, one[0], one[2])
        note = f"{name} is 1, and there is a mask"
        yield Case("hidden", (*_inputs(rng, *one), mask), note=note, exact_zeros=True)
    yield Case("single", _some(rng), laid="views", note="inputs are not contiguous")
    masked = _with_mask(rng, real_and_padding)
    note = "inputs are not contiguous, and there is a mask"
    yield Case("hidden", masked, laid="views", note=note, exact_zeros=True)
    note = "scores are in the thousands"
    yield Case("large", _unprojected(rng, *qkv(rng, 2, std=1e4)), note=note)
    q, k, v = qkv(rng, 2, std=1e4)
    note = "scores are in the thousands below 0"
    yield Case("large", _unprojected(rng, -abs(q), abs(k), v), note=note)
    note = "scores are in the thousands, and close together"
    yield Case("large", _unprojected(rng, *alike(rng, 2)), note=note)
    inputs = _unprojected(rng, *alike(rng, 2))
    note = "scores are in the thousands, and some of the context is padding"
    mask = real_and_padding(rng, 2, inputs[1].shape[1])
    yield Case("hidden", (*inputs, mask), note=note, exact_zeros=True)
    *others, kept = towering(rng, 2)
    mask = torch.from_numpy(kept).expand(2, -1).clone()
    given = (*_unprojected(rng, *others), mask)
    yield Case("hidden", given, note=TOWERING, exact_zeros=True)
    single = tuple(part.float() for part in _some(rng))
    note = "inputs are float32"
    yield Case("float32", single, note=note, tolerance=FLOAT32_TOLERANCE)
    *others, mask = _with_mask(rng, real_and_padding)
    given = (*(part.float() for part in others), mask)
    note = "inputs are float32, and some of the context is padding"
    yield Case("hidden", given, note=note, tolerance=FLOAT32_TOLERANCE, exact_zeros=True)
    *others, W_v = _some(rng)
    note = "values are in the hundred thousands"
    yield Case("float32", (*others, W_v * 1e5), note=note)
    x, context, *matrices = _inputs(rng, *sizes(rng, 7, 3, 10))  # an axis of 1 would broadcast
    W_q, W_k, W_v = matrices
    for misfit, how in ((_row_less, "few"), (_row_more, "many")):
        for name, given in (
            ("W_q has a row too {} for x", (misfit(W_q), W_k, W_v)),
            ("W_k has a row too {} for context", (W_q, misfit(W_k), W_v)),
            ("W_v has a row too {} for context", (W_q, W_k, misfit(W_v))),
            ("W_k and W_v have a row too {} for context", (W_q, misfit(W_k), misfit(W_v))),
        ):
            note = name.format(how)
            yield Case("refuses", (x, context, *given), raises=REFUSED, note=note)
    for wide, how in ((W_k[:, :-1], "narrower"), (torch.cat([W_k, W_k[:, :1]], -1), "wider")):
        note = f"W_k is {how} than W_q"
        yield Case("refuses", (x, context, W_q, wide, W_v), raises=REFUSED, note=note)


def _row_less(matrix: Tensor) -> Tensor:
    return matrix[:-1]


def _row_more(matrix: Tensor) -> Tensor:
    return torch.cat([matrix, matrix[:1]])


def _longer_context(rng: Generator) -> tuple[int, ...]:
    """Sizes that all differ, the second less than the third."""
    b, *lengths, d, c, d_k, d_v = sizes(rng, 7, 2, 9)
    return (b, *sorted(lengths), d, c, d_k, d_v)


def _some_like(rng: Generator, inputs: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
    """Other numbers of the same shapes and spreads."""
    (b, n, d), (_, m, c), (_, d_k), _, (_, d_v) = (tuple(part.shape) for part in inputs)
    return _inputs(rng, b, n, m, d, c, d_k, d_v)


def _oracle(
    x: Tensor,
    context: Tensor,
    W_q: Tensor,
    W_k: Tensor,
    W_v: Tensor,
    context_mask: Tensor | None = None,
) -> tuple[Tensor, Tensor]:
    mask = None if context_mask is None else context_mask[:, None]
    return sdpa(x @ W_q, context @ W_k, context @ W_v, mask)


def _function(recipe: Recipe) -> Callable[..., Any]:
    """The exercise's function, made from a recipe."""
    return _masked(recipe, lambda mask: mask[:, None])


def _masked(recipe: Recipe, lay: Callable[[Tensor], Tensor]) -> Callable[..., Any]:
    """The same with another way to line the mask up with the scores."""

    def cross_attention(
        x: Tensor,
        context: Tensor,
        W_q: Tensor,
        W_k: Tensor,
        W_v: Tensor,
        context_mask: Tensor | None = None,
    ) -> Any:
        blocked = None if context_mask is None else ~lay(context_mask)
        return recipe.compute(x @ W_q, context @ W_k, context @ W_v, x, mask=blocked)

    return cross_attention


def _made_of(
    roles: Callable[[Tensor, Tensor, Tensor, Tensor, Tensor], tuple[Tensor, ...]],
) -> Callable[..., Any]:
    """The exercise's function with queries, keys and values made in another way."""

    def cross_attention(
        x: Tensor,
        context: Tensor,
        W_q: Tensor,
        W_k: Tensor,
        W_v: Tensor,
        context_mask: Tensor | None = None,
    ) -> Any:
        blocked = None if context_mask is None else ~context_mask[:, None]
        q, k, v = roles(x, context, W_q, W_k, W_v)
        return Recipe().compute(q, k, v, mask=blocked)

    return cross_attention


def _by_context_width(*args: Tensor, **kwargs: Tensor) -> Any:
    return _function(Recipe(scale=lambda at: args[1].shape[-1] ** -0.5))(*args, **kwargs)


def _nan_in_empty_slopes(
    x: Tensor, context: Tensor, W_q: Tensor, W_k: Tensor, W_v: Tensor, context_mask: Any = None
) -> Any:
    """By adding −∞, which lets NaN come back."""
    q, k, v = x @ W_q, context @ W_k, context @ W_v
    scores = q @ k.mT / q.shape[-1] ** 0.5
    if context_mask is not None:
        hide = torch.zeros(context_mask.shape, dtype=x.dtype)
        scores = scores + hide.masked_fill(~context_mask, -torch.inf)[:, None]
    weights = scores.softmax(-1)
    if context_mask is not None:
        weights = weights.masked_fill(~context_mask.any(-1)[:, None, None], 0.0)
    return weights @ v, weights


def _other_padding(rng: Generator) -> tuple[Case, Case]:
    x, context, *matrices = _inputs(rng, 2, 4, 5, 7, 6, 3, 8)
    mask = real_and_padding(rng, 2, 5)
    changed = torch.where(mask[..., None], context, normal(rng, 2, 5, 6, std=3.0))
    return (
        Case("padding", (x, context, *matrices, mask)),
        Case("padding", (x, changed, *matrices, mask)),
    )


def _other_order(rng: Generator) -> tuple[Case, Case]:
    x, context, *matrices = _inputs(rng, 2, 4, 5, 7, 6, 3, 8)
    return (
        Case("values", (x, context, *matrices)),
        Case("values", (x, context[:, ORDER], *matrices)),
    )


FUNCTION = Exercise(
    name="cross_attention",
    lesson=LESSON.slug,
    stage=LESSON.stage,
    signature="(x, context, W_q, W_k, W_v, context_mask=None) -> (out, weights)",
    axes=("b n d", "b m c", "d k", "c k", "c v", "b m"),
    read="Who asks and who answers",
    returns=(Slot("out", "tensor", "B N d_v"), Slot("weights", "tensor", "B N M")),
    groups=(
        Group("values", "equals F.scaled_dot_product_attention, N ≠ M", 1.0, core=True),
        Group("padding", "hides the context's padding (True = attend)", 0.5),
        Group("single", "works for sizes of 1, and for inputs that are not contiguous", 0.125),
        Group("large", "is stable at scores in the thousands", 0.125, needs=("float32",)),
        Group(
            "float32",
            "keeps float32 (compared at 1e-4), and float64 with all its digits",
            0.0625,
        ),
        Group(
            "hidden",
            "hides padding in all of these as well",
            0.0625,
            needs=("padding", "single", "large", "float32"),
        ),
        Group(
            "empty",
            "gives 0, not NaN, where a context is all padding",
            0.25,
            needs=("padding", "float32"),
        ),
        Group(
            "gradient",
            "has the right gradients for x, context and the matrices",
            0.125,
            needs=("float32",),
        ),
        Group(
            "masked gradient",
            "has them with a mask as well",
            0.125,
            needs=("padding", "gradient", "float32"),
        ),
        Group(
            "empty gradient",
            "has them, and no NaN, where a context is all padding",
            0.125,
            needs=("empty", "masked gradient"),
        ),
        Group("refuses", "raises an error when widths do not fit", 0.125),
        Group(
            "frozen",
            "has them where x or context needs none",
            0.125,
            needs=("masked gradient",),
        ),
        unchanged(0.25),
    ),
    cases=_function_cases,
    oracle=_oracle,
    mistakes=(
        *mistakes_in(
            _function,
            in_softmax.SOFTMAX,
            in_softmax.NO_SOFTMAX,
            in_softmax.ROWS,
            in_softmax.BATCH,
            in_softmax.LARGE,
            in_softmax.MAXIMA,
            in_softmax.PRECISION,
            in_attention.SCALE,
            in_attention.SCALE_LATE,
            in_attention.SCALE_BY_FIRST_AXIS,
            in_attention.SCALE_BY_INPUT,
            in_attention.SCALE_BY_VALUES,
            in_attention.SCORES,
            in_attention.RESHAPED,
            in_attention.FAR_BELOW,
            in_attention.FAR_ABOVE,
            in_attention.EMPTY_ROWS,
            beside=GIVEN,
        ),
        *mistakes_in(
            _function,
            in_attention.MIX,
            in_attention.RESULTS,
            in_attention.MASK,
            in_attention.GRADIENTS,
        ),
        detached(_oracle, 2, 3, 4),
        detached(_oracle, 0),
        detached(_oracle, 1),
        *named(
            (
                "scale-by-sqrt-d",
                "The scores are divided by the root of the context's width. They are dot products "
                "of queries and keys, which are d_k wide.",
                "Take d_k from the width of a query.",
            ),
            _by_context_width,
        ),
        *named(
            SWAPPED,
            _made_of(lambda x, c, W_q, W_k, W_v: (c @ W_q, x @ W_k, c @ W_v)),
            _made_of(lambda x, c, W_q, W_k, W_v: (c @ W_q, x @ W_k, x @ W_v)),
        ),
        *named(VALUES_FROM_X, _made_of(lambda x, c, W_q, W_k, W_v: (x @ W_q, c @ W_k, x @ W_v))),
        *named(KEYS_FROM_X, _made_of(lambda x, c, W_q, W_k, W_v: (x @ W_q, x @ W_k, c @ W_v))),
        *named(CONTEXT_IGNORED, _made_of(lambda x, c, W_q, W_k, W_v: (x @ W_q, x @ W_k, x @ W_v))),
        *named(X_IGNORED, _made_of(lambda x, c, W_q, W_k, W_v: (c @ W_q, c @ W_k, c @ W_v))),
        *named(SWAPPED_Q_K, _made_of(lambda x, c, W_q, W_k, W_v: (x @ W_k, c @ W_q, c @ W_v))),
        *named(SWAPPED_K_V, _made_of(lambda x, c, W_q, W_k, W_v: (x @ W_q, c @ W_v, c @ W_k))),
        *named(VALUES_AS_KEYS, _made_of(lambda x, c, W_q, W_k, W_v: (x @ W_q, c @ W_v, c @ W_v))),
        *named(
            (
                "keys-from-w-q",
                "Keys are made with the queries' matrix, which is for x.",
                "Make keys with the keys' own matrix.",
            ),
            _made_of(lambda x, c, W_q, W_k, W_v: (x @ W_q, c @ W_q, c @ W_v)),
        ),
        *named(
            (
                "queries-from-w-k",
                "Queries are made with the keys' matrix, which is for the context.",
                "Make queries with the queries' own matrix.",
            ),
            _made_of(lambda x, c, W_q, W_k, W_v: (x @ W_k, c @ W_k, c @ W_v)),
        ),
        *named(
            (
                "values-not-projected",
                "The output is an average of the context's tokens themselves: W_v was not used.",
                "Make values with their matrix, and mix those.",
            ),
            _made_of(lambda x, c, W_q, W_k, W_v: (x @ W_q, c @ W_k, c)),
        ),
        *named(
            (
                "nothing-projected",
                "The tokens are their own queries, keys and values: the matrices were not used.",
                "Make queries, keys and values first, with a matrix each.",
            ),
            _made_of(lambda x, c, W_q, W_k, W_v: (x, c, c)),
        ),
        *named(PADDING_ZEROED, zeroed(_oracle)),
        *named(EMPTY_BATCH, unless_empty(_oracle)),
        *named(
            MASK_ON_QUERIES,
            *(
                _masked(recipe, lambda mask: mask[:, :, None])
                for recipe in (Recipe(), Recipe(empty=lambda a, rows: a))  # 0 in rows, or NaN
            ),
        ),
        *named(MASK_ON_BATCH, _masked(Recipe(), lambda mask: mask)),
        *named(EMPTY_SLOPE, _nan_in_empty_slopes),
    ),
    pairs=pairs_in(_function, in_attention.SCALE, IN_WEIGHING, in_attention.MIX, in_attention.MASK),
    properties=(HIDES, *SHARES),
    relations=(
        padding_relation(_other_padding),
        order_relation(_other_order),
    ),
    fused_banned=True,
)
