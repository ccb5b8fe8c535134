"""From a declaration and a way to call the learner's function, to a verdict.

The caller brings `perform`: in a notebook it calls the function here and now; a grader sends the
inputs to another process. Nothing in this module knows which.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np

from attnlab.checks import advice
from attnlab.checks.calling import Call, Outcome
from attnlab.checks.compare import Answer, Difference, changed_input, compare, split, to_array
from attnlab.checks.declare import SEEDS, UNCHANGED, Case, Exercise, Group, Property
from attnlab.checks.diagnose import answer_of, diagnose
from attnlab.checks.findings import Diagnosis, Line, Verdict
from attnlab.checks.observe import observe

Perform = Callable[[Call], Outcome]


class BrokenCheck(Exception):
    """An exercise's own declaration is at fault, not the learner."""


@dataclass(slots=True)
class _Tried:
    """One case, tried."""

    seed: int
    case: Case
    call: Call
    outcome: Outcome
    right: Answer
    difference: Difference | None
    mutation: Difference | None = field(default=None)


def judge(exercise: Exercise, perform: Perform, seeds: tuple[int, ...] = SEEDS) -> Verdict:
    """Try every case of an exercise on two seeds or more and say what was found.

    Args:
        exercise: the declaration.
        perform: makes one call of the learner's function.
        seeds: for the case generator.
    Raises:
        BrokenCheck: the oracle has no answer to one of its own cases.
    """
    tried: list[_Tried] = []
    for seed, case in generate(exercise, seeds):
        tried.append(_try(exercise, perform, seed, case))
        if tried[-1].outcome.stopped or _is_unwritten(tried[-1]):
            break  # every further call would end the same way
    wobble = _wobble(exercise, perform, tried[0])
    if wobble:
        tried[0].difference = wobble
    return _verdict(exercise, tried)


def generate(exercise: Exercise, seeds: tuple[int, ...]) -> Iterator[tuple[int, Case]]:
    """All cases of an exercise, in the order of its groups, seed by seed within each."""
    cases = [(seed, case) for seed in seeds for case in exercise.cases(np.random.default_rng(seed))]
    order = [group.name for group in exercise.groups]
    yield from sorted(cases, key=lambda pair: order.index(pair[1].group))


def parameter_names(exercise: Exercise) -> tuple[str, ...]:
    """Names of the parameters in an exercise's signature."""
    inside = exercise.signature.partition("(")[2].partition(")")[0]
    return tuple(part.split(":")[0].split("=")[0].strip() for part in inside.split(","))


def _try(exercise: Exercise, perform: Perform, seed: int, case: Case) -> _Tried:
    call = Call(
        tuple(observe(arg) for arg in case.args),
        {name: observe(arg) for name, arg in case.kwargs.items()},
    )
    right = Answer(raises=case.raises) if case.raises else answer_of(exercise.oracle, case)
    if right.raises != case.raises:
        raise BrokenCheck(f"the oracle of {exercise.name} raised {right.raises}, seed {seed}")
    outcome = perform(call)
    difference = compare(outcome, right, exercise.returns, case.tolerance, case.exact_zeros)
    mutation = changed_input(call, outcome.after, parameter_names(exercise))
    return _Tried(seed, case, call, outcome, right, difference, mutation)


def _is_unwritten(tried: _Tried) -> bool:
    return tried.difference is not None and tried.difference.slug == "unwritten"


def _wobble(exercise: Exercise, perform: Perform, first: _Tried) -> Difference | None:
    """Whether the same call gives two answers. Asked only where the first returned something."""
    if first.outcome.returned is None:
        return None
    again = perform(first.call)
    if again.returned is None or again.returned == first.outcome.returned:
        return None
    one, two = (
        split(first.outcome.returned, exercise.returns),
        split(again.returned, exercise.returns),
    )
    if isinstance(one, Difference) or isinstance(two, Difference):
        return None
    for a, b, slot in zip(one, two, exercise.returns, strict=True):
        x, y = to_array(a, slot), to_array(b, slot)
        if isinstance(x, Difference) or isinstance(y, Difference):
            continue
        if x.shape != y.shape or not np.allclose(x, y, 0, 1e-6, equal_nan=True):
            text = f"called twice with the same inputs, it returned two different {slot.name}"
            return Difference("nondeterministic", text)
    return None


