"""Generate → run → compare: every case of an exercise tried, and what came of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from attnlab.checks.calling import Call, Outcome
from attnlab.checks.compare import Answer, Difference, changed_input, compare, split, to_array
from attnlab.checks.declare import TOLERANCE, Case, Exercise, Relation
from attnlab.checks.diagnose import answer_of
from attnlab.checks.observe import observe

Perform = Callable[[Call], Outcome]


class BrokenCheck(Exception):
    """An exercise's own declaration is at fault, not the learner."""


@dataclass(slots=True)
class Tried:
    """One case, tried.

    Attributes:
        difference: what is wrong with the answer, None if nothing is.
        mutation: which input was changed, None if none was.
    """

    seed: int
    case: Case
    call: Call
    outcome: Outcome
    right: Answer
    difference: Difference | None
    mutation: Difference | None


@dataclass(frozen=True, slots=True)
class Related:
    """A relation, tried: whether it holds (None if it could not be tried), and in which call."""

    relation: Relation
    holds: bool | None
    tried: Tried | None = None


def try_all(exercise: Exercise, perform: Perform, seeds: tuple[int, ...]) -> list[Tried]:
    """Try the cases of all groups, in order, until one does not come back.

    Raises:
        BrokenCheck: the oracle has no answer to one of its own cases.
    """
    tried: list[Tried] = []
    for seed, case in generate(exercise, seeds):
        tried.append(_try(exercise, perform, seed, case))
        if tried[-1].outcome.stopped or is_unwritten(tried):
            break  # every further call would end the same way
    wobble = _wobble(exercise, perform, tried[0])
    if wobble:
        tried[0].difference = wobble
    return tried


def generate(exercise: Exercise, seeds: tuple[int, ...]) -> Iterator[tuple[int, Case]]:
    """All cases of an exercise, in the order of its groups, seed by seed within each."""
    cases = [(seed, case) for seed in seeds for case in exercise.cases(np.random.default_rng(seed))]
    order = [group.name for group in exercise.groups]
    yield from sorted(cases, key=lambda pair: order.index(pair[1].group))


def is_unwritten(tried: list[Tried]) -> bool:
    """Whether the very first call said that there is nothing to call yet."""
    first = tried[0].outcome.raised
    return first is not None and "NotImplementedError" in first.names


def try_relation(
    exercise: Exercise, relation: Relation, perform: Perform, seeds: tuple[int, ...]
) -> Related:
    """Make a relation's two calls for each seed and see whether it holds."""
    for seed in seeds:
        pair = [
            _try(exercise, perform, seed, case)
            for case in relation.cases(np.random.default_rng(seed))
        ]
        one, other = (arrays_of(exercise, item) for item in pair)
        if one is None or other is None:
            return Related(relation, None)
        if not relation.holds(one, other):
            return Related(relation, False, pair[1])
    return Related(relation, True)


def arrays_of(exercise: Exercise, tried: Tried) -> tuple[np.ndarray, ...] | None:
    """The results of a call as arrays, or None if their types or shapes are wrong."""
    if tried.outcome.returned is None or tried.case.raises:
        return None
    slots = exercise.slots(tried.case)
    parts = split(tried.outcome.returned, slots)
    if isinstance(parts, Difference):
        return None
    arrays = []
    for part, slot, right in zip(parts, slots, tried.right.values, strict=True):
        array = to_array(part, slot)
        if isinstance(array, Difference) or array.shape != right.shape:
            return None
        arrays.append(array)
    return tuple(arrays)


def _try(exercise: Exercise, perform: Perform, seed: int, case: Case) -> Tried:
    call = Call(
        tuple(observe(arg) for arg in case.args),
        {name: observe(arg) for name, arg in case.kwargs.items()},
        None if case.sizes is None else tuple(observe(size) for size in case.sizes),
        {name: observe(tensor) for name, tensor in case.state.items()},
        case.gradient,
        exercise.fused_banned,
    )
    right = Answer(raises=case.raises) if case.raises else answer_of(exercise.oracle, case)
    if right.raises != case.raises:
        raise BrokenCheck(f"the oracle of {exercise.name} raised {right.raises}, seed {seed}")
    outcome = perform(call)
    difference = compare(outcome, right, exercise.slots(case), case.tolerance, case.exact_zeros)
    mutation = changed_input(call, outcome.after, exercise.parameters)
    return Tried(seed, case, call, outcome, right, difference, mutation)


def _wobble(exercise: Exercise, perform: Perform, first: Tried) -> Difference | None:
    """Whether the same call gives two answers. Asked only where the first has the right form."""
    one = arrays_of(exercise, first)
    if one is None:
        return None
    outcome = perform(first.call)
    again = Tried(first.seed, first.case, first.call, outcome, first.right, None, None)
    two = arrays_of(exercise, again)
    if two is None:
        return None
    for a, b, slot in zip(one, two, exercise.returns, strict=True):
        if not np.allclose(a.astype(float), b.astype(float), 0, TOLERANCE, equal_nan=True):
            text = f"called twice with the same inputs, it returned two different {slot.name}"
            return Difference("nondeterministic", text)
    return None
