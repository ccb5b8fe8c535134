"""From a declaration and a way to call the learner's function, to a verdict.

The caller brings `perform`: in a notebook it calls the function here and now; a grader sends the
inputs to another process. Nothing in this module knows which.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from attnlab.calling.call import UNWRITTEN, Call, Outcome
from attnlab.checks.arrays import np
from attnlab.checks.compare import Difference, Tried, examine
from attnlab.checks.crashes import is_meant
from attnlab.checks.diagnose import asks_for_digits, diagnose, made
from attnlab.checks.example import example
from attnlab.checks.exercise import SEEDS, TOLERANCE, UNCHANGED, Case, Exercise
from attnlab.checks.pose import Posed, brief, pose
from attnlab.checks.verdict import Diagnosis, Line, Verdict
from attnlab.checks.words import spoken, words
from attnlab.ipynb.read import STUB

MANY = 16  # numbers
Perform = Callable[[Sequence[Call]], Iterator[Outcome]]
_OWN = ("", "__init__", "forward")  # functions of an exercise that do not have its name
_BUILT = {
    "modules.in_evaluation": "only-in-training",
    "modules.beside_a_twin": "shared-by-modules",
    "modules.beside_a_larger": "shared-by-modules",
}
_BANNED = {
    "attention": ("PyTorch's own attention", "banned-call"),
    "backward": ("softmax's own way back", "banned-backward"),
}


@dataclass(frozen=True, slots=True)
class _Trial:
    """What came of asking all cases.

    Attributes:
        tried: in the order of the claims; fewer than all if one did not come back.
        first: what was asked first.
    """

    tried: list[Tried]
    first: Tried


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
        perform: makes calls of the learner's function in order, until one is stopped; past the
            first, it may have made more of them than outcomes were taken.
        seeds: for the case generator.
        hidden: whether the cases stay hidden: then the verdict has no right number of theirs.
        during: a block in which all calls are made, and nothing of our own is computed.
    Raises:
        BrokenCheck: the oracle has no answer to one of its own cases.
    """
    posed = pose(exercise, seeds)
    with during or nullcontext():
        trial = _try_all(exercise, perform, posed, seeds[0])
    if exercise.banned and any(item.outcome.fused for item in trial.tried):
        return _forfeit(exercise, trial.tried)
    if _is_unwritten(trial.first):
        message = _not_written(exercise.name, trial.first)
        return Verdict(
            exercise.name, exercise.lesson, "MISSING", 0.0, exercise.points, message=message
        )
    return _verdict(exercise, trial.tried, None if hidden else partial(_once, perform))


def in_turn(cases: Sequence[Posed], seed: int) -> tuple[list[int], list[int]]:
    """Places of the cases that are tried first, and of those that are tried if their claim fails.

    A kind of corner is tried once; it has several cases in it where a mistake that is made in one
    was seen to be made in all. Ordinary cases are tried all.

    Args:
        seed: the first of the cases' seeds, which alone has a case of every kind.
    """
    order = sorted(range(len(cases)), key=lambda at: cases[at].turn)
    own = [at for at in order if cases[at].seed == seed]
    # A stub is known by its first call, and some procedures let no exception out.
    begin = next((at for at in own if cases[at].case.procedure is None), own[0])
    order = [begin, *(at for at in order if at != begin)]
    of_kind: dict[object, int] = {}
    for at in order:
        if cases[at].seed == seed:
            of_kind.setdefault(cases[at].kind, at)
    corners = set(of_kind.values())
    first = [at for at in order if at in corners or not cases[at].case.note]
    return first, [at for at in order if at not in first]