def _verdict(exercise: Exercise, tried: list[_Tried]) -> Verdict:
    lines = _lines(exercise, tried)
    score = sum(line.earned for line in lines)
    failed = _first_failure(exercise, tried)
    if failed is None:
        return Verdict(exercise.name, exercise.lesson, "PASS", score, exercise.points, tuple(lines))
    shown, difference = failed
    if difference.slug == "unwritten":
        message = (
            f"Write `{exercise.name}` in the cell above, run that cell, and run this one again. "
            "The hints above it open one at a time."
        )
        return Verdict(
            exercise.name, exercise.lesson, "MISSING", 0.0, exercise.points, message=message
        )
    diagnosis = _diagnosis(exercise, tried, shown, difference)
    return Verdict(
        exercise.name,
        exercise.lesson,
        _status(exercise, shown, difference),
        score,
        exercise.points,
        tuple(lines),
        message=difference.text,
        where=_where(exercise, shown),
        inputs=dict(zip(parameter_names(exercise), shown.call.args, strict=False))
        | shown.call.kwargs,
        diagnosis=diagnosis,
        read=exercise.read,
        printed=shown.outcome.printed,
    )


def _group(exercise: Exercise, name: str) -> Group:
    return next(group for group in exercise.groups if group.name == name)


def _lines(exercise: Exercise, tried: list[_Tried]) -> list[Line]:
    """One line for each group and property, with the points that the groups earn."""
    core_holds = not any(
        item.difference for item in tried if _group(exercise, item.case.group).core
    )
    lines = []
    for group in exercise.groups:
        if group.name == UNCHANGED:
            returned = [item for item in tried if item.outcome.returned is not None]
            holds = not any(item.mutation for item in tried) if returned else None
        else:
            mine = [item for item in tried if item.case.group == group.name]
            holds = not any(item.difference for item in mine) if mine else None
        earned = group.worth if holds and core_holds else 0.0
        lines.append(Line(group.claim, holds, earned, group.worth))
    lines += [Line(prop.claim, _holds(exercise, prop, tried)) for prop in exercise.properties]
    return lines


def _holds(exercise: Exercise, prop: Property, tried: list[_Tried]) -> bool | None:
    """Whether a property is true of every answer that has the right types and shapes."""
    results = []
    for item in tried:
        if item.outcome.returned is None or item.case.raises:
            continue
        parts = split(item.outcome.returned, exercise.returns)
        if isinstance(parts, Difference):
            continue
        arrays = [to_array(part, slot) for part, slot in zip(parts, exercise.returns, strict=True)]
        shapes_fit = all(
            not isinstance(array, Difference) and array.shape == right.shape
            for array, right in zip(arrays, item.right.values, strict=True)
        )
        if shapes_fit:
            results.append(bool(prop.holds(item.case.args, *arrays)))
    return all(results) if results else None


def _first_failure(exercise: Exercise, tried: list[_Tried]) -> tuple[_Tried, Difference] | None:
    """The first thing that matters: groups in their order, then changed inputs."""
    for item in tried:
        if item.difference:
            return item, item.difference
    for item in tried:
        if item.mutation:
            return item, item.mutation
    return None


def _diagnosis(
    exercise: Exercise, tried: list[_Tried], shown: _Tried, difference: Difference
) -> Diagnosis | None:
    if difference.slug == "stopped":
        return None
    group = [item for item in tried if item.case.group == shown.case.group]
    if difference.slug not in ("mutated-input", "nondeterministic"):
        mistake = diagnose(
            exercise, [(item.seed, item.case, item.outcome, item.right) for item in group]
        )
        if mistake:
            return Diagnosis(mistake.slug, mistake.reason, mistake.remedy)
    general = advice.GENERAL.get(difference.slug)
    return Diagnosis(difference.slug, *general) if general else None


def _status(exercise: Exercise, shown: _Tried, difference: Difference) -> str:
    if shown.outcome.stopped == "time":
        return "TIMEOUT"
    if shown.outcome.stopped:
        return "ERROR"
    raised_in_core = (
        difference.slug in ("raised", "endless-recursion")
        and _group(exercise, shown.case.group).core
    )
    return "ERROR" if raised_in_core else "FAIL"


def _where(exercise: Exercise, shown: _Tried) -> str:
    """The call that failed, short enough to read: small inputs in full, large ones by shape."""
    names = parameter_names(exercise)
    shown_args = [
        f"{name} = {_brief(arg)}" for name, arg in zip(names, shown.case.args, strict=False)
    ]
    shown_args += [f"{name} = {_brief(arg)}" for name, arg in shown.case.kwargs.items()]
    note = f"when {shown.case.note}: " if shown.case.note else ""
    return f"{note}{', '.join(shown_args)}"


def _brief(arg: object) -> str:
    if hasattr(arg, "shape"):
        return f"{type(arg).__name__} {tuple(arg.shape)}"
    rounded = _rounded(arg)
    text = repr(rounded)
    if len(text) <= 60:
        return text
    if isinstance(arg, list) and arg and isinstance(arg[0], list):
        return f"{len(arg)} lists of {len(arg[0])}"
    return f"{len(arg)} items" if isinstance(arg, list) else text[:57] + "…"


def _rounded(arg: object) -> object:
    if isinstance(arg, list):
        return [_rounded(item) for item in arg]
    return float(f"{arg:.6g}") if isinstance(arg, float) else arg
