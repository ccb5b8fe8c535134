"""From a declaration and a way to call the learner's function, to a verdict.

The caller brings `perform`: in a notebook it calls the function here and now; a grader sends the
inputs to another process. Nothing in this module knows which.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from attnlab.calling.call import Call, Outcome
from attnlab.checks import advice
from attnlab.checks.compare import Difference, Tried, examine
from attnlab.checks.crashes import is_meant
from attnlab.checks.diagnose import diagnose, without_numbers
from attnlab.checks.exercise import SEEDS, TOLERANCE, UNCHANGED, Exercise, Group, Property, Relation
from attnlab.checks.pose import Posed, brief, pose, pose_related
from attnlab.checks.verdict import Diagnosis, Line, Verdict

Perform = Callable[[Call], Outcome]
_RAISES = re.compile(r"\braise\s+\w*NotImplemented")
_MADE = {
    "modules.in_evaluation": "only-in-training",
    "modules.beside_a_twin": "shared-by-modules",
    "modules.beside_a_larger": "shared-by-modules",
}


@dataclass(frozen=True, slots=True)
class _Related:
    """A relation, tried: whether it holds, and the call that shows that it does not.

    Attributes:
        holds: None if it could not be tried.
        tried: where it could not, the call that came to nothing, if any was made.
    """

    relation: Relation
    holds: bool | None
    tried: Tried | None = None


def judge(
    exercise: Exercise,
    perform: Perform,
    seeds: tuple[int, ...] = SEEDS,
    hidden: bool = False,
    during: AbstractContextManager[Any] | None = None,
) -> Verdict:
    """Try every case of an exercise on two seeds or more and say what was found.

    Args:
        exercise: the declaration.
        perform: makes one call of the learner's function.
        seeds: for the case generator.
        hidden: whether the cases stay hidden: then the verdict has no right number of theirs.
        during: a block in which all calls are made, and nothing of our own is computed.
    Raises:
        BrokenCheck: the oracle has no answer to one of its own cases.
    """
    posed = pose(exercise, seeds)
    pairs = [pose_related(exercise, relation, seeds) for relation in exercise.relations]
    with during or nullcontext():
        tried = _try_all(perform, posed)
        related = [
            _Related(relation, None) if _is_over(tried) else _try_relation(relation, perform, each)
            for relation, each in zip(exercise.relations, pairs, strict=True)
        ]
    if exercise.fused_banned and any(item.outcome.fused for item in tried):
        return _forfeit(exercise, tried)
    if _is_unwritten(tried[0]):
        message = _not_written(exercise.name, tried[0])
        return Verdict(
            exercise.name, exercise.lesson, "MISSING", 0.0, exercise.points, message=message
        )
    return _verdict(exercise, tried, related, hidden)


def _try_all(perform: Perform, cases: Sequence[Posed]) -> list[Tried]:
    """Try the cases of all groups, in order, until one does not come back."""
    tried: list[Tried] = []
    asked: Tried | None = None
    for posed in cases:
        item = _try(perform, posed)
        if asked is None and item.difference and not posed.call.by:
            # At once, as it may go by the number of calls; the very first case comes again last.
            asked = item = replace(item, again=_again(perform, item))
        tried.append(item)
        if _is_over(tried):
            return tried
    if asked is not tried[0]:
        tried[0] = replace(tried[0], again=_again(perform, tried[0]))
    return tried


def _try(perform: Perform, posed: Posed) -> Tried:
    """Try one case.

    Where it is wrong, and right without the call before it, or made in the usual way, that is the
    reason.
    """
    item, call = examine(posed, perform(posed.call)), posed.call
    if item.difference is None or item.difference.slug == "shared-result" or item.outcome.stopped:
        return item
    plainer = []
    if call.made:
        call = replace(call, made="")
        plainer.append((_MADE[posed.call.made], call))
    if call.earlier:
        plainer.append(("remembers-a-call", replace(call, earlier=())))
    for slug, call in plainer:
        if examine(posed, perform(call)).difference is None:
            return replace(item, difference=replace(item.difference, slug=slug, advice=""))
    return item


def _is_over(tried: list[Tried]) -> bool:
    """Whether every further call would end as the last one did."""
    return bool(tried[-1].outcome.stopped) or _is_unwritten(tried[0])


def _is_unwritten(first: Tried) -> bool:
    """Whether the very first call said that there is nothing to call yet.

    PyTorch raises the same error for what it cannot compute; a stub raises it by itself.
    """
    raised = first.outcome.raised
    if raised is None or "NotImplementedError" not in raised.names or not raised.function:
        return False
    return not raised.line or bool(_RAISES.search(raised.line))


def _try_relation(
    relation: Relation, perform: Perform, pairs: Iterable[Sequence[Posed]]
) -> _Related:
    """Make a relation's two calls for each seed and see whether it holds."""
    for pair in pairs:
        one, other = (examine(posed, perform(posed.call)) for posed in pair)
        if one.arrays is None or other.arrays is None:
            return _Related(relation, None, one if one.arrays is None else other)
        with np.errstate(all="ignore"):
            holds = relation.holds(one.arrays, other.arrays)
        if not holds:
            return _Related(relation, False, other)
    return _Related(relation, True)


