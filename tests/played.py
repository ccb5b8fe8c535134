"""Answers that are played from a table or a formula, with no function behind them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from attnlab.calling.call import Call, Outcome, Raised
from attnlab.calling.observe import lay, observe
from attnlab.checks.diagnose import mistaken
from attnlab.checks.exercise import SEEDS, Exercise, Slot
from attnlab.checks.judge import judge
from attnlab.checks.pose import Expected, Posed, pose
from attnlab.checks.small import small
from attnlab.checks.verdict import Verdict

Play = Callable[[Posed], Expected]


def played(exercise: Exercise, play: Play, seeds: tuple[int, ...]) -> Verdict:
    """The verdict on a learner who gives these answers, in the types that are asked for."""
    posed = {id(each.call.args): each for each in (*pose(exercise, seeds), *small(exercise))}

    def perform(calls: Sequence[Call]) -> Iterator[Outcome]:
        for call in calls:
            each = posed[id(call.args)]
            yield outcome_of(play(each), each)

    return judge(exercise, perform, seeds)


def can_be_played(exercise: Exercise) -> bool:
    """Whether an answer is numbers: where many are right in every case, there are none to play."""
    return not all(
        each.case.procedure and each.case.procedure.missed for each in pose(exercise, SEEDS)
    )


def by_formula(formula: Callable[..., Any]) -> Play:
    """A learner who makes one mistake, and refuses what has to be refused.

    Where many answers are right a mistake is a question, which plays nothing: there it is right.
    """

    def play(each: Posed) -> Expected:
        many = each.case.procedure and each.case.procedure.missed
        if many or each.right.raises:
            return each.right
        return mistaken(formula, each)[0]

    return play


def outcome_of(answer: Expected, posed: Posed) -> Outcome:
    """What a call would have come to, its inputs as they were."""
    after = tuple(posed.inputs.values())
    if answer.raises:
        first = answer.raises.partition(" or ")[0]
        raised = Raised((first, "Exception", "BaseException"), "made", f"raise {first}", "")
        return Outcome(raised=raised, after=after)
    pairs = zip(answer.values, posed.slots, strict=False)
    laid = posed.case.laid.replace("views", "")
    values = [lay(_in_kind(np.asarray(value), slot), laid) for value, slot in pairs]
    whole = values[0] if len(posed.slots) == 1 and len(values) == 1 else tuple(values)
    return Outcome(returned=observe(whole), after=after)


def _in_kind(value: np.ndarray, slot: Slot) -> Any:
    """An array as what a slot asks for."""
    if slot.kind == "list":
        return (value.astype(float) if value.dtype.kind in "bif" else value).tolist()
    if slot.kind == "tensor":
        import torch

        return torch.from_numpy(np.array(value))
    if slot.kind == "ndarray" or value.ndim:
        return np.array(value)
    return value.item()
