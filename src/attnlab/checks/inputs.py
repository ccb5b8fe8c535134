"""Inputs for cases: ordinary ones, and the corners that exercises are tried at, as they apply.

All are drawn from the generator that is given, sizes and places included, so that nobody can list
them. They are NumPy arrays of float64; a lesson turns them into what its learners compute with.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

Generator = np.random.Generator
FAR = 1e4  # scores so large that e to them overflows
AFTER_A_MASK = "it is called with a mask first, and then with other inputs and none"
SECOND = "it is called a second time, with other inputs"
EQUAL = "all sizes are equal"
# How a module may be made, see `Case.built`, without a change in what it computes.
EVALUATED = "modules.in_evaluation"
LARGER = "modules.beside_a_larger"
BUILT = {
    EVALUATED: "the module was told that training is over",
    LARGER: "another module, which is larger, is made after it",
    "modules.beside_a_twin": "another module, of the same sizes, is made after it",
}


def sizes(rng: Generator, number: int, low: int = 2, high: int = 8) -> tuple[int, ...]:
    """So many sizes from low to high, or higher if they are more, that all differ.

    None is 4 or 9, whose root is a size as well: it would hide a wrong scale.
    """
    among = [size for size in range(low, max(high, low + number + 1) + 1) if size not in (4, 9)]
    return tuple(int(size) for size in rng.choice(among, number, replace=False))


def ones_in_turn(rng: Generator, number: int) -> list[tuple[int, ...]]:
    """Sizes that all differ, with a 1 in each place in turn."""
    return [
        tuple(1 if at == place else size for at, size in enumerate(sizes(rng, number)))
        for place in range(number)
    ]


def one_size(rng: Generator, number: int) -> tuple[int, ...]:
    """One size, so many times: what asks whether a matrix is square finds one. It is 5 or more."""
    return sizes(rng, 1, 5) * number


def great_length(rng: Generator) -> int:
    """A length that is more than a small limit leaves room for: 33 to 60."""
    return int(rng.integers(33, 61))


def rounded(numbers: np.ndarray) -> Any:
    """Nested lists of numbers that are short enough for a card to show."""
    return np.round(numbers, 2).tolist()


def far_rows(rng: Generator, m: int) -> np.ndarray:
    """Rows (3, m) far from each other, and in each of them numbers that are as far apart.

    The largest stands first in one, in the middle of another and last in a third. Whatever smaller
    number is subtracted from a row, its first or last, its mean or its smallest, e to the largest
    still overflows in one of the rows. m is at least 3.
    """
    rest = rng.uniform(-1.0, 0.6, (3, m))
    rest[:, 0], rest[:, -1] = -1.3, -1.2  # farther from 0 than the largest
    for row, place in enumerate((0, int(rng.integers(1, m - 1)), m - 1)):
        rest[row, place] = 1.0
    offsets = rng.permutation([0.0, 2.0, -2.0])[:, None]
    return FAR * (rest + offsets)


def near_rows(rng: Generator, m: int) -> np.ndarray:
    """Rows (4, m) far from each other, and in each of them numbers that are close together.

    The first is not the largest, so that no running maximum is the same for all.
    """
    near = [-FAR, *rng.permutation([FAR, 0.0, FAR / 2])]
    return np.array(near)[:, None] + rng.normal(size=(4, m))


def tied_rows(rng: Generator, m: int) -> np.ndarray:
    """Rows (4, m): the largest twice, all equal, all 0, and the largest 0. m is at least 3."""
    rows = rng.normal(size=(4, m))
    rows[0, rng.choice(m, 2, replace=False)] = rows[0].max() + 0.5
    rows[1] = rows[1, 0]
    rows[2] = 0.0
    rows[3] -= rows[3].max()
    return rows


def low_rows(rng: Generator, m: int) -> np.ndarray:
    """Rows (3, m) below -20,000, with entries of -inf: no large number stands in for it."""
    low = -rng.uniform(2 * FAR, 20 * FAR, (3, 1)) + rng.normal(size=(3, m))
    return np.where(holes(rng, 3, m), low, -np.inf)


def high_row(rng: Generator, m: int) -> np.ndarray:
    """A row (1, m) whose smallest number is farther from 0 than its largest, which is above it."""
    row = rng.uniform(-1.0, 0.9, (1, m))
    one, other = rng.choice(m, 2, replace=False)
    row[:, one], row[:, other] = -1.3, 1.0
    return FAR * row


def holes(rng: Generator, *shape: int) -> np.ndarray:
    """A mask that leaves each row something and blocks something, in places that vary.

    The very first entry is blocked: what learns its dtype from what becomes of that one finds a 0.
    Where there are two rows or more, another one has its last entry blocked.

    Returns:
        bool, of that shape, True = attend; its last axis has at least two entries.
    """
    rows, last = (rng.random((math.prod(shape[:-1]), shape[-1])) < 0.6), shape[-1] - 1
    for row, place in enumerate([0, *rng.permutation(np.arange(1, len(rows)))]):
        blocked = {0: 0, 1: last}.get(row, int(rng.integers(shape[-1])))
        rows[place, blocked] = False
        rows[place, (blocked + rng.integers(1, shape[-1])) % shape[-1]] = True
    return rows.reshape(shape)


def random_list(rng: Generator, *shape: int, std: float = 1.0) -> Any:
    """Normal numbers as nested lists, rounded so that a card can show them whole; none is 0."""
    numbers = rng.normal(0, std, shape)
    return rounded(np.where(abs(numbers) < 0.01, 0.01, numbers))


def normal(rng: Generator, *shape: int, std: float = 1.0) -> Any:
    """Standard normal float64 numbers as a tensor."""
    import torch

    return torch.from_numpy(rng.normal(0, std, shape))


def ragged(rng: Generator, rows: list[list[float]]) -> Iterator[tuple[list[list[float]], str]]:
    """Matrices with one row of another length, and which it is.

    The first, one in the middle and the last, shorter and longer; and two that make up for each
    other, so that there are as many numbers as there should be.
    """
    middle = int(rng.integers(1, len(rows) - 1))
    for place, where in ((0, "first"), (middle, "middle"), (len(rows) - 1, "last")):
        shorter, longer = rows[place][:-1], [*rows[place], 0.5]
        for row, how in ((shorter, "shorter"), (longer, "longer")):
            named = f"row {place}" if where == "middle" else f"the {where} row"
            yield [*rows[:place], row, *rows[place + 1 :]], f"{named} is {how}"
    uneven = [rows[0], rows[1][:-1], *rows[2:-1], [*rows[-1], 0.5]]
    yield uneven, "row 1 is shorter and the last longer"