def _try_all(exercise: Exercise, perform: Perform, cases: Sequence[Posed], seed: int) -> _Trial:
    """Try cases, in an order that tells nothing, until one does not come back.

    First come all of one seed, and the ordinary ones of the others. If all is well that is enough.
    Else corners of the others are tried too, as a mistake is named by what it does on every seed:
    those of the claim that is shown, and of all that fail if that one does on one seed alone.
    """
    first, others = in_turn(cases, seed)
    tried: dict[int, Tried] = {}

    def wrong(*claims: str) -> list[int]:
        """Places of the cases of some claims that failed; of all, if none is said."""
        failed = (at for at, item in tried.items() if item.difference)
        return [at for at in failed if not claims or cases[at].case.claim in claims]

    def ask(places: Sequence[int]) -> bool:
        """Whether all came back."""
        for place, outcome in zip(places, perform([cases[at].call for at in places]), strict=True):
            tried[place] = examine(cases[place], outcome)
            if outcome.stopped or _is_unwritten(tried[first[0]]):
                return False
        return True

    whole = ask(first)
    items = [tried[at] for at in sorted(tried)]
    foremost = _foremost(exercise, items, _lines(exercise, items))
    shown = foremost.posed.case.claim if foremost else ""
    if whole and foremost:
        failed = {cases[at].case.claim for at in wrong()}
        telling = [at for at in others if _tells(cases[at].case, shown, failed)]
        whole = ask(telling)
        if whole and len({cases[at].seed for at in wrong(shown)}) < 2:
            rest = (at for at in others if at not in tried and cases[at].case.claim in failed)
            whole = ask([*rest])
    for place in wrong(shown) if foremost else ():
        tried[place] = _explained(perform, tried[place])
    if whole:
        # Some answers go by the number of calls, or by a coin: the first that has the right form is
        # asked again, and a wrong one, which no coin is likely to give twice if one is large.
        asked = [place for place in (*first, *others) if place in tried]
        formed = [at for at in asked if tried[at].arrays is not None and _is_steady(cases[at].case)]
        formed.sort(key=lambda at: _has_many(cases[at].case) and tried[at].difference is None)
        missed = [place for place in asked if tried[place].difference and not cases[place].call.by]
        missed.sort(key=partial(_is_few, cases))
        for place in dict.fromkeys((*missed[:1], *formed[:1])):
            again = _again(perform, tried[place])
            # A mistake that shows in what was done is told by that: its number may be a clock's.
            if again and not made(exercise, [*tried.values()], tried[place]):
                tried[place] = replace(tried[place], again=again)
    return _Trial([tried[place] for place in sorted(tried)], tried[first[0]])


def _tells(case: Case, shown: str, failed: Collection[str]) -> bool:
    """Whether a case helps to name what is shown: it is of that claim, or asks for digits."""
    return case.claim == shown or (case.claim in failed and asks_for_digits(case))


def _has_many(case: Case) -> bool:
    """Whether many answers are right in a case, so that two of them need not be the same."""
    return case.procedure is not None and case.procedure.missed is not None


def _is_steady(case: Case) -> bool:
    return case.procedure is None or not case.procedure.unsteady


def _is_few(cases: Sequence[Posed], place: int) -> bool:
    return sum(values.size for values in cases[place].right.values) < MANY


def _explained(perform: Perform, item: Tried) -> Tried:
    """What came of a case.

    Where it is wrong, and right without the call before it, or made in the usual way, that is the
    reason.
    """
    posed, call = item.posed, item.posed.call
    if item.difference is None or item.difference.slug == "shared-result" or item.outcome.stopped:
        return item
    plainer = []
    if call.built:
        call = replace(call, built="")
        plainer.append((_BUILT[posed.call.built], call))
    if call.earlier:
        plainer.append(("remembers-a-call", replace(call, earlier=())))
    for slug, call in plainer:
        # In turn, and more than once, for an answer may go by chance.
        turns = ((call, True), (posed.call, False), (call, True))
        if all(_is_right(perform, posed, each) is so for each, so in turns):
            return replace(item, difference=replace(item.difference, slug=slug, advice=""))
    return item


def _is_right(perform: Perform, posed: Posed, call: Call) -> bool:
    return examine(posed, _once(perform, call)).difference is None


def _once(perform: Perform, call: Call) -> Outcome:
    return next(perform([call]))


def _is_unwritten(first: Tried) -> bool:
    """Whether the very first call said that there is nothing to call yet.

    PyTorch raises the same error for what it cannot compute; a stub raises it by itself.
    """
    raised = first.outcome.raised
    if raised is None or "NotImplementedError" not in raised.names or not raised.function:
        return False
    return not raised.line or bool(UNWRITTEN.search(raised.line))


