"""Lesson 10's third exercise: what one word attends to."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torch
import torch.nn.functional as F

from attnlab.checks.exercise import (
    FLOAT32_TOLERANCE,
    Case,
    Exercise,
    Group,
    Mistake,
    Slot,
    unchanged,
)
from attnlab.checks.inputs import ones_in_turn, sizes
from attnlab.lessons.pytorch.exercises import normal
from attnlab.lessons.training import LESSON
from attnlab.lessons.training.drawn import Generator, Tensor, tokens


def _rows(rng: Generator, *leading: int, among: tuple[int, ...] = ()) -> Tensor:
    """Weights (…, N, M)."""
    return normal(rng, *leading, *(among or sizes(rng, 2, 3))).softmax(-1)


def _each(rng: Generator, b: int, n: int) -> Tensor:
    """An index for each of b sentences, not all the same if there are several places."""
    index = tokens(rng, n, b)
    if b > 1 and n > 1:
        index[:2] = torch.from_numpy(rng.permutation(n)[:2])
    return index


def _attention_cases(rng: Generator) -> Iterator[Case]:
    args: tuple[Any, ...]
    b, h, n, m = sizes(rng, 4)
    place = int(rng.integers(min(n, m)))  # which is a column as well
    yield Case("values", (_rows(rng, b, among=(n, m)), place), note="N and M differ")
    yield Case("values", (_rows(rng, b, among=(n, n)), int(rng.integers(n))), note="N is M")
    yield Case("values", (_rows(rng, b, among=(m, m)), m - 1), note="the last word asks")
    yield Case("values", (_rows(rng, b, among=(m, m)), 0), note="the first word asks")
    for shape in ((b, h, n, m), (b, h, n, n), (b, b, n, n), (b, 1, n, m)):
        args = (_rows(rng, *shape[:2], among=shape[2:]), int(rng.integers(n)))
        yield Case("heads", args, note="there is a head axis")
    for size, width in ((b, m), (h, n), (n, n)):
        args = (_rows(rng, size, among=(n, width)), _each(rng, size, n))
        yield Case("each", args, note="query_index is (B,)")
    for shape in ((b, h, n, m), (b, b, n, n)):
        args = (_rows(rng, *shape[:2], among=shape[2:]), _each(rng, b, n))
        yield Case("each head", args, note="query_index is (B,), and there is a head axis")
    for one in ones_in_turn(rng, 3):
        args = (_rows(rng, one[0], among=one[1:]), int(rng.integers(one[1])))
        yield Case("single", args, note="one of the sizes is 1")
        args = (_rows(rng, one[0], h, among=one[1:]), _each(rng, *one[:2]))
        yield Case("single", args, note="one of the sizes is 1, and query_index is (B,)")
    args = (_rows(rng, b, h, among=(n, m)).float(), _each(rng, b, n))
    yield Case("single", args, note="weights are float32", tolerance=FLOAT32_TOLERANCE)
    args = (_rows(rng, b, h, among=(n, m)), _each(rng, b, n))
    yield Case("gradient", args, gradient=True)
    yield Case("gradient", (_rows(rng, b, among=(n, m)), int(rng.integers(n))), gradient=True)


def _mean_of_heads(weights: Tensor) -> Tensor:
    return weights.mean(1) if weights.ndim == 4 else weights


def _row(weights: Tensor, index: Any) -> Tensor:
    """One row for each sentence; by one-hot, as no learner would."""
    n = weights.shape[-2]
    chosen = F.one_hot(torch.as_tensor(index).expand(len(weights)), n).to(weights)
    return torch.einsum("bn,bnm->bm", chosen, weights)


def _to(
    heads: Callable[[Tensor], Tensor] = _mean_of_heads, row: Callable[..., Tensor] = _row
) -> Callable[..., Any]:
    return lambda weights, query_index: row(heads(weights), query_index)


def _over(reduce: Callable[[Tensor], Tensor]) -> Callable[..., Any]:
    return _to(lambda weights: reduce(weights) if weights.ndim == 4 else weights)


def _first_index(weights: Tensor, index: Any) -> Tensor:
    return weights[:, int(torch.as_tensor(index).flatten()[0])]


ATTENTION_TO = Exercise(
    name="attention_to",
    lesson=LESSON.slug,
    stage=LESSON.stage,
    signature="(weights, query_index) -> (B, N)",
    axes=("… n m", "?"),
    read="One row of the weights",
    returns=(Slot("row", "tensor", "B M"),),
    groups=(
        Group("values", "gives the row of the word that asks", 0.375, core=True),
        Group("heads", "averages over heads", 0.125),
        Group("each", "takes an index for each sentence", 0.125),
        Group("each head", "does both", 0.0625, needs=("heads", "each")),
        Group("single", "works for sizes of 1, and in float32", 0.0625, needs=("heads", "each")),
        Group("gradient", "lets gradients through", 0.125, needs=("heads", "each")),
        unchanged(0.125),
    ),
    cases=_attention_cases,
    oracle=_to(),
    mistakes=(
        Mistake(
            "column-not-row",
            _to(row=lambda weights, index: _row(weights.mT, index)),
            "This is a column: how much each word attends *to* that one. Its row is what it "
            "attends to itself.",
            "Queries are the axis before the last one: `weights[:, i]`.",
        ),
        Mistake(
            "heads-summed",
            _over(lambda weights: weights.sum(1)),
            "The heads were added up, so that a row adds up to H.",
            "Take their mean.",
        ),
        Mistake(
            "first-head-only",
            _over(lambda weights: weights[:, 0]),
            "This is the first head's row.",
            "Take the mean over axis 1.",
        ),
        Mistake(
            "last-head-only",
            _over(lambda weights: weights[:, -1]),
            "This is the last head's row.",
            "Take the mean over axis 1.",
        ),
        Mistake(
            "largest-over-heads",
            _over(lambda weights: weights.amax(1)),
            "The largest weight of any head was taken for each key.",
            "Take the mean over axis 1.",
        ),
        Mistake(
            "heads-not-averaged",
            lambda weights, query_index: (
                torch.stack([_row(head, query_index) for head in weights.unbind(1)], 1)
                if weights.ndim == 4
                else _row(weights, query_index)
            ),
            "There is a row for each head.",
            "Take the mean over axis 1.",
        ),
        Mistake(
            "one-index-for-all",
            _to(row=_first_index),
            "Each sentence was asked at the first one's index.",
            "Pair the sentences, 0 to B − 1, with their own indices: `weights[sentences, index]`.",
        ),
        Mistake(
            "every-index-for-every-sentence",
            lambda weights, query_index: _mean_of_heads(weights)[:, query_index],
            "Every sentence was asked at every index, so that there are B rows for each.",
            "Pair the sentences, 0 to B − 1, with their own indices: `weights[sentences, index]`.",
        ),
        Mistake(
            "averaged-over-queries",
            _to(row=lambda weights, index: weights.mean(1)),
            "This is the mean of all rows, whoever asks.",
            "Pick one row: axis 1 at the query's index.",
        ),
        Mistake(
            "counted-from-1",
            _to(
                row=lambda weights, index: _row(
                    weights, (torch.as_tensor(index) - 1) % weights.shape[1]
                )
            ),
            "This is the row before the one that is asked for.",
            "Words are counted from 0.",
        ),
        Mistake(
            "place-not-weights",
            lambda weights, query_index: _row(_mean_of_heads(weights), query_index).argmax(-1),
            "This is the place of the largest weight. The whole row is asked for.",
            "Leave argmax out.",
        ),
    ),
)
