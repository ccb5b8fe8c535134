"""Verdicts that no comparison is needed for: what ended badly, is missing, or is banned."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace

from attnlab.checks import advice
from attnlab.checks.calling import Raised, out_of_memory
from attnlab.checks.declare import Exercise
from attnlab.checks.findings import Diagnosis, Verdict
from autograder.child.wire import Ran
from autograder.link import Ended
from autograder.policy import STAGES
from autograder.problems import short

ADDRESS = re.compile(r"0x[0-9a-fA-F]{4,}")
LIBRARIES = {"pure": "Python's standard library", "numpy": "NumPy", "torch": "NumPy and PyTorch"}
NO_MODULE = re.compile(r"No module named '(?:(numpy|torch)\b|attnlab\.)")


def ended(exercise: Exercise, how: Ended) -> Verdict:
    """An exercise whose call was the last thing that its process did."""
    return _nothing(exercise, how.status, f"While `{exercise.name}` was called: {how}.")


def stopped(exercise: Exercise, ran: Ran | None, lost: Ended | None) -> Verdict | None:
    """The verdict on an exercise whose own cell had to be stopped, None if it had not.

    Args:
        ran: what its cell did, None if there is no such cell.
        lost: how its cell took its process with it.
    """
    if lost is not None:
        return _nothing(exercise, lost.status, f"While its cell ran: {lost}.")
    if ran is None or not ran.stopped:
        return None
    if ran.stopped == "time":
        message = "Its cell was still running when its time was up, so it was stopped."
        return _nothing(exercise, "TIMEOUT", message)
    message = "Its cell printed more than is kept, so it was stopped."
    return _nothing(exercise, "ERROR", message)


def missing(exercise: Exercise, bound: str, ran: Ran | None, stage: str) -> Verdict:
    """There is no function to call, perhaps because its cell raised first.

    Args:
        bound: 'nothing', or what has the function's name instead.
        ran: what its cell did, None if there is no such cell.
    """
    name = exercise.name
    if bound != "nothing":
        message = f"`{name}` is {bound}, and should be a function."
        return _nothing(exercise, "MISSING", message)
    if ran is None or ran.raised is None:
        return _nothing(exercise, "MISSING", f"There is no `{name}` in the cells above its check.")
    raised = ran.raised
    if _is_banned(raised, stage):
        return _import_failed(exercise, raised, stage)
    where = f", at the line `{raised.line}`" if raised.line else ""
    message = f"Its cell raised {raised.name}: {raised.message}{where}. So there is no `{name}`."
    status = "OOM" if out_of_memory(raised) else "ERROR"
    return _nothing(exercise, status, without_addresses(message))


def refined(verdict: Verdict, raised: Iterable[Raised], stage: str, exercise: Exercise) -> Verdict:
    """A verdict with what the grader knows besides: imports that are banned.

    Args:
        raised: all exceptions that came out of the function's calls.
    """
    if verdict.status == "PASS":
        return verdict
    for item in raised:
        if "ImportError" in item.names and _is_banned(item, stage):
            return _import_failed(exercise, item, stage)
    return replace(
        verdict,
        message=without_addresses(verdict.message),
        printed=without_addresses(verdict.printed),
    )


def banned_call(exercise: Exercise, name: str) -> Verdict:
    """Reading found PyTorch's own attention in the function's code."""
    message = f"its code refers to PyTorch's own attention ({short(name)}), which is banned here"
    diagnosis = Diagnosis("banned-call", *advice.GENERAL["banned-call"])
    return replace(_nothing(exercise, "POLICY", message), diagnosis=diagnosis)


def banned_import(exercise: Exercise, statement: str, stage: str) -> Verdict:
    """Reading found an import that the lesson's stage does not allow."""
    message = f"its code says `{short(statement)}`; this lesson's code may use {LIBRARIES[stage]}"
    return _nothing(exercise, "POLICY", f"{message}{_alone(stage)}.")


def broken(exercise: Exercise, error: Exception) -> Verdict:
    """What came back broke the check itself: 0 points until a person has looked."""
    message = (
        f"The check could not read what `{exercise.name}` returned ({type(error).__name__}). "
        "A person has to look at it."
    )
    return _nothing(exercise, "ERROR", message)


def unreadable(exercise: Exercise) -> Verdict:
    """There is too much code to see what the function is made of."""
    message = "its code is too long and too entangled to be read, so a person has to look at it"
    return _nothing(exercise, "POLICY", message)


def without_addresses(text: str) -> str:
    """A message that is the same each time."""
    return ADDRESS.sub("0x…", text)


def _is_banned(raised: Raised, stage: str) -> bool:
    """Whether an import failed because the lesson's stage has no such library."""
    found = NO_MODULE.search(raised.message)
    return found is not None and found[1] not in STAGES[stage]


def _import_failed(exercise: Exercise, raised: Raised, stage: str) -> Verdict:
    message = f"{raised.message}: this lesson's code may use {LIBRARIES[stage]}"
    return _nothing(exercise, "POLICY", f"{message}{_alone(stage)}.")


def _alone(stage: str) -> str:
    return " alone" if stage == "pure" else ", and Python's standard library"


def _nothing(exercise: Exercise, status: str, message: str) -> Verdict:
    return Verdict(
        exercise.name,
        exercise.lesson,
        status,
        0.0,
        exercise.points,
        message=message,
        read=exercise.read,
    )