def _again(perform: Perform, first: Tried) -> Difference | None:
    """How the same call, made again, differs; None where the first has not the right form."""
    if first.arrays is None:
        return None
    again = examine(first.posed, _once(perform, first.posed.call))
    if _has_many(first.posed.case) and not first.difference and not again.difference:
        return None
    if again.arrays is None:
        if again.difference is None or again.outcome.stopped:
            return None
        text = f"called a second time with the same inputs, it differs: {again.difference.text}"
        return Difference("nondeterministic", text)
    for a, b, slot in zip(first.arrays, again.arrays, first.posed.slots, strict=True):
        if not np.allclose(a.astype(float), b.astype(float), 0, TOLERANCE, equal_nan=True):
            text = f"called twice with the same inputs, it differs from itself: see {slot.name}"
            return Difference("nondeterministic", text)
    return None


def _is_anothers(name: str, item: Tried) -> bool:
    """Whether a call met the stub of another exercise, which its function calls."""
    raised = item.outcome.raised
    return _is_unwritten(item) and raised is not None and raised.function not in (*_OWN, name)


def _not_written(name: str, first: Tried) -> str:
    """What is said where a call met the `raise` of a stub: the exercise's own, or another's."""
    raised = first.outcome.raised
    if raised and raised.left:
        there = f"line {raised.left} of its cell, the `raise` that it was handed out with"
        if raised.function in (*_OWN, name):
            return (
                f"`{name}` stops at {there}. If your answer is written, take that line out, run "
                "the cell, and run this one again."
            )
        return (
            f"`{name}` calls `{raised.function}`, which stops at {there}. If `{raised.function}` "
            "is written, take that line out, run its cell, then run this one again."
        )
    if _is_anothers(name, first):
        assert raised is not None
        return (
            f"`{name}` calls `{raised.function}`, which is not written yet. Finish that one first, "
            "then run this cell again."
        )
    return (
        f"Write `{name}` in the cell above, run that cell, and run this one again. "
        "The hints above it open one at a time."
    )


def _verdict(
    exercise: Exercise, tried: list[Tried], ask: Callable[[Call], Outcome] | None
) -> Verdict:
    """The verdict on what was tried.

    Args:
        ask: makes one more call of the function; None where the cases stay hidden.
    """
    hidden = ask is None
    lines = _lines(exercise, tried)
    score = sum(line.earned for line in lines)
    failed = _first_failure(exercise, tried, lines)
    if failed is None:
        return Verdict(exercise.name, exercise.lesson, "PASS", score, exercise.points, lines)
    shown, difference = failed
    # What goes by a procedure is no call that a learner could make.
    untold = hidden or shown.posed.case.procedure is not None
    diagnosis = diagnose(exercise, tried, shown, difference)
    seen = ask and example(exercise, ask, tried, shown, difference, diagnosis)
    diagnosis = _told(diagnosis, exercise.stage)
    message = (hidden and difference.untold) or difference.text
    if _is_anothers(exercise.name, shown) and (raised := shown.outcome.raised):
        if raised.message in ("", STUB):
            message, diagnosis = _not_written(exercise.name, shown), None
    return Verdict(
        exercise.name,
        exercise.lesson,
        _status(exercise, shown, difference),
        score,
        exercise.points,
        lines,
        message=message,
        where=brief(shown.posed.case, exercise.names(shown.posed.case), hidden),
        inputs={} if untold else shown.posed.inputs,
        call=None if untold else shown.posed.call,
        diagnosis=diagnosis,
        example=seen or None,
        read=exercise.read,
        printed=shown.outcome.printed,
    )


def _told(diagnosis: Diagnosis | None, stage: str) -> Diagnosis | None:
    """A diagnosis in the words of the lesson."""
    if diagnosis is None:
        return None
    said = (spoken(text, stage) for text in (diagnosis.reason, diagnosis.remedy))
    return Diagnosis(diagnosis.slug, *said)


def _forfeit(exercise: Exercise, tried: list[Tried]) -> Verdict:
    """The verdict where what is to be written was called, and refused."""
    names = sorted({name for item in tried for name in item.outcome.fused})
    what, slug = _BANNED[exercise.banned]
    message = f"it calls {what} ({', '.join(names)}), which is refused here"
    return Verdict(
        exercise.name,
        exercise.lesson,
        "POLICY",
        0.0,
        exercise.points,
        message=message,
        diagnosis=Diagnosis(slug, *words(slug, exercise.lesson)),
        read=exercise.read,
    )


