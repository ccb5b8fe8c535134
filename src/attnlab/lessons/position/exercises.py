"""Lesson 09's exercises: is order noticed at all, and three ways to tell it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torch
import torch.nn.functional as F

from attnlab.calling.torch_calls import ONLY
from attnlab.checks.exercise import Case, Claim, Exercise, Slot, promises
from attnlab.checks.inputs import BUILT, LARGER, Generator
from attnlab.lessons.position.equivariance import IS_EQUIVARIANT
from attnlab.lessons.position.sinusoidal import SINUSOIDAL_ENCODING
from attnlab.lessons.position.turning import ROTARY

Tensor = torch.Tensor
Added = Callable[[Tensor, Tensor], Tensor]


def _placed(add: Added) -> Callable[..., Tensor]:
    """The forward pass: what is made of the tokens and the table."""

    def forward(state: dict[str, Tensor], x: Tensor) -> Tensor:
        if x.shape[-2] > len(state[ONLY]):
            raise ValueError("past the table")
        return add(x, state[ONLY])

    return forward


def _sliced(add: Added) -> Callable[..., Tensor]:
    """What is made of the tokens and their own rows."""
    return _placed(lambda x, table: add(x, table[: x.shape[-2]]))


def _learned_cases(rng: Generator) -> Iterator[Case]:
    def case(group: str, n: int, rows: int, *leading: int, **how: Any) -> Case:
        x, table = rng.normal(size=(*leading, n, 5)), rng.normal(size=(rows, 5))
        state = {ONLY: torch.from_numpy(table)}
        return Case(group, (torch.from_numpy(x),), sizes=(rows, 5), state=state, **how)

    n, rows = int(rng.integers(3, 6)), int(rng.integers(6, 9))
    for leading in ((n,), (n, n)):
        yield case("values", n, rows, *leading, note="the leading axes are as long as N")
    yield case("values", n, rows, rows + 1, 2, note="a leading axis is longer than the table")
    two, note = torch.from_numpy(rng.normal(size=(2, 2, 5))), "it was called before, on two tokens"
    yield case("values", n, rows, 2, earlier=(two,), note=note)
    for more in (1, int(rng.integers(2, 4)), rows):
        note = f"the sentence is longer than the table, by {more}"
        yield case("past", rows + more, rows, 2, raises="ValueError", note=note)
    how = {"raises": "ValueError", "note": "the sentence is longer than the table"}
    yield case("past", rows + 1, rows, **how)
    yield case("past", rows + 1, rows, 2, 3, **how)
    how["note"] = f"{BUILT[LARGER]}, and the sentence is longer than its own table"
    yield case("past", rows + 1, rows, 2, built=LARGER, **how)


LEARNED_POSITIONS = Exercise(
    name="LearnedPositions",
    signature="nn.Module(max_len, d) with forward(x) -> x's shape",
    axes=("… n d",),
    builds=("t", "d"),
    state={ONLY: "t d"},
    products={"t": "n r"},
    read="Learned: a row for each place",
    returns=(Slot("out", "tensor", "… N d"),),
    claims=promises(
        "adds row n of its only parameter, (max_len, d), to token n",
        0.25,
        Claim("past", "raises ValueError past max_len", 0.25),
        gradient_and_precision_and_again=0.25,
        unchanged=0.25,
    ),
    cases=_learned_cases,
    oracle=_placed(lambda x, table: x + F.embedding(torch.arange(x.shape[-2]), table)),
    mistakes={
        "not-added": (_sliced(lambda x, rows: x * rows), _sliced(lambda x, rows: x - rows)),
        "positions-alone": _sliced(lambda x, rows: rows.expand_as(x)),
        "table-not-used": _sliced(lambda x, rows: x),
        "other-rows": (
            _placed(lambda x, table: x + table),
            _placed(lambda x, table: x + table[len(table) - x.shape[-2] :]),
            _sliced(lambda x, rows: x + rows.flip(0)),
        ),
        "one-row-for-all": (
            _sliced(lambda x, rows: x + rows[0]),
            _sliced(lambda x, rows: x + rows[-1]),
            _placed(lambda x, table: x + table[x.shape[-2]]),
            _placed(lambda x, table: x + table[-1]),
            _sliced(lambda x, rows: x + rows.sum(0)),
            _sliced(lambda x, rows: x + rows.mean(0)),
        ),
        "tokens-scaled": _sliced(lambda x, rows: x * x.shape[-1] ** 0.5 + rows),
        "no-gradient": (
            _sliced(lambda x, rows: x + rows.detach()),
            _sliced(lambda x, rows: x.detach() + rows),
        ),
    },
)

EXERCISES = (IS_EQUIVARIANT, SINUSOIDAL_ENCODING, LEARNED_POSITIONS, ROTARY)
