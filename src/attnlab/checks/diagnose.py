"""Which mistake is it? An answer is named after the one mistake that it equals, or not at all."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from attnlab.checks.calling import Outcome
from attnlab.checks.compare import Answer
from attnlab.checks.declare import TOLERANCE, Case, Exercise, Mistake, Slot
from attnlab.checks.observe import Array, Items, Scalar, Value


def answer_of(function: object, case: Case) -> Answer:
    """What an oracle or a mistake makes of a case.

    Args:
        function: takes the case's arguments; returns an array-like, or a tuple of them.
        case: its args are copied first, as mistakes may change them.
    """
    import copy

    args, kwargs = copy.deepcopy((case.args, dict(case.kwargs)))
    try:
        with np.errstate(all="ignore"):
            result = function(*args, **kwargs)  # type: ignore[operator]
    except Exception as error:
        return Answer(raises=type(error).__name__)
    parts = result if isinstance(result, tuple) else (result,)
    return Answer(values=tuple(np.asarray(part) for part in parts))


def diagnose(
    exercise: Exercise, tried: Sequence[tuple[int, Case, Outcome, Answer]]
) -> Mistake | None:
    """The mistake that a wrong answer equals.

    Args:
        exercise: whose bank of mistakes is searched.
        tried: seed, case, the learner's outcome and the right answer, for all cases of one group.
    Returns:
        The one mistake whose answers equal the learner's in every case, on two seeds or more, and
        which differs from the right answer on each of those seeds. None if there is no such
        mistake, or if several fit whose answers are told apart by no case.
    """
    fitting = [mistake for mistake in exercise.mistakes if _fits(mistake, exercise, tried)]
    return fitting[0] if len(fitting) == 1 else None


def _fits(
    mistake: Mistake, exercise: Exercise, tried: Sequence[tuple[int, Case, Outcome, Answer]]
) -> bool:
    telling_seeds = set()
    for seed, case, outcome, right in tried:
        mistaken = answer_of(mistake.answer, case)
        if not equals(outcome, mistaken, exercise.returns, case.tolerance):
            return False
        if not _same_answer(mistaken, right):
            telling_seeds.add(seed)
    return len(telling_seeds) >= 2


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
        _close(loose_array(part), values, tolerance)
        for part, values in zip(parts, answer.values, strict=True)
    )


def loose_array(value: Value) -> np.ndarray | None:
    """A value as a float array, whatever its container, or None if it is not numbers in a grid."""
    match value:
        case Array(_, dtype, shape, data):
            return np.frombuffer(data, dtype).reshape(shape)
        case Scalar(kind, content) if kind not in ("str", "NoneType"):
            return np.asarray(content)
        case Items(_, items):
            parts = [loose_array(item) for item in items]
            if any(part is None or part.shape != parts[0].shape for part in parts):  # type: ignore[union-attr]
                return None
            return np.array(parts)
        case _:
            return None


def _same_answer(one: Answer, other: Answer) -> bool:
    if one.raises or other.raises:
        return one.raises == other.raises
    return all(
        _close(a, b, TOLERANCE) for a, b in zip(one.values, other.values, strict=False)
    ) and len(one.values) == len(other.values)


def _close(a: np.ndarray | None, b: np.ndarray, tolerance: float) -> bool:
    if a is None or a.shape != b.shape or a.dtype.kind not in "fiub":
        return False
    return bool(np.allclose(a.astype(float), b.astype(float), 0, tolerance, equal_nan=True))
