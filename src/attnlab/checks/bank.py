"""The mistakes that a check of an exercise can name: its own, and those that the recipe shares.

Which of the shared ones apply follows from what the exercise says of itself: whether it is
softmax or all of attention, takes a mask, projects, has gradients. Two rules keep a diagnosis from
falling silent, as it does where two slugs fit the same numbers: what gives the same numbers in
every exercise has one slug; what does so in some exercises is named in their `without`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from functools import cache
from typing import Any

import numpy as np

from attnlab.checks import in_attention, in_softmax
from attnlab.checks.exercise import Exercise, Mistake, State
from attnlab.checks.recipe import Part, Recipe

Answer = Callable[[Recipe], Callable[..., Any]]


@cache
def bank(exercise: Exercise) -> tuple[Mistake, ...]:
    """All mistakes of an exercise, its own first."""
    shared: tuple[Mistake, ...] = ()
    if exercise.scores:
        shared = mistakes_in(lambda recipe: recipe.softmax, *_of_softmax(exercise))
    elif exercise.attention is not None:
        parts = *_of_softmax(exercise), *_of_attention(exercise)
        shared = mistakes_in(exercise.attention.answer, *parts)
        if "gradient" in exercise.promised:
            shared += _cut_off(exercise)
    own = (
        Mistake(slug, formula)
        for slug, formulas in exercise.mistakes.items()
        for formula in (formulas if isinstance(formulas, tuple) else (formulas,))
    )
    shared += _rounded(exercise)
    return *own, *(each for each in shared if each.slug not in exercise.without)


def _rounded(exercise: Exercise) -> tuple[Mistake, ...]:
    """The results are rounded, as they would be for printing."""
    answer = exercise.oracle or (exercise.attention and exercise.attention.oracle)
    if not answer or exercise.stage != "pure":
        return ()

    def rounded(decimals: int) -> Mistake:
        def answered(*args: Any, **kwargs: Any) -> Any:
            result = answer(*args, **kwargs)
            if not isinstance(result, tuple):
                return np.asarray(result).round(decimals)
            return tuple(np.asarray(part).round(decimals) for part in result)

        return Mistake("rounded", answered)

    return tuple(rounded(decimals) for decimals in (2, 3, 4))


def _first_axes(exercise: Exercise) -> list[str]:
    """The axes of the first argument that has any."""
    return next(axes for axes in map(str.split, exercise.axes) if len(axes[0]) == 1)


def _of_softmax(exercise: Exercise) -> Iterator[Part]:
    python, first = exercise.stage == "pure", _first_axes(exercise)
    yield in_softmax.SOFTMAX
    if len(first) > 1:  # or there is one row
        yield in_softmax.ROWS
    if first[0] in ("…", "b"):
        yield in_softmax.BATCH
    if exercise.attention is not None:
        yield in_softmax.NO_SOFTMAX
    if "…" in first and exercise.attention is not None:
        yield in_softmax.ANY_AXES
    if "large" in exercise.promised:
        yield in_softmax.LARGE_IN_PYTHON if python else in_softmax.LARGE
        if exercise.scores or not python:
            yield in_softmax.MAXIMA_IN_PYTHON if python else in_softmax.MAXIMA
    if "precision" in exercise.promised:
        yield in_softmax.PRECISION


def _of_attention(exercise: Exercise) -> Iterator[Part]:
    promised, axes = exercise.promised, _first_axes(exercise)
    projected = any(name.startswith("W") for name in (*exercise.parameters, *exercise.state))
    masked = "masked" in promised or exercise.causal
    if exercise.attention and not exercise.attention.scale:
        yield in_attention.SCALE
        yield in_attention.SCALE_LATE
        if any("bias" in each.split() for each in exercise.axes):
            yield in_attention.SCALE_OF_MASK
        if axes[0] in ("…", "b"):
            yield in_attention.SCALE_BY_FIRST_AXIS
        if axes[0] == "…":
            yield in_attention.SCALE_BY_SECOND_AXIS
        if any("v" in each.split() for each in (*exercise.axes, *exercise.state.values())):
            yield in_attention.SCALE_BY_VALUES
        if projected:
            yield in_attention.SCALE_BY_INPUT
    yield in_attention.SCORES
    yield in_attention.RESHAPED
    if projected:
        yield in_attention.PROJECTIONS
    yield in_attention.SWAPPED
    if not projected:
        yield in_attention.QUERIES_ALONE
    if [slot.name for slot in exercise.returns] != ["weights"]:
        yield in_attention.MIX
        if exercise.attention and not exercise.attention.scale:
            yield in_attention.SCALE_AFTER_MIX
    if len(exercise.returns) == 2:
        yield in_attention.RESULTS
    if masked:
        yield in_attention.MASK
        if "large" in promised:
            yield in_attention.FAR_BELOW
            yield in_attention.FAR_ABOVE
        if "large" in promised and not (exercise.causal or "causal" in exercise.parameters):
            yield in_attention.BEYOND
    if "empty" in promised:
        yield in_attention.EMPTY_ROWS
        yield in_attention.ANY_FOR_ALL
    if "finite" in promised:
        yield in_attention.EMPTY_SLOPES
    if exercise.causal or "causal" in exercise.parameters:
        yield in_attention.CAUSAL
    if "gradient" in promised:
        yield in_attention.GRADIENTS
        if len(exercise.returns) == 2:
            yield in_attention.GRADIENTS_OF_WEIGHTS
    if "precision" in promised and exercise.stage == "torch":
        yield in_attention.ROOT


def _cut_off(exercise: Exercise) -> tuple[Mistake, ...]:
    """The numbers are right, and what they were made from gets no gradient."""
    answer = exercise.oracle or (exercise.attention.oracle if exercise.attention else None)
    names = exercise.parameters
    matrices = [at for at, name in enumerate(names) if name.startswith("W")]
    if answer is None or not (matrices or exercise.state):
        return ()
    ends = ("?", "mask", "bias")
    tokens = [
        at
        for at, axes in enumerate(exercise.axes)
        if at not in matrices and names[at] not in exercise.drawn and not axes.endswith(ends)
    ]
    if exercise.state:
        parameters = (detached(answer, 0, only=only) for only in ("", "weight", "bias"))
        return (*parameters, *(detached(answer, at + 1) for at in tokens))
    cut = (matrices, matrices[:2], *([at] for at in tokens))
    return tuple(detached(answer, *positions) for positions in cut)


def mistakes_in(answer: Answer, *parts: Part, without: Collection[str] = ()) -> tuple[Mistake, ...]:
    """A Mistake for each way to make each mistake of these parts.

    Args:
        answer: makes the exercise's function out of a recipe.
        without: slugs that give the right numbers here, or those of another one.
    """
    return tuple(
        Mistake(one.slug, answer(Recipe(**variant)))
        for part in parts
        for one in part
        if one.slug not in without
        for variant in one.variants
    )


def detached(answer: Callable[..., Any], *positions: int, only: str = "") -> Mistake:
    """The mistake of cutting matrices off: the numbers are right, and they would never be learned.

    Args:
        answer: the exercise's function, done right.
        positions: of the arguments that are cut off; a module's parameters are one, in a dict.
        only: of parameters, how the names end of those that are: 'bias'.
    """

    def cut(*args: Any, **kwargs: Any) -> Any:
        return answer(
            *(_cut(arg, only) if at in positions else arg for at, arg in enumerate(args)),
            **kwargs,
        )

    return Mistake("no-gradient", cut)


def _cut(arg: Any, only: str) -> Any:
    if isinstance(arg, State):
        cut = (part.detach() if name.endswith(only) else part for name, part in arg.items())
        return State(dict(zip(arg, cut, strict=True)), arg.sizes)
    return arg.detach()
