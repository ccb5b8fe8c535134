"""From a declaration and a way to call the learner's function, to a verdict.

The caller brings `perform`: in a notebook it calls the function here and now; a grader sends the
inputs to another process. Nothing in this module knows which.
"""

from __future__ import annotations

from attnlab.calling.observe import Scalar, Seed, describe
from attnlab.exercise import SEEDS, UNCHANGED, Exercise, Group, Property
from attnlab.judging import advice
from attnlab.judging.cases import (
    Perform,
    Related,
    Tried,
    arrays_of,
    is_unwritten,
    try_all,
    try_relation,
)
from attnlab.judging.compare import Difference
from attnlab.judging.diagnose import diagnose
from attnlab.judging.verdict import Diagnosis, Line, Verdict


def judge(
    exercise: Exercise, perform: Perform, seeds: tuple[int, ...] = SEEDS, hidden: bool = False
) -> Verdict:
    """Try every case of an exercise on two seeds or more and say what was found.

    Args:
        exercise: the declaration.
        perform: makes one call of the learner's function.
        seeds: for the case generator.
        hidden: whether the cases stay hidden: then the verdict has no right number of theirs.
    Raises:
        BrokenCheck: the oracle has no answer to one of its own cases.
    """
    tried = try_all(exercise, perform, seeds)
    if exercise.fused_banned and any(item.outcome.fused for item in tried):
        return _forfeit(exercise, tried)
    if is_unwritten(tried):
        message = _not_written(exercise.name, tried[0])
        return Verdict(
            exercise.name, exercise.lesson, "MISSING", 0.0, exercise.points, message=message
        )
    if tried[-1].outcome.stopped:
        related = [Related(relation, None) for relation in exercise.relations]
    else:
        related = [
            try_relation(exercise, relation, perform, seeds) for relation in exercise.relations
        ]
    return _verdict(exercise, tried, related, hidden)


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
    exercise: Exercise, tried: list[Tried], related: list[Related], hidden: bool
) -> Verdict:
    lines = _lines(exercise, tried, related)
    score = sum(line.earned for line in lines)
    failed = _first_failure(tried, related)
    if failed is None:
        return Verdict(exercise.name, exercise.lesson, "PASS", score, exercise.points, tuple(lines))
    shown, difference, known = failed
    inputs = {**dict(zip(exercise.parameters, shown.call.args, strict=False)), **shown.call.kwargs}
    return Verdict(
        exercise.name,
        exercise.lesson,
        _status(exercise, shown, difference),
        score,
        exercise.points,
        tuple(lines),
        message=(hidden and difference.untold) or difference.text,
        where=_where(exercise, shown),
        built=_built(shown),
        inputs={} if hidden else inputs,
        diagnosis=known or _diagnosis(exercise, tried, shown, difference),
        read=exercise.read,
        printed=shown.outcome.printed,
    )


def _built(shown: Tried) -> str:
    """How the module of a case is built, in its precision; '' if it needs none."""
    if shown.case.sizes is None:
        return ""
    wide = any(str(tensor.dtype) == "torch.float64" for tensor in shown.case.state.values())
    return f"{shown.case.sizes}{'.double()' if wide else ''}"


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


def _lines(exercise: Exercise, tried: list[Tried], related: list[Related]) -> list[Line]:
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
            if not (holds or core_holds or group.core):
                holds = None  # what failed there may be no more than what failed at the core
        earned = group.worth if holds and core_holds else 0.0
        lines.append(Line(group.claim, holds, earned, group.worth))
    for item in related:
        relation = item.relation
        earned = relation.worth if item.holds and core_holds else 0.0
        lines.append(Line(relation.claim, item.holds, earned, relation.worth))
    lines += [Line(prop.claim, _holds(exercise, prop, tried)) for prop in exercise.properties]
    if arrays_of(exercise, tried[0]) is None:
        agree = None
    else:
        agree = not (tried[0].difference and tried[0].difference.slug == "nondeterministic")
    return [*lines, Line("two calls agree", agree)]


def _holds(exercise: Exercise, prop: Property, tried: list[Tried]) -> bool | None:
    """Whether a property is true of every answer that has the right types and shapes."""
    results = []
    for item in tried:
        arrays = None if item.case.gradient else arrays_of(exercise, item)
        if arrays is not None:
            results.append(bool(prop.holds(item.case.args, *arrays)))
    return all(results) if results else None


def _first_failure(
    tried: list[Tried], related: list[Related]
) -> tuple[Tried, Difference, Diagnosis | None] | None:
    """The first thing that matters: groups in their order, then changed inputs, then relations."""
    changed = next(((item, item.mutation, None) for item in tried if item.mutation), None)
    for item in tried:
        if item.difference:
            # PyTorch raises where an input is changed whose gradient is asked for.
            refused = item.case.gradient and item.difference.slug == "raised"
            return changed if changed and refused else (item, item.difference, None)
    if changed:
        return changed
    for pair in related:
        if pair.holds is None and pair.tried is not None and pair.tried.difference is not None:
            difference = pair.tried.difference
            return pair.tried, difference, _general(pair.tried, difference)
        if pair.holds is False and pair.tried is not None:
            relation = pair.relation
            diagnosis = Diagnosis(relation.slug, relation.reason, relation.remedy)
            text = f"it does not hold that {relation.claim}"
            return pair.tried, Difference(relation.slug, text), diagnosis
    return None


def _diagnosis(
    exercise: Exercise, tried: list[Tried], shown: Tried, difference: Difference
) -> Diagnosis | None:
    if difference.slug == "stopped":
        return None
    failed = [item for item in tried if item.case.group == shown.case.group]
    passed = [item for item in tried[: tried.index(failed[0])] if not item.case.raises]
    if difference.slug not in ("mutated-input", "nondeterministic"):
        mistake = diagnose(exercise, failed, passed)
        if mistake:
            return Diagnosis(mistake.slug, mistake.reason, mistake.remedy)
    if shown.mutation and difference.slug == "values":
        difference = shown.mutation
    return _general(shown, difference)


def _general(shown: Tried, difference: Difference) -> Diagnosis | None:
    """What can be said without comparing numbers."""
    key = difference.advice or difference.slug
    raised = shown.outcome.raised
    if shown.case.gradient and raised and "modified by an inplace operation" in raised.message:
        key = "changed-in-place"
    if shown.outcome.returned == Scalar("NoneType", None) and key != "not-raised":
        key = "nothing-returned"
    general = advice.GENERAL.get(key)
    return Diagnosis(difference.slug, *general) if general else None


def _status(exercise: Exercise, shown: Tried, difference: Difference) -> str:
    if shown.outcome.stopped in ("time", "memory"):
        return {"time": "TIMEOUT", "memory": "OOM"}[shown.outcome.stopped]
    if shown.outcome.stopped:
        return "ERROR"
    raised_in_core = shown.outcome.raised is not None and _group(exercise, shown.case.group).core
    return "ERROR" if raised_in_core else "FAIL"


def _where(exercise: Exercise, shown: Tried) -> str:
    """The call that failed, short enough to read: small inputs in full, large ones by shape."""
    names = exercise.parameters
    shown_args = [
        f"{name} = {_brief(arg)}" for name, arg in zip(names, shown.case.args, strict=False)
    ]
    shown_args += [f"{name} = {_brief(arg)}" for name, arg in shown.case.kwargs.items()]
    note = f"when {shown.case.note}: " if shown.case.note else ""
    return f"{note}{', '.join(shown_args)}"


def _brief(arg: object) -> str:
    if isinstance(arg, Seed):
        return describe(arg)
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