def _again(perform: Perform, first: Tried) -> Difference | None:
    """How the same call, made again, differs; None where the first has not the right form."""
    if first.arrays is None:
        return None
    again = examine(first.posed, perform(first.posed.call))
    if again.arrays is None:
        if again.difference is None or again.outcome.stopped:
            return None
        text = f"called a second time with the same inputs, it differs: {again.difference.text}"
        return Difference("nondeterministic", text)
    for a, b, slot in zip(first.arrays, again.arrays, first.posed.slots, strict=True):
        if not np.allclose(a.astype(float), b.astype(float), 0, TOLERANCE, equal_nan=True):
            text = f"called twice with the same inputs, it returned two different {slot.name}"
            return Difference("nondeterministic", text)
    return None


def _not_written(name: str, first: Tried) -> str:
    raised = first.outcome.raised
    if raised and raised.function not in ("", name, "__init__", "forward"):
        return (
            f"`{name}` calls `{raised.function}`, which is not written yet. Finish that one first, "
            "then run this cell again."
        )
    return (
        f"Write `{name}` in the cell above, run that cell, and run this one again. "
        "The hints above it open one at a time."
    )


def _verdict(
    exercise: Exercise, tried: list[Tried], related: list[_Related], hidden: bool
) -> Verdict:
    lines = _lines(exercise, tried, related)
    score = sum(line.earned for line in lines)
    failed = _first_failure(exercise, tried, related)
    if failed is None:
        return Verdict(exercise.name, exercise.lesson, "PASS", score, exercise.points, tuple(lines))
    shown, difference, known = failed
    return Verdict(
        exercise.name,
        exercise.lesson,
        _status(exercise, shown, difference),
        score,
        exercise.points,
        tuple(lines),
        message=(hidden and difference.untold) or difference.text,
        where=brief(shown.posed.case, exercise.names(shown.posed.case)),
        built=_built(shown),
        # What goes by a procedure is no call that a learner could make with them.
        inputs={} if hidden or shown.posed.case.way else shown.posed.inputs,
        diagnosis=_told(known or diagnose(exercise, tried, shown, difference), exercise.stage),
        read=exercise.read,
        printed=shown.outcome.printed,
    )


def _told(diagnosis: Diagnosis | None, stage: str) -> Diagnosis | None:
    """A diagnosis in the words of the lesson."""
    if diagnosis is None:
        return None
    said = (advice.spoken(text, stage) for text in (diagnosis.reason, diagnosis.remedy))
    return Diagnosis(diagnosis.slug, *said)


def _built(shown: Tried) -> str:
    """How the module of a case is built, in its precision; '' if it needs none."""
    if shown.posed.case.sizes is None:
        return ""
    wide = any(str(tensor.dtype) == "torch.float64" for tensor in shown.posed.case.state.values())
    return f"{shown.posed.case.sizes}{'.double()' if wide else ''}"


def _forfeit(exercise: Exercise, tried: list[Tried]) -> Verdict:
    """The verdict where PyTorch's own attention was called, and refused."""
    names = sorted({name for item in tried for name in item.outcome.fused})
    message = f"it calls PyTorch's own attention ({', '.join(names)}), which is refused here"
    return Verdict(
        exercise.name,
        exercise.lesson,
        "POLICY",
        0.0,
        exercise.points,
        message=message,
        diagnosis=Diagnosis("banned-call", *advice.GENERAL["banned-call"]),
        read=exercise.read,
    )


def _group(exercise: Exercise, name: str) -> Group:
    return next(group for group in exercise.groups if group.name == name)