def _lines(exercise: Exercise, tried: list[Tried]) -> tuple[Line, ...]:
    """A line for each claim, with the points that it earns."""
    core = exercise.claims[0].name
    failed = {item.posed.case.claim for item in tried if item.difference}
    failed |= {exercise.claim_of(UNCHANGED) for item in tried if item.mutation}
    failed |= {core for item in tried if item.again}
    crashes = {_crash(item) for item in tried if item.difference} - {None}
    lines = []
    for claim in exercise.claims:
        mine = [item for item in tried if item.posed.case.claim == claim.name]
        if UNCHANGED in (claim.name, *claim.also):  # every case that returned is one of its own
            mine += [item for item in tried if item.outcome.returned is not None]
        holds: bool | None = claim.name not in failed if mine else None
        wrong = [item for item in mine if item.difference and item.posed.case.claim == claim.name]
        changed = UNCHANGED in (claim.name, *claim.also) and any(item.mutation for item in tried)
        if holds is False and claim.name != core and not changed:
            needed = [{core, *_relies_on(exercise, item)} for item in wrong]
            if all(failed & each - {claim.name} for each in needed):
                holds = None  # what failed there may be no more than what failed elsewhere
        if holds and any(_crash(item) in crashes for item in mine):
            holds = None  # what raises in vain as well is no refusal
        if holds is False and wrong and all(item.outcome.stopped == "time" for item in wrong):
            holds = None  # it was not tried to the end
        earned = claim.worth if holds and core not in failed else 0.0
        lines.append(Line(claim.text, holds, earned, claim.worth))
    return tuple(lines)


def _relies_on(exercise: Exercise, item: Tried) -> set[str]:
    """Claims that a case takes for granted.

    A gradient has no more digits than its function, and PyTorch refuses one of what was changed.
    """
    needed = set(item.posed.case.about)
    if item.posed.case.gradient:
        needed |= {exercise.claim_of(promise) for promise in (UNCHANGED, "precision")}
    return needed


def _crash(item: Tried) -> tuple[str, str] | None:
    """What a line of the learner's raised by accident, sizes aside, and that line; else None."""
    raised = item.outcome.raised
    if raised is None or not raised.line or is_meant(raised):
        return None
    return re.sub(r"\d+", "0", raised.message), raised.line


def _first_failure(
    exercise: Exercise, tried: list[Tried], lines: Sequence[Line]
) -> tuple[Tried, Difference] | None:
    """The first thing that matters.

    First comes an answer that differs from itself; then the core, changed inputs, the other claims
    that fail, in their order, and those that cannot be told. Of a claim, first what can be told
    without numbers, then what most of its cases show, then what one ordinary call shows.
    """
    for item in tried:
        if item.again:
            return item, item.again
    changed = next(((item, item.mutation) for item in tried if item.mutation), None)
    foremost = _foremost(exercise, tried, lines)
    if foremost is None:
        return changed
    assert foremost.difference is not None
    # PyTorch raises where an input is changed whose gradient is asked for.
    refused = foremost.posed.case.gradient and foremost.difference.slug == "raised"
    later = foremost.posed.case.claim != exercise.claims[0].name or refused
    return changed if changed and later else (foremost, foremost.difference)


def _foremost(exercise: Exercise, tried: Sequence[Tried], lines: Sequence[Line]) -> Tried | None:
    """Of the cases that failed the one to show, None if none did."""
    held = {claim.name: line.holds for claim, line in zip(exercise.claims, lines, strict=True)}
    order = [claim.name for claim in exercise.claims]
    wrong = [item for item in tried if item.difference]

    def kind(item: Tried) -> tuple[str, str]:
        return item.posed.case.claim, item.difference.slug if item.difference else ""

    shown = Counter(map(kind, wrong))

    def rank(item: Tried) -> tuple[bool, int, bool, int, bool]:
        case, (claim, slug) = item.posed.case, kind(item)
        special = bool(case.earlier or case.built or case.laid)
        told = held[claim] is False
        return not told, order.index(claim), slug == "values", -shown[claim, slug], special

    return min(wrong, key=rank, default=None)


def _status(exercise: Exercise, shown: Tried, difference: Difference) -> str:
    if shown.outcome.stopped in ("time", "memory"):
        return {"time": "TIMEOUT", "memory": "OOM"}[shown.outcome.stopped]
    if shown.outcome.stopped:
        return "ERROR"
    by_itself = difference.slug in ("raised", "endless-recursion")  # not by a way of calling
    return "ERROR" if by_itself and shown.posed.case.claim == exercise.claims[0].name else "FAIL"
