"""Verdicts that need no comparison: what ended badly, is missing, or may not be imported."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from attnlab.calling.call import Raised, out_of_memory
from attnlab.checks.crashes import explain
from attnlab.checks.exercise import Exercise
from attnlab.checks.unparsed import unparsed
from attnlab.checks.verdict import Diagnosis, Verdict
from attnlab.checks.words import CHECKS, read, spoken, words
from autograder.sandbox.child.wire import Ran
from autograder.sandbox.link import STILL_RUNNING, Ended
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
UNDEFINED = re.compile(r"NameError: name '(\w+)' is not defined")
NO_MODULE = re.compile(r"No module named '(\w+)")
NO_PACKAGE = "no-such-package"


class Stopped(NamedTuple):
    """A learner's cell that raised.

    Attributes:
        answers: the exercise that it answers, '' for a cell of their own.
    """

    source: str
    raised: Raised
    answers: str = ""


def ended(exercise: Exercise, how: Ended) -> Verdict:
    """An exercise whose call was the last thing that its process did."""
    found = _nothing(exercise, how.status, f"While `{exercise.name}` was called: {how}.")
    return _told_why(found, exercise) if str(how) == STILL_RUNNING else found


def _told_why(verdict: Verdict, exercise: Exercise) -> Verdict:
    """A verdict with its cause, where code was still running when its time was up."""
    said = (spoken(text, exercise.stage) for text in words("still-running", exercise.lesson))
    return replace(verdict, diagnosis=Diagnosis("still-running", *said))


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
        found = _nothing(exercise, lost.status, f"While its cell ran: {lost}.")
        return _told_why(found, exercise) if str(lost) == STILL_RUNNING else found
    if ran is None or not ran.stopped:
        return None
    message = "Its cell was still running when its time was up, so it was stopped."
    return _told_why(_nothing(exercise, "TIMEOUT", message), exercise)


def missing(exercise: Exercise, bound: str, stops: Sequence[Stopped]) -> Verdict:
    """There is no function to call, perhaps because its cell raised first.

    Args:
        bound: 'nothing', or what has the function's name instead.
        stops: the learner's cells that raised.
    """
    name = exercise.name
    if bound != "nothing":
        message = f"`{name}` is {bound}, and should be a function."
        return _nothing(exercise, "MISSING", message)
    stop = _that_gives(name, stops)
    if stop is None:
        return _nothing(exercise, "MISSING", f"There is no `{name}` in the cells above its check.")
    if policy := _outside_stage(exercise, stop.raised, stops):
        return policy
    return _without(exercise, name, stop, stops)


def _without(exercise: Exercise, name: str, stop: Stopped, stops: Sequence[Stopped]) -> Verdict:
    """An exercise that needs a name which is not there, as the cell that gives it stopped."""
    raised = stop.raised
    status = "OOM" if out_of_memory(raised) else "ERROR"
    unread = unparsed(stop.source) if "SyntaxError" in raised.names else None
    if unread:
        message = f"There is no `{name}`, as its cell is not Python yet: {unread}."
        found = _nothing(exercise, status, message)
        return replace(found, diagnosis=Diagnosis(unread.slug, *unread.words))
    if (gone := NO_NAME.search(raised.message)) and (first := _that_gives(gone[1], stops)):
        if first != stop:
            return _without(exercise, gone[1], first, [each for each in stops if each != stop])
    where = f", at the line `{raised.line}`" if raised.line else ""
    what = f"{raised.name}: {raised.message}".rstrip(".")
    message = f"There is no `{name}`, as its cell raised {what}{where}."
    found = _nothing(exercise, status, without_addresses(message))
    library = missing_library(raised)
    said = read(CHECKS / "crashes.md")[NO_PACKAGE].about(library) if library else explain(raised)
    if said:
        reason, remedy = (spoken(text, exercise.stage) for text in said)
        return replace(found, diagnosis=Diagnosis("raised", reason, remedy))
    return found


def _that_gives(name: str, stops: Sequence[Stopped]) -> Stopped | None:
    """The last of the cells that stopped which would have given a name its value."""
    own = re.escape(name)
    gives = re.compile(
        rf"^[ \t]*(?:(?:async[ \t]+)?def|class)[ \t]+{own}\b|^[ \t]*{own}[ \t]*(?::[^=\n]*)?=(?!=)"
        rf"|^[ \t]*(?:from|import)\b.*\b{own}\b",
        re.MULTILINE,
    )
    giving = [stop for stop in stops if stop.answers == name or gives.search(stop.source)]
    return giving[-1] if giving else None


def missing_library(raised: Raised) -> str:
    """The library of an import that cannot be had here, as its line names it; '' for none."""
    found = NO_MODULE.search(raised.message) if "ImportError" in raised.names else None
    if found is None:
        return ""
    named = re.search(rf"\b(?:from|import)\s+({re.escape(found[1])}(?:\.\w+)*)", raised.line)
    return named[1] if named else found[1]


def refined(
    verdict: Verdict, exercise: Exercise, raised: Iterable[Raised], stops: Sequence[Stopped]
) -> Verdict:
    """A verdict with what the grader knows besides: imports that failed for the lesson's stage.

    Args:
        raised: all exceptions that came out of the function's calls.
        stops: the learner's cells that raised.
    """
    if verdict.status == "PASS":
        return verdict
    for item in raised:
        if policy := _outside_stage(exercise, item, stops):
            return policy
    if (gone := UNDEFINED.search(verdict.message)) and (stop := _that_gives(gone[1], stops)):
        told = _without(exercise, gone[1], stop, stops)
        verdict = replace(verdict, message=told.message, diagnosis=told.diagnosis)
    return replace(
        verdict,
        message=without_addresses(verdict.message),
        printed=without_addresses(verdict.printed),
    )


def cost(stops: Iterable[Stopped], verdicts: Mapping[str, Verdict]) -> str:
    """What imports that cannot be had have cost, '' if nothing."""
    said = []
    for stop in stops:
        library, line = missing_library(stop.raised), f"at the line `{stop.raised.line}`"
        lost = [f"`{name}`" for name, verdict in verdicts.items() if line in verdict.message]
        if library and lost:
            said.append(
                f"`{stop.raised.line}` ended its cell, as there is no `{library}` where answers "
                f"are graded. That cost {', '.join(lost)}."
            )
    return " ".join(dict.fromkeys(said))


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


def _outside_stage(exercise: Exercise, raised: Raised, stops: Iterable[Stopped]) -> Verdict | None:
    """The verdict, if an import failed because the lesson's stage has no such library.

    It may have failed in an earlier cell, so that its name is missing now.
    """
    failed = raised
    if missing := NO_NAME.search(raised.message):
        name = re.compile(rf"\b{re.escape(missing[1])}\b")
        before = (stop.raised for stop in stops)
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
