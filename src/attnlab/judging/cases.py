"""Generate → run → compare: every case of an exercise tried, and what came of it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

import numpy as np

from attnlab.calling.call import Call, Outcome
from attnlab.calling.observe import numbers_in, observe
from attnlab.exercise import TOLERANCE, Case, Exercise, Mistake, Relation
from attnlab.judging.compare import Answer, Difference, changed_input, compare, split, to_array
from attnlab.judging.diagnose import answer_of

# A wrong answer may have more numbers than the right one; what has many times more is known by its
# size alone.
TIMES, LEEWAY = 10, 1000
_RAISES = re.compile(r"\braise\s+\w*NotImplemented")
Perform = Callable[[Call], Outcome]


class BrokenCheck(Exception):
    """An exercise's own declaration is at fault, not the learner."""


@dataclass(frozen=True, slots=True, eq=False)
class Posed:
    """One case with its right answer: worked out once, and asked of every learner in a class.

    Attributes:
        call: the case as plain data.
    """

    seed: int
    case: Case
    call: Call
    right: Answer
    _mistaken: dict[Callable[..., Any], Answer] = field(default_factory=dict)

    def mistaken(self, mistake: Mistake) -> Answer:
        """What a mistake makes of this case."""
        if mistake.answer not in self._mistaken:
            self._mistaken[mistake.answer] = answer_of(mistake.answer, self.case)
        return self._mistaken[mistake.answer]


@dataclass(slots=True)
class Tried:
    """One case, tried.

    Attributes:
        difference: what is wrong with the answer, None if nothing is.
        mutation: which input was changed, None if none was.
    """

    posed: Posed
    outcome: Outcome
    difference: Difference | None
    mutation: Difference | None

    @property
    def seed(self) -> int:
        return self.posed.seed

    @property
    def case(self) -> Case:
        return self.posed.case

    @property
    def call(self) -> Call:
        return self.posed.call

    @property
    def right(self) -> Answer:
        return self.posed.right

    def mistaken(self, mistake: Mistake) -> Answer:
        return self.posed.mistaken(mistake)


@dataclass(frozen=True, slots=True)
class Related:
    """A relation, tried: whether it holds, and the call that shows that it does not.

    Attributes:
        holds: None if it could not be tried.
        tried: where it could not, the call that came to nothing, if any was made.
    """

    relation: Relation
    holds: bool | None
    tried: Tried | None = None


def try_all(exercise: Exercise, perform: Perform, seeds: tuple[int, ...]) -> list[Tried]:
    """Try the cases of all groups, in order, until one does not come back.

    Raises:
        BrokenCheck: the oracle has no answer to one of its own cases.
    """
    tried: list[Tried] = []
    for posed in _posed(exercise, seeds):
        tried.append(_try(exercise, perform, posed))
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
    """Whether the very first call said that there is nothing to call yet.

    PyTorch raises the same error for what it cannot compute; a stub raises it by itself.
    """
    first = tried[0].outcome.raised
    if first is None or "NotImplementedError" not in first.names or not first.function:
        return False
    return not first.line or bool(_RAISES.search(first.line))


def try_relation(
    exercise: Exercise, relation: Relation, perform: Perform, seeds: tuple[int, ...]
) -> Related:
    """Make a relation's two calls for each seed and see whether it holds."""
    for posed in _posed_for(exercise, relation, seeds):
        pair = [_try(exercise, perform, item) for item in posed]
        one, other = (arrays_of(exercise, item) for item in pair)
        if one is None or other is None:
            return Related(relation, None, pair[0 if one is None else 1])
        with np.errstate(all="ignore"):
            holds = relation.holds(one, other)
        if not holds:
            return Related(relation, False, pair[1])
    return Related(relation, True)


@np.errstate(all="ignore")
def arrays_of(exercise: Exercise, tried: Tried) -> tuple[np.ndarray, ...] | None:
    """The results of a call as arrays, or None if their types or shapes are wrong.

    Where numbers are right, numbers they are, floats all of them float64; where a mask is, bool.
    """
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
        if array.dtype.kind not in ("b" if right.dtype == bool else "fiu"):
            return None
        as_float = "f" in (array.dtype.kind, right.dtype.kind)
        arrays.append(array.astype(float) if as_float else array)
    return tuple(arrays)


@lru_cache(maxsize=64)
def _posed(exercise: Exercise, seeds: tuple[int, ...]) -> tuple[Posed, ...]:
    """All cases of an exercise, posed."""
    return tuple(_pose(exercise, seed, case) for seed, case in generate(exercise, seeds))


@lru_cache(maxsize=64)
def _posed_for(
    exercise: Exercise, relation: Relation, seeds: tuple[int, ...]
) -> tuple[tuple[Posed, ...], ...]:
    """The two cases of a relation for each seed, posed."""
    return tuple(
        tuple(_pose(exercise, seed, case) for case in relation.cases(np.random.default_rng(seed)))
        for seed in seeds
    )


def _pose(exercise: Exercise, seed: int, case: Case) -> Posed:
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
    numbers = sum(map(numbers_in, (*call.args, *call.kwargs.values())))
    numbers += sum(values.size for values in right.values)
    return Posed(seed, case, replace(call, most=LEEWAY + TIMES * numbers), right)


def _try(exercise: Exercise, perform: Perform, posed: Posed) -> Tried:
    outcome, case = perform(posed.call), posed.case
    difference = compare(
        outcome, posed.right, exercise.slots(case), case.tolerance, case.exact_zeros
    )
    mutation = changed_input(posed.call, outcome.after, exercise.parameters)
    return Tried(posed, outcome, difference, mutation)


def _wobble(exercise: Exercise, perform: Perform, first: Tried) -> Difference | None:
    """Whether the same call gives two answers. Asked only where the first has the right form."""
    one = arrays_of(exercise, first)
    if one is None:
        return None
    again = Tried(first.posed, perform(first.call), None, None)
    two = arrays_of(exercise, again)
    if two is None:
        return None
    for a, b, slot in zip(one, two, exercise.returns, strict=True):
        if not np.allclose(a.astype(float), b.astype(float), 0, TOLERANCE, equal_nan=True):
            text = f"called twice with the same inputs, it returned two different {slot.name}"
            return Difference("nondeterministic", text)
    return None
