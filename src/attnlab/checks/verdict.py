"""What a check finds: plain data, for a card to show and a grader to record."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from attnlab.calling.call import Call
from attnlab.calling.observe import Value
from attnlab.checks.words import known, spoken


@dataclass(frozen=True, slots=True)
class Line:
    """One claim on a card: True if it holds, False if not, None if it could not be tried."""

    claim: str
    holds: bool | None
    earned: float = 0.0
    worth: float = 0.0


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """The likely cause of a wrong answer, and what to do about it."""

    slug: str
    reason: str
    remedy: str


@dataclass(frozen=True, slots=True)
class Example:
    """One small call that was made, what came back, and what is right, as they are written."""

    given: str
    gave: str
    right: str


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a check found.

    Attributes:
        status: 'PASS', 'FAIL', 'ERROR' (it raised), 'TIMEOUT', 'OOM' (out of memory),
            'MISSING' (not written yet) or 'POLICY' (a banned call); 'UNKNOWN' where the check
            itself is at fault; and where a grader ran it, 'CRASH' (its process died).
        score: points earned, of max_score.
        first: what to know before all else: that this is an older answer, or that a function it
            calls is wrong.
        message: what differed, first thing first; '' on a pass.
        where: the call that showed it, in short.
        inputs: the inputs of that call, by parameter name; none where they stay hidden.
        call: that call, for a learner to make again; None where it is hidden or no single call.
        diagnosis: its likely cause, if one is certain.
        example: a small call that shows the same, if one was made that does.
        read: heading of the section to read again.
        printed: the first of what the function printed.
        called: what the learner's function is called, if not by the exercise's name.
        mended: of a pass, what earlier checks of the exercise have named.
        passed: of each exercise of the lesson, whether it is right; none where nobody keeps that.
        unsaved: that this could not be kept among the learner's progress; '' if it was.
    """

    name: str
    lesson: str
    status: str
    score: float
    max_score: float
    lines: tuple[Line, ...] = ()
    first: str = ""
    message: str = ""
    where: str = ""
    inputs: Mapping[str, Value] = field(default_factory=dict)
    call: Call | None = None
    diagnosis: Diagnosis | None = None
    example: Example | None = None
    read: str = ""
    printed: str = ""
    called: str = ""
    mended: tuple[str, ...] = ()
    passed: Mapping[str, bool] = field(default_factory=dict)
    unsaved: str = ""


def blaming(verdict: Verdict, failing: Sequence[str]) -> Verdict:
    """A verdict that tells first what its function calls and is wrong itself.

    Args:
        failing: names of such functions in the lesson's order; the first is the one to begin with.
    """
    if not failing or verdict.status in ("PASS", "MISSING", "POLICY"):
        return verdict
    first = f"This calls `{failing[0]}`, which fails its own check: begin there."
    return replace(verdict, first=first)


def exchanged(first: Verdict, second: Verdict, helpers: Sequence[str]) -> Verdict:
    """The better of two verdicts, which tells of both; the first where they come to the same.

    Of the second there are the points, the claims and a cause in words of our own, and nothing
    that the learner's function returned, raised or printed then: it was beside an answer.

    Args:
        first: with the learner's own functions.
        second: with the course's in the place of some.
        helpers: names of these.
    """
    names = " and ".join(f"`{name}`" for name in helpers)
    fails, place = (
        ("fail their own checks", "their") if helpers[1:] else ("fails its own check", "its")
    )
    begins = f"This calls {names}, which {fails}. With the course's in {place} place it comes to"
    most = f"{first.max_score:g} points"
    if second.score <= first.score:
        return replace(first, first=f"{begins} no more: {second.score:g} of {most}.")
    told = f"{begins} {second.score:g} of {most}, with yours to {first.score:g}: the better counts."
    failed = "; ".join(line.claim for line in second.lines if line.holds is False)
    return Verdict(
        second.name,
        second.lesson,
        second.status,
        second.score,
        second.max_score,
        second.lines,
        first=told,
        message=failed and f"even then it does not hold that it {failed}",
        diagnosis=_of_our_words(second),
        read=second.read,
    )


def _of_our_words(verdict: Verdict) -> Diagnosis | None:
    """A cause, if it is told in words that stand in a file, with nothing put into them."""
    told = verdict.diagnosis
    said = known(verdict.lesson).get(told.slug) if told else None
    if told is None or said is None or "{" in said.reason + said.remedy:
        return None
    stages = (tuple(spoken(text, stage) for text in said) for stage in ("pure", "numpy", "torch"))
    return told if (told.reason, told.remedy) in stages else None
