"""One submission in a worker process: bytes in, everything that is to be recorded out.

The same for workers on this machine and on a cluster. A worker is trusted: it holds the oracles and
the seed, runs no line of a learner's itself, and has no gradebook.
"""

from __future__ import annotations

import html
import traceback
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from typing import Protocol

from attnlab.ipynb.read import Unreadable
from autograder import Problem
from autograder.pages import feedback
from autograder.sandbox.isolation import IsolationError
from autograder.sandbox.limits import Limits
from autograder.submission.folder import Submission
from autograder.submission.results import A_PERSON, Graded, Result


class GradesOne(Protocol):
    """What `autograder.run.grade.Grader` is to those who use it."""

    @property
    def lesson(self) -> str: ...
    @property
    def points(self) -> float: ...

    def grade(
        self, data: bytes | Unreadable, student: str, /, seed: int | None = None
    ) -> Graded: ...


@dataclass(frozen=True, slots=True)
class Job:
    """What all submissions of a run have in common.

    Attributes:
        released: text of the notebook that learners were given.
        solution: text of the course's own, '' where it is not at hand.
    """

    lesson: str
    released: str
    seed: int
    limits: Limits
    solution: str = ""


class OpensGrader(Protocol):
    """Makes the Grader of a worker; a function of a module, for it is sent there by name."""

    def __call__(self, job: Job, /) -> AbstractContextManager[GradesOne]: ...


@contextmanager
def open_grader(job: Job) -> Iterator[GradesOne]:
    """The real Grader.

    Raises:
        Problem: this machine does not isolate well enough; also later, inside the block.
    """
    from autograder.run.warm import Grader  # here, for only workers need PyTorch

    try:
        with Grader(job.lesson, job.released, job.seed, job.limits, job.solution) as grader:
            yield grader
    except IsolationError as error:
        raise Problem(str(error)) from error


def mark(grader: GradesOne, submission: Submission) -> Graded:
    """Grade one submission, and tell the learner of it and what else was found in the folder.

    Raises:
        Problem: nothing can be graded here.
    """
    try:
        graded = grader.grade(submission.content, submission.student, submission.seed)
        told = " ".join(filter(None, [graded.result.message, submission.note]))
        marked = replace(graded, result=replace(graded.result, message=told))
        return replace(marked, page=feedback.render(marked))
    except (Problem, IsolationError):
        raise
    except Exception as error:  # whatever is wrong with one submission must not end a class
        return troubled(submission.student, grader.lesson, grader.points, error)


def grader_failed(error: Exception) -> str:
    """What is said of a submission at which the grader itself failed."""
    return (
        f"The grader itself failed at this submission ({type(error).__name__}). Nothing in it was "
        f"graded. {A_PERSON}"
    )


def troubled(student: str, lesson: str, points: float, error: Exception) -> Graded:
    """What is recorded of a submission at which the grader itself failed; the error is printed."""
    traceback.print_exception(error)
    failed = Graded(Result(student, lesson, "INVALID", grader_failed(error), 0.0, points))
    try:
        return replace(failed, page=feedback.render(failed))
    except Exception:  # it may have been this that failed
        return replace(
            failed, page=f"<!DOCTYPE html>\n<p>{html.escape(failed.result.message)}</p>\n"
        )
