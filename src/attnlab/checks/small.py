"""Calls that can be checked by eye: a few small whole numbers, asked of a wrong answer alone.

They show a mistake that a check has found, and decide nothing: `example` asks them.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

import numpy as np

from attnlab.calling.observe import numbers_in, observe
from attnlab.checks.cases import refusal, resized
from attnlab.checks.draw import Draw, Given, drawn_masks, emptying
from attnlab.checks.exercise import SEEDS, Case, Exercise
from attnlab.checks.pose import BrokenCheck, Posed, pose_one

SIZES = (1, 2, 3)
FEW = 9  # numbers that a call has at most
FORMS, DRAWS = 8, 2  # of how many sizes, and how often each is drawn
HUGE = 1000  # a score to whose power e is too large
INFINITY = float("inf")


class _Whole(Draw):
    """Draws small whole numbers, none twice in one array."""

    def numbers(self, shape: list[int], root: int | None = None) -> Any:
        number = math.prod(shape)
        return self.staged(self.rng.permutation(max(number, 3))[:number].reshape(shape) * 1.0)


@lru_cache(maxsize=64)
def small(exercise: Exercise) -> tuple[Posed, ...]:
    """An exercise's small calls with their right answers, those with the fewest numbers first.

    None where an answer takes more to be seen: a module's parameters, gradients, a training.
    """
    if exercise.recorded:
        found: tuple[Posed, ...] = exercise.recorded.small
        return found
    if not exercise.axes or exercise.state or exercise.builds:
        return ()
    return tuple(_posed(exercise))


def _posed(exercise: Exercise) -> Iterator[Posed]:
    draw = _Whole(exercise, np.random.default_rng(SEEDS[0]))
    cases = [case for sizes in _sizes(draw) for _ in range(DRAWS) for case in _cases(draw, sizes)]
    for case in sorted(cases, key=_numbers):
        try:
            yield pose_one(exercise, SEEDS[0], case)
        except BrokenCheck:  # a standard deviation of one number, say
            continue


def _sizes(draw: Draw) -> Iterator[dict[str, Any]]:
    """Sizes of which a call has few numbers; of many the most different ones."""
    forms = [
        draw.whole(dict(zip(draw.letters, sizes, strict=True)))
        for sizes in itertools.product(SIZES, repeat=len(draw.letters))
    ]
    # Each is drawn, as the numbers of those that are kept follow from it.
    drawn = [(sizes, draw.given(sizes, ())) for sizes in forms]
    few = [sizes for sizes, given in drawn if _least(draw, sizes) <= FEW and _count(given) <= FEW]
    few.sort(key=lambda sizes: (-len(set(sizes.values())), sum(sizes.values())))
    yield from few[:FORMS]


def _cases(draw: Draw, sizes: dict[str, Any]) -> Iterator[Case]:
    given, promised = draw.given(sizes, ()), draw.exercise.promised
    yield draw.case(given, "values")
    first, last = draw.arrays[:1], sizes.get("m", sizes.get("n", 0))
    for name in first if "large" in promised else ():
        large = draw.staged(np.asarray(given.args[name]) * HUGE)
        yield draw.case(given.but(**{name: large}), "large")
    if draw.exercise.scores and "blocked" in promised and last > 1:
        holed = np.asarray(given.args[draw.exercise.scores], dtype=float)
        holed[..., -1] = -INFINITY
        yield draw.case(given.but(**{draw.exercise.scores: draw.staged(holed)}), "blocked")
    if "masked" in promised and last > 1:
        for _, masks in drawn_masks(draw, given.sizes):
            yield draw.case(given, "masked", masks=masks)
    if "refuses" in promised:
        yield from _refused(draw, given)
    if "ragged" in promised:
        for name in draw.arrays:
            rows = given.args[name]
            if len(draw.axes_of(name)) == 2 and len(rows) > 1:
                uneven = [*rows[:-1], [*rows[-1], 0.0]]
                yield refusal(draw, given.but(**{name: uneven}), "", "", "ragged")
    if "empty" in promised and last > 1:
        for _, masks in emptying(draw, given.sizes):
            yield draw.case(given, "empty", "masked", masks=masks)


def _refused(draw: Draw, given: Given) -> Iterator[Case]:
    """Each array with one entry more along an axis that another one has too."""
    named = [axis for name in draw.arrays for axis in draw.axes_of(name)]
    for name in draw.arrays:
        axes = draw.axes_of(name)
        for at, axis in enumerate(axes):
            if named.count(axis) > 1 and axis not in draw.exercise.fits and given.sizes[axis] > 1:
                longer = resized(np.asarray(given.args[name]), at - len(axes), 1)
                yield refusal(draw, given.but(**{name: draw.staged(longer)}), "", "")


def _least(draw: Draw, sizes: Mapping[str, Any]) -> int:
    """How many numbers there are in the arrays alone: to count all takes longer."""
    axes = map(draw.axes_of, draw.arrays)
    return sum(math.prod(sizes[axis] for axis in each) for each in axes)


def _count(given: Given) -> int:
    return sum(numbers_in(observe(arg)) for arg in given.args.values())


def _numbers(case: Case) -> int:
    return sum(numbers_in(observe(arg)) for arg in (*case.args, *case.kwargs.values()))
