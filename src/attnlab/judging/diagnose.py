"""Which mistake is it? An answer is named after the one mistake that it equals, or not at all."""

from __future__ import annotations

import copy
import functools
from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np

from attnlab.calling.call import Outcome
from attnlab.calling.observe import Array, Items, Scalar, Value
from attnlab.exercise import TOLERANCE, Case, Exercise, Mistake, Slot
from attnlab.judging.compare import Answer

TEXT = 100  # characters of text that is compared with a mistake's


class Evidence(Protocol):
    """A case that was tried: its seed, what the learner's function did, and what was right.

    `mistaken` tells what a mistake would have made of it.
    """

    @property
    def seed(self) -> int: ...
    @property
    def case(self) -> Case: ...
    @property
    def outcome(self) -> Outcome: ...
    @property
    def right(self) -> Answer: ...

    def mistaken(self, mistake: Mistake) -> Answer: ...


def answer_of(function: Callable[..., Any], case: Case) -> Answer:
    """What an oracle or a mistake makes of a case.

    Args:
        function: takes the case's arguments; returns an array-like, or a tuple of them.
        case: its args are copied first, as mistakes may change them.
    """
    args, kwargs, state = copy.deepcopy((case.args, dict(case.kwargs), dict(case.state)))
    target = function if case.sizes is None else functools.partial(function, state)
    try:
        with np.errstate(all="ignore"):
            if case.gradient:
                from attnlab.calling.torch_calls import gradients

                parameters = [tensor.requires_grad_() for tensor in state.values()]
                result = gradients(target, args, kwargs, parameters)
            else:
                result = target(*args, **kwargs)
    except Exception as error:
        return Answer(raises=type(error).__name__)
    parts = result if isinstance(result, tuple) else (result,)
    return Answer(values=tuple(np.asarray(part) for part in parts))


def diagnose(
    exercise: Exercise, failed: Sequence[Evidence], passed: Sequence[Evidence] = ()
) -> Mistake | None:
    """The mistake that a wrong answer equals.

    Args:
        exercise: whose bank of mistakes is searched.
        failed: all cases of the group that failed.
        passed: the cases before it, which came out right. A mistake that would have got one of them
            wrong is another one, though both give NaN now.
    Returns:
        The one mistake whose answers equal the learner's in all these cases, on two seeds or more,
        and which differs from the right answer in those that failed. None if there is no
        such mistake, or if several fit that no case tells apart.
    """
    for mistakes in (exercise.mistakes, exercise.pairs):
        fitting = [
            mistake
            for mistake in mistakes
            if _equal_in_all(mistake, exercise, [*failed, *passed]) and _tells(mistake, failed)
        ]
        slugs = {mistake.slug for mistake in fitting}
        if slugs:
            return fitting[0] if len(slugs) == 1 else None
    return None


def _equal_in_all(mistake: Mistake, exercise: Exercise, evidence: Sequence[Evidence]) -> bool:
    return all(
        equals(
            item.outcome,
            item.mistaken(mistake),
            exercise.slots(item.case),
            item.case.tolerance,
        )
        for item in evidence
    )


def _tells(mistake: Mistake, evidence: Sequence[Evidence]) -> bool:
    """Whether a mistake differs from the right answer on two seeds or more."""
    seeds = {item.seed for item in evidence if not _same_answer(item.mistaken(mistake), item.right)}
    return len(seeds) >= 2


@np.errstate(all="ignore")
def equals(outcome: Outcome, answer: Answer, slots: tuple[Slot, ...], tolerance: float) -> bool:
    """Whether an outcome has an answer's numbers, or its exception. NaN equals NaN here."""
    if outcome.stopped:
        return False
    if outcome.raised:
        return outcome.raised.name == answer.raises
    if answer.raises:
        return False
    assert outcome.returned is not None
    one = len(slots) == 1
    parts = (outcome.returned,) if one else getattr(outcome.returned, "items", ())
    if len(parts) != len(answer.values):
        return False
    return all(
        _close(loose_array(part, values.shape), values, tolerance)
        for part, values in zip(parts, answer.values, strict=True)
    )


def loose_array(value: Value, shape: tuple[int, ...]) -> np.ndarray | None:
    """A value as an array, whatever its container; None if it is not numbers in such a shape."""
    match value:
        case Array(_, dtype, found, data) if found == shape:
            return np.frombuffer(data, dtype).reshape(shape)
        case Scalar(_, int() | float() as number) if not shape:
            return np.asarray(number)
        case Scalar(_, str() as text) if not shape and len(text) <= TEXT:
            return np.asarray(text)  # all are as wide as the longest
        case Items(_, items) if shape and len(items) == shape[0]:
            parts = [loose_array(item, shape[1:]) for item in items]
            if any(part is None for part in parts):
                return None
            return np.array(parts).reshape(shape)
        case _:
            return None


def _same_answer(one: Answer, other: Answer) -> bool:
    if one.raises or other.raises:
        return one.raises == other.raises
    return all(
        _close(a, b, TOLERANCE) for a, b in zip(one.values, other.values, strict=False)
    ) and len(one.values) == len(other.values)


def _close(a: np.ndarray | None, b: np.ndarray, tolerance: float) -> bool:
    if a is None or a.shape != b.shape:
        return False
    if a.dtype.kind not in "fiub" or b.dtype.kind not in "fiub":
        return a.dtype.kind == b.dtype.kind and bool((a == b).all())
    return bool(np.allclose(a.astype(float), b.astype(float), 1e-9, tolerance, equal_nan=True))
