"""One submission in a worker process: bytes in, everything that is to be recorded out.

The same for workers on this machine and on a cluster. A worker is trusted: it holds the oracles and
the seed, runs no line of a learner's itself, and has no gradebook.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from socket import socket
from typing import Protocol

from autograder import feedback
from autograder.limits import Limits
from autograder.problems import Problem
from autograder.read import Unreadable
from autograder.results import Graded
from autograder.roster import Submission


class GradesOne(Protocol):
    """What `autograder.grade.Grader` is to those who use it."""

    def grade(self, data: bytes | Unreadable, student: str) -> Graded: ...


@dataclass(frozen=True, slots=True)
class Job:
    """What all submissions of a run have in common.

    Attributes:
        released: text of the notebook that learners were given.
        weaker: whether to grade where isolation is weaker than it should be.
    """

    lesson: str
    released: str
    seed: int
    limits: Limits
    weaker: bool


class OpensGrader(Protocol):
    """Makes the Grader of a worker; a function of a module, for it is sent there by name.

    A lane is what a worker may have been given: the control of a zygote.
    """

    def __call__(
        self, job: Job, lane: socket | None = None, /
    ) -> AbstractContextManager[GradesOne]: ...


@contextmanager
def open_grader(job: Job, lane: socket | None = None) -> Iterator[GradesOne]:
    """The real Grader.

    Raises:
        Problem: this machine does not isolate well enough; also later, inside the block.
    """
    from autograder.warm import Grader, IsolationError  # here, for only workers need PyTorch

    try:
        with Grader(job.lesson, job.released, job.seed, job.limits, job.weaker, lane) as grader:
            yield grader
    except IsolationError as error:
        raise Problem(str(error)) from error


def mark(grader: GradesOne, submission: Submission) -> Graded:
    """Grade one submission, and tell the learner of it and what else was found in the folder."""
    graded = grader.grade(submission.content, submission.student)
    told = " ".join(filter(None, [graded.result.message, submission.note]))
    marked = replace(graded, result=replace(graded.result, message=told))
    return replace(marked, page=feedback.render(marked))
