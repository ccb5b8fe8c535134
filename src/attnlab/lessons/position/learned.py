"""Positions from a table: the exercise `LearnedPositions`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F

from attnlab.checks.exercise import (
    FLOAT32_TOLERANCE,
    Case,
    Exercise,
    Group,
    Mistake,
    Slot,
    Way,
    unchanged,
)
from attnlab.checks.inputs import AGAIN, EVALUATED, LARGER, MADE, SECOND, sizes
from attnlab.checks.recipe import Tensor
from attnlab.lessons.position import LESSON
from attnlab.lessons.pytorch.exercises import normal


def _learned(state: dict[str, Tensor], x: Tensor) -> Tensor:
    """The tokens, and for each the row of the table that its place says."""
    if x.shape[-2] > len(state["table"]):
        raise ValueError("past the table")
    return x + F.embedding(torch.arange(x.shape[-2]), state["table"])


OUT = (Slot("out", "tensor", "… N d"),)
WAY = Way("sequences.only_table", OUT, _learned)


def _learned_cases(rng: np.random.Generator) -> Iterator[Case]:
    def case(group: str, n: int, max_len: int, d: int, *leading: int, **how: Any) -> Case:
        x, table = normal(rng, *leading, n, d), normal(rng, max_len, d)
        return Case(group, (x,), sizes=(max_len, d), state={"table": table}, way=WAY, **how)

    def drawn(number: int) -> tuple[int, ...]:
        """N, max_len, d and leading sizes; N is less than max_len."""
        d, *leading = sizes(rng, number - 2, 2, 6)
        n, max_len = sorted(sizes(rng, 2, 7, 12))
        return n, max_len, d, *leading

    for _ in range(2):
        yield case("values", *drawn(4))
    n, max_len, d, _ = drawn(4)
    for leading in ((n,), (n, n)):
        yield case("values", n, max_len, d, *leading, note="the leading axes are as long as N")
    yield case("leading", *drawn(3), note="there is no batch axis")
    yield case("leading", *drawn(5), note="there are batch and head axes")
    _, max_len, d, b = drawn(4)
    yield case("lengths", max_len, max_len, d, b, note="the sentence is as long as the table")
    yield case("lengths", 1, max_len, d, b, note="there is one token")
    yield case("lengths", 1, 1, d, b, note="there is one token, and one position")
    n, max_len, d, b = drawn(4)
    note, two = "it was called before, with two tokens", normal(rng, b, 2, d)
    yield case("lengths", n, max_len, d, b, note=note, earlier=(two,))
    n, max_len, d, b = drawn(4)
    note, as_long = "it was called before, with other numbers in its table", normal(rng, b, n, d)
    yield case("learns", n, max_len, d, b, note=note, earlier=(as_long,))
    for made, note in MADE.items():
        n, max_len, d, b = drawn(4)
        yield case("lengths", n, max_len, d, b, note=note, made=made)
    n, max_len, d, b = drawn(4)
    how: dict[str, Any] = {"made": EVALUATED, "earlier": (normal(rng, b, n, d),)}
    note = f"{MADE[EVALUATED]}, and {SECOND}"
    yield case("lengths", n, max_len, d, b, note=note, **how)
    for number in (3, 4):
        yield case("gradient", *drawn(number), gradient=True)
    yield case("gradient", *drawn(4), gradient=True, made=EVALUATED, note=MADE[EVALUATED])
    for more in (1, int(rng.integers(2, 4)), max_len):
        note = f"the sentence is longer than the table, by {more}"
        n = max_len + more
        yield case("refuses", n, max_len, d, b, raises="ValueError", note=note)
    yield case(
        "refuses", max_len + 1, max_len, d, raises="ValueError", note="by 1, without a batch"
    )
    n, max_len, d, b = drawn(4)
    note = f"{MADE[LARGER]}, and the sentence is longer than its own table"
    yield case("refuses", max_len + 1, max_len, d, b, raises="ValueError", note=note, made=LARGER)
    x, table = 1e5 * normal(rng, b, n, d), 1e5 * normal(rng, max_len, d)
    note = "all numbers are in the hundred thousands"
    how = {"sizes": (max_len, d), "state": {"table": table}, "note": note, "way": WAY}
    yield Case("float32", (x,), **how)
    n, max_len, d, b = drawn(4)
    x, table = normal(rng, b, n, d).float(), normal(rng, max_len, d).float()
    note = "x and the module are float32"
    how = {"tolerance": FLOAT32_TOLERANCE, "note": note, "way": WAY}
    yield Case("float32", (x,), sizes=(max_len, d), state={"table": table}, **how)


def _places(
    use: Callable[[Tensor, Tensor], Tensor],
) -> Callable[[dict[str, Tensor], Tensor], Tensor]:
    """The exercise's forward pass, with another use of the tokens and the whole table."""

    def forward(state: dict[str, Tensor], x: Tensor) -> Tensor:
        if x.shape[-2] > len(state["table"]):
            raise ValueError("past the table")
        return use(x, state["table"])

    return forward


