"""In a worker process, of this machine or of a cluster: a Grader, kept while a run lasts.

A worker is trusted. It may hold another version of the course than who asks, so that a task is
bytes until the versions were compared.
"""

from __future__ import annotations

import contextlib
import pickle
import threading

from autograder import Problem
from autograder.run import code
from autograder.run.marking import GradesOne, Job, OpensGrader, mark
from autograder.submission.folder import Submission
from autograder.submission.results import Graded

VERSION = code.digest()  # of what is loaded now, whatever comes to lie on the disk later


class _Desk:
    """The Grader of one of a worker's threads, kept from one submission to the next."""

    def __init__(self) -> None:
        self.job: Job | None = None
        self._stack = contextlib.ExitStack()
        self._grader: GradesOne

    def grade(self, job: Job, opens: OpensGrader, submission: Submission) -> Graded:
        if job != self.job:
            self.clear()
            self._grader = self._stack.enter_context(opens(job))
            self.job = job
        try:
            return mark(self._grader, submission)
        except BaseException as error:  # whatever it was, this Grader is not used again
            self.job = None
            self._stack.__exit__(type(error), error, error.__traceback__)
            raise

    def clear(self) -> None:
        self.job = None
        self._stack.close()


_desks: dict[int, _Desk] = {}


def packed(job: Job, opens: OpensGrader, submission: Submission) -> bytes:
    """A task for `grade`."""
    return pickle.dumps((job, opens, submission))


def grade(version: str, task: bytes) -> Graded:
    """Grade one submission.

    Args:
        version: of the code that asks.
        task: from `packed`, of the same version.
    Raises:
        Problem: it cannot grade, or not as the asking process would.
    """
    if version != VERSION:
        raise Problem(
            "A worker of the cluster has another version of the course. Bring its checkout to the "
            "version that is here, and start it again."
        )
    job, opens, submission = pickle.loads(task)
    desk = _desks.setdefault(threading.get_ident(), _Desk())
    return desk.grade(job, opens, submission)


def release(job: Job) -> None:
    """Let go of what was kept for a run that is over."""
    for desk in list(_desks.values()):
        if desk.job == job:
            desk.clear()
