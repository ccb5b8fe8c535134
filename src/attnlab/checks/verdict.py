"""What a check finds: plain data, for a card to show and a grader to record."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from attnlab.calling.call import Call
from attnlab.calling.observe import Value


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
        read: heading of the section to read again.
        printed: the first of what the function printed.
        called: what the learner's function is called, if not by the exercise's name.
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
    read: str = ""
    printed: str = ""
    called: str = ""
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
