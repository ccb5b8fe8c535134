"""Verdicts that need no comparison: what ended badly, is missing, or may not be imported."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace

from attnlab.calling.call import Raised, out_of_memory
from attnlab.checks.crashes import explain
from attnlab.checks.exercise import Exercise
from attnlab.checks.verdict import Diagnosis, Verdict
from attnlab.checks.words import spoken
from autograder.sandbox.child.wire import Ran
from autograder.sandbox.link import Ended
from autograder.sandbox.stages import STAGES
from autograder.submission.results import A_PERSON

ADDRESS = re.compile(r"0x[0-9a-fA-F]{4,}")
ALLOWED = {
    "pure": "Python's standard library alone",
    "numpy": "NumPy, and Python's standard library",
    "torch": "NumPy and PyTorch, and Python's standard library",
}
# Libraries that somebody may mean; any other name is a slip, or a file that was not handed in.
LIBRARIES = (
    "numpy", "scipy", "torch", "torchvision", "jax", "jaxlib", "tensorflow", "keras", "cupy",
    "numba", "pandas", "sklearn", "einops", "xformers", "flash_attn", "transformers", "sympy",
    "attnlab",
)  # fmt: skip
NO_NAME = re.compile(r"^name '(\w+)' is not defined")
NO_MODULE = re.compile(r"No module named '(\w+)")


def ended(exercise: Exercise, how: Ended) -> Verdict:
    """An exercise whose call was the last thing that its process did."""
    return _nothing(exercise, how.status, f"While `{exercise.name}` was called: {how}.")


def not_reached(exercise: Exercise, why: str) -> Verdict:
    """An exercise that was not called, for the submission's time was up before."""
    return _nothing(exercise, "TIMEOUT", f"`{exercise.name}` was not reached: {why}.")


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
    message = "Its cell was still running when its time was up, so it was stopped."
    return _nothing(exercise, "TIMEOUT", message)


def missing(exercise: Exercise, bound: str, ran: Ran | None, before: Iterable[Raised]) -> Verdict:
    """There is no function to call, perhaps because its cell raised first.

    Args:
        bound: 'nothing', or what has the function's name instead.
        ran: what its cell did, None if there is no such cell.
        before: what the learner's cells raised.
    """
    name = exercise.name
    if bound != "nothing":
        message = f"`{name}` is {bound}, and should be a function."
        return _nothing(exercise, "MISSING", message)
    if ran is None or ran.raised is None:
        return _nothing(exercise, "MISSING", f"There is no `{name}` in the cells above its check.")
    raised = ran.raised
    if policy := _outside_stage(exercise, raised, before):
        return policy
    where = f", at the line `{raised.line}`" if raised.line else ""
    message = f"Its cell raised {raised.name}: {raised.message}{where}. So there is no `{name}`."
    status = "OOM" if out_of_memory(raised) else "ERROR"
    found = _nothing(exercise, status, without_addresses(message))
    if said := explain(raised):
        reason, remedy = (spoken(text, exercise.stage) for text in said)
        return replace(found, diagnosis=Diagnosis("raised", reason, remedy))
    return found


def refined(
    verdict: Verdict, exercise: Exercise, raised: Iterable[Raised], before: Iterable[Raised]
) -> Verdict:
    """A verdict with what the grader knows besides: imports that failed for the lesson's stage.

    Args:
        raised: all exceptions that came out of the function's calls.
        before: what the learner's cells raised.
    """
    if verdict.status == "PASS":
        return verdict
    for item in raised:
        if policy := _outside_stage(exercise, item, before):
            return policy
    return replace(
        verdict,
        message=without_addresses(verdict.message),
        printed=without_addresses(verdict.printed),
    )


def broken(exercise: Exercise, error: Exception) -> Verdict:
    """What came back broke the check itself: 0 points until a person has looked."""
    message = (
        f"The check could not read what `{exercise.name}` returned ({type(error).__name__}). "
        f"{A_PERSON}"
    )
    return _nothing(exercise, "ERROR", message)


def without_addresses(text: str) -> str:
    """A message that is the same each time."""
    return ADDRESS.sub("0x…", text)


def _outside_stage(exercise: Exercise, raised: Raised, before: Iterable[Raised]) -> Verdict | None:
    """The verdict, if an import failed because the lesson's stage has no such library.

    It may have failed in an earlier cell, so that its name is missing now.
    """
    failed = raised
    if missing := NO_NAME.search(raised.message):
        name = re.compile(rf"\b{re.escape(missing[1])}\b")
        failed = next((item for item in before if name.search(item.line)), raised)
    found = NO_MODULE.search(failed.message)
    if "ImportError" not in failed.names or found is None:
        return None
    if found[1] not in LIBRARIES or found[1] in STAGES[exercise.stage]:
        return None
    message = f"{failed.message}: this lesson's code may use {ALLOWED[exercise.stage]}."
    return _nothing(exercise, "POLICY", message)


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