def _lines(exercise: Exercise, tried: list[Tried], related: list[_Related]) -> list[Line]:
    """One line for each group and property, with the points that the groups earn."""
    failed = {item.posed.case.group for item in tried if item.difference}
    failed |= {UNCHANGED for item in tried if item.mutation}
    # A relation that is worth nothing is a group's: where it does not hold, that claim fails.
    free = [item for item in related if item.holds is False and not item.relation.worth]
    failed |= {item.tried.posed.case.group for item in free if item.tried}
    core = {group.name for group in exercise.groups if group.core}
    earns = not failed & core and tried[0].again is None
    crashes = {_crash(item) for item in tried if item.difference} - {None}
    lines = []
    for group in exercise.groups:
        if group.name == UNCHANGED:
            returned = [item for item in tried if item.outcome.returned is not None]
            holds = UNCHANGED not in failed if returned else None
        else:
            mine = [item for item in tried if item.posed.case.group == group.name]
            holds = group.name not in failed if mine else None
            needed = {*group.needs, *core}
            if any(item.posed.case.gradient for item in mine):
                needed.add(UNCHANGED)  # PyTorch refuses gradients of what was changed
            if holds is False and failed & needed - {group.name}:
                holds = None  # what failed there may be no more than what failed before
            if holds and any(_crash(item) in crashes for item in mine):
                holds = None  # what raises in vain as well is no refusal
            if holds is False and all(
                item.outcome.stopped == "time" for item in mine if item.difference
            ):
                holds = None  # it was not tried to the end
        earned = group.worth if holds and earns else 0.0
        lines.append(Line(group.claim, holds, earned, group.worth))
    for item in related:
        relation = item.relation
        earned = relation.worth if item.holds and earns else 0.0
        lines.append(Line(relation.claim, item.holds, earned, relation.worth))
    came_back = [item for item in tried if item.arrays is not None]
    shows = any(item.posed.case.group in core for item in came_back)  # corners alone show little
    for prop in exercise.properties:
        lines.append(Line(prop.claim, _holds(prop, came_back) if shows else None))
    agree = None if tried[0].arrays is None else all(item.again is None for item in tried)
    return [*lines, Line("two calls agree", agree)]


def _crash(item: Tried) -> tuple[str, str] | None:
    """What a line of the learner's raised by accident, sizes aside, and that line; else None."""
    raised = item.outcome.raised
    if raised is None or not raised.line or is_meant(raised):
        return None
    return re.sub(r"\d+", "0", raised.message), raised.line


def _holds(prop: Property, came_back: list[Tried]) -> bool | None:
    """Whether a property is true of every answer that has the right types and shapes."""
    results = []
    for item in came_back:
        if not item.posed.case.gradient:
            with np.errstate(all="ignore"):
                right = item.difference is None  # as near as it has to be
                results.append(
                    right or bool(prop.holds(item.posed.case.args, *(item.arrays or ())))
                )
    return all(results) if results else None


def _first_failure(
    exercise: Exercise, tried: list[Tried], related: list[_Related]
) -> tuple[Tried, Difference, Diagnosis | None] | None:
    """The first thing that matters.

    First comes an answer that differs from itself; then groups in their order, changed inputs and
    relations.
    """
    for item in tried:
        if item.again:
            return item, item.again, None
    changed = next(((item, item.mutation, None) for item in tried if item.mutation), None)
    for item in tried:
        if item.difference:
            # PyTorch raises where an input is changed whose gradient is asked for.
            refused = item.posed.case.gradient and item.difference.slug == "raised"
            return changed if changed and refused else (item, item.difference, None)
    if changed:
        return changed
    for pair in related:
        if pair.holds is None and pair.tried is not None and pair.tried.difference is not None:
            difference = pair.tried.difference
            return pair.tried, difference, without_numbers(exercise, pair.tried, difference)
        if pair.holds is False and pair.tried is not None:
            relation = pair.relation
            diagnosis = Diagnosis(relation.slug, relation.reason, relation.remedy)
            text = f"this does not hold: {relation.claim}"
            return pair.tried, Difference(relation.slug, text), diagnosis
    return None


def _status(exercise: Exercise, shown: Tried, difference: Difference) -> str:
    if shown.outcome.stopped in ("time", "memory"):
        return {"time": "TIMEOUT", "memory": "OOM"}[shown.outcome.stopped]
    if shown.outcome.stopped:
        return "ERROR"
    by_itself = difference.slug in ("raised", "endless-recursion")  # not by a way of calling
    return "ERROR" if by_itself and _group(exercise, shown.posed.case.group).core else "FAIL"