def _sliced(use: Callable[[Tensor, Tensor], Tensor]) -> Any:
    return _places(lambda x, table: use(x, table[: x.shape[-2]]))


def _one_row(row: Callable[[Tensor, int], Tensor]) -> Any:
    """The same row for all tokens, from the table and N."""
    return _places(lambda x, table: x + row(table, x.shape[-2]))


CUT = (
    "The numbers are right, and `.data`, `.detach()` or `torch.no_grad()` cuts off the table or "
    "the tokens, which would never be learned."
)

LEARNED_POSITIONS = Exercise(
    name="LearnedPositions",
    lesson=LESSON.slug,
    stage=LESSON.stage,
    signature="nn.Module(max_len, d) with forward(x) -> x's shape",
    axes=("… n d", "=t", "=d"),
    read="Learned: a row for each place",
    returns=OUT,
    groups=(
        Group("values", "adds row n of its only parameter, (max_len, d), to token n", 0.375, True),
        Group("leading", "takes any leading axes", 0.125),
        Group("lengths", f"takes one token and a full table, and {AGAIN}", 0.0625),
        Group("learns", "uses the table's numbers as they are, not as they were before", 0.0625),
        Group("gradient", "passes the right gradients to x and to the table", 0.125),
        Group("refuses", "raises ValueError past max_len", 0.125),
        Group(
            "float32", "keeps float32 (compared at 1e-4), and float64 with all its digits", 0.0625
        ),
        unchanged(0.0625),
    ),
    cases=_learned_cases,
    oracle=_learned,
    mistakes=(
        Mistake(
            "multiplied-not-added",
            _sliced(lambda x, rows: x * rows),
            "Tokens are multiplied by their positions' rows.",
            "Add them.",
        ),
        Mistake(
            "subtracted-not-added",
            _sliced(lambda x, rows: x - rows),
            "The positions' rows are subtracted.",
            "Add them.",
        ),
        Mistake(
            "positions-alone",
            _sliced(lambda x, rows: rows.expand_as(x)),
            "The tokens are gone: only the positions' rows come out.",
            "Add them to x.",
        ),
        Mistake(
            "table-not-used",
            _places(lambda x, table: x),
            "x comes out as it went in: the table is not used.",
            "Add its first N rows.",
        ),
        Mistake(
            "last-rows",
            _places(lambda x, table: x + table[len(table) - x.shape[-2] :]),
            "The last N rows of the table are added, not the first.",
            "Take the rows from 0 to N − 1: `[:n]`.",
        ),
        *(
            Mistake(
                "one-row-for-all",
                _one_row(row),
                "All tokens get the same row, so that the order is still not told.",
                "Token n gets row n: `[:n]` is a slice, `[n]` is a row.",
            )
            for row in (
                lambda table, n: table[0],
                lambda table, n: table[n - 1],
                lambda table, n: table[n],
                lambda table, n: table[-1],
                lambda table, n: table[:n].sum(0),
                lambda table, n: table[:n].mean(0),
            )
        ),
        Mistake(
            "rows-turned-round",
            _sliced(lambda x, rows: x + rows.flip(0)),
            "Token 0 gets the last of the rows: they are counted from the end.",
            "Token n gets row n.",
        ),
        Mistake(
            "tokens-scaled",
            _sliced(lambda x, rows: x * x.shape[-1] ** 0.5 + rows),
            "The tokens are multiplied by √d first. Some models do so where tokens are embedded "
            "(Vaswani et al. 2017, section 3.4); here they are to be left alone.",
            "Add the rows to x as it is.",
        ),
        *(
            Mistake(
                "no-gradient",
                way,
                CUT,
                "Use the parameter itself, and x itself.",
            )
            for way in (
                _sliced(lambda x, rows: x + rows.detach()),
                _sliced(lambda x, rows: x.detach() + rows),
            )
        ),
    ),
)
