"""Lesson 10's causal test: rows of one run in the place of another's, the exercise `patched`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import torch

from attnlab.calling.observe import ByName, by_name
from attnlab.checks.edits import edits
from attnlab.checks.exercise import (
    FLOAT32_TOLERANCE,
    Case,
    Claim,
    Exercise,
    Slot,
    promises,
)
from attnlab.checks.inputs import Generator, normal, sizes

Tensor = torch.Tensor
Block = Callable[[Tensor], Tensor]
WIDE = 99  # columns: all that there are
INPUT = by_name("sequences.as_it_is")


def _blocks(rng: Generator, places: int, number: int = 3, single: bool = False) -> list[ByName]:
    """Blocks that mix rows and count places; of one place, they take sentences of any length."""
    weights = rng.normal(size=(number, places)).astype("float32" if single else "float64")
    name = "sequences.attention_and_places"
    return [by_name(name, 0.3, torch.from_numpy(each), WIDE) for each in weights]


def _some_blocks(rng: Generator, sizes: Mapping[str, Any]) -> list[ByName]:
    return _blocks(rng, sizes["n"], int(rng.integers(3, 5)))


def _some_places(rng: Generator, sizes: Mapping[str, Any]) -> list[int]:
    """Some, in order, and not all if there are several."""
    n = sizes["n"]
    number = int(rng.integers(1, n)) if n > 1 else 1
    return sorted(rng.choice(n, number, replace=False).tolist())


def _cases(rng: Generator) -> Iterator[Case]:
    b, n, d = sizes(rng, 3, 5)  # so that a donor of one less is no single sentence

    def case(group: str, note: str, places: list[int], blocks: list[ByName], **how: Any) -> Case:
        x, donor = normal(rng, b, n, d), normal(rng, b, n, d)
        return Case(group, (blocks, x, donor, places), note=note, **how)

    def some(places: int = n, number: int = 3) -> list[ByName]:
        return _blocks(rng, places, number)

    order = rng.permutation(n).tolist()
    single = tuple(part.float() for part in normal(rng, 2, b, n, d))
    args = (_blocks(rng, n, single=True), *single, sorted(order[:2]))
    yield Case("values", args, note="all is float32", tolerance=FLOAT32_TOLERANCE)
    for places, note in (
        ([], "places is empty"),
        (order, "places are all, unsorted"),
        (sorted(order[:3], reverse=True), "places are unsorted"),
        ([order[1], order[0], order[1]], "a place stands there twice"),
        ([0], "places is [0]"),
        ([n - 1], "the only place is the last one"),
    ):
        yield case("any", note, places, some())
    for number in (1, 2, 5):
        yield case("any", f"blocks: {number}", order[:2], some(number=number))
    yield case("any", "there is one block, and places is empty", [], some(number=1))
    for at in (0, 1, 2):
        blocks = some()
        blocks[at] = INPUT
        yield case("unchanged", f"block {at} returns its input", order[:2], blocks, about=("any",))
    yield case("unchanged", "the only block returns its input", order[:2], [INPUT], about=("any",))

    how: dict[str, Any] = {"raises": "ValueError"}
    for places in (order[:2], []):
        yield case("refused", "there are no blocks", places, [], **how)
    for place in (-1, n, -n, n + 3):
        for places in ([place], [order[0], place], [place, order[0]]):
            later = ", after another" if place < 0 and places[0] != place else ""
            note = f"{place} is among the places{later}, and N is {n}"
            yield case("refused", note, places, some(), **how)
            yield case("refused", f"{place} is among the places", places, some(number=1), **how)
    low = int(rng.integers(n - 2))  # a place that all donors have
    for shape, places in (
        *(((b, long, d), places) for long in (n - 1, n + 1) for places in ([low], [])),
        *((shape, [low]) for shape in ((1, n, d), (b, n, 1))),
    ):
        note = f"x is {(b, n, d)}, the donor {shape}, and places is {places}"
        args = (some(1), normal(rng, b, n, d), normal(rng, *shape), places)
        yield Case("refused", args, note=note, **how)
    how = {"raises": "ValueError or RuntimeError"}  # PyTorch's own, as they do not fit
    for other in ((b + 1, n, d), (b - 1, n, d), (b, n, d + 1), (b, n, d - 1), (n, d)):
        args = (some(1), normal(rng, b, n, d), normal(rng, *other), [low])
        yield Case("refused", args, note=f"x is {(b, n, d)}, and the donor {other}", **how)


# What is right, and what is not -------------------------------------------------------------------


def _mixed(x: Tensor, donor: Tensor, places: Sequence[int]) -> Tensor:
    """Rows of the donor at these places, and of x at the others."""
    chosen = torch.from_numpy(np.isin(np.arange(x.shape[1]), places))
    return torch.where(chosen[:, None], donor, x)


def _run(blocks: Sequence[Block], x: Tensor) -> Tensor:
    for block in blocks:
        x = block(x)
    return x


def _put(x: Tensor, at: Any, rows: Tensor) -> Tensor:
    x = x.clone()
    x[at] = rows
    return x


def _patched(blocks: list[Block], x: Tensor, donor: Tensor, places: list[int]) -> Tensor:
    x, donor = blocks[0](x), blocks[0](donor)
    return _run(blocks[1:], _mixed(x, donor, places))


def _each_time(blocks: list[Block], x: Tensor, donor: Tensor, places: list[int]) -> Tensor:
    for block in blocks:
        x, donor = block(x), block(donor)
        x = _mixed(x, donor, places)
    return x


FIRST, MIXED = "blocks[0](x), blocks[0](donor)", "_mixed(x, donor, places)"
PATCHED = Exercise(
    name="patched",
    signature="(blocks, x, donor, places) -> Tensor",
    axes=("blocks", "b n d", "b n d", "places"),
    read="Exchange rows",
    returns=(Slot("out", "tensor", "B N d"),),
    claims=promises(
        "equals the run of x in which, after the first block, rows at `places` are the donor's",
        1.0,
        Claim("any", "takes places in any order, none or all, and one block or many", 0.25),
        Claim(
            "refused",
            "raises ValueError for no blocks, a donor of another shape, a place that is none",
            0.5,
        ),
        unchanged=0.25,
    ),
    oracle=_patched,
    drawn={"blocks": _some_blocks, "places": _some_places},
    cases=_cases,
    mistakes=edits(
        _patched,
        {
            "nothing-exchanged": f"{MIXED} -> x",
            "all-exchanged": f"{MIXED} -> donor",
            "others-exchanged": f"{MIXED} -> _mixed(donor, x, places)",
            "exchanged-too-early": f"{FIRST} -> x, donor; [1:] -> ",
            "exchanged-too-late": (
                f"{FIRST} -> _run(blocks, x), _run(blocks, donor); [1:] -> [:0]",
                f"{FIRST} -> _run(blocks[:2], x), _run(blocks[:2], donor); [1:] -> [2:]",
            ),
            "exchanged-each-time": _each_time,
            "donor-not-run": "blocks[0](donor) -> donor",
            "rest-not-run": tuple(
                f"[1:] -> {rest}" for rest in ("[:0]", "[1:-1]", "[2:]", "[-1:]")
            ),
            "first-block-twice": "[1:] -> ",
            "another-axis-exchanged": (
                f"{MIXED} -> _put(x, places, donor[places])",
                f"{MIXED} -> _put(x, np.s_[..., places], donor[..., places])",
            ),
            "first-sentence-only": f"{MIXED} -> _put(x, np.s_[0, places], donor[0, places])",
            "rows-added": f"{MIXED} -> _put(x, np.s_[:, places], (x + donor)[:, places])",
            "rows-misplaced": (
                f"{MIXED} -> _put(x, np.s_[:, sorted(places)], donor[:, places])",
                f"{MIXED} -> _put(x, np.s_[:, places], donor[:, : len(places)])",
            ),
            "one-place-only": (
                f"{MIXED} -> _mixed(x, donor, places[:1])",
                f"{MIXED} -> _mixed(x, donor, places[-1:])",
            ),
            "range-exchanged": tuple(
                f"{MIXED} -> _mixed(x, donor, range(min(places, default=0), {end}))"
                for end in ("max(places, default=-1) + 1", "max(places, default=0)")
            ),
            "counted-from-1": f"{MIXED} -> _mixed(x, donor, [place - 1 for place in places])",
        },
    ),
)
