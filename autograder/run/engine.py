"""Many submissions at once, over an executor: processes here (`pool`) or a cluster (`cluster`).

A worker's process may die: the system takes its memory, a library crashes, a machine goes away.
What it may have been grading is tried again, alone, and given up with a clear message if that ends
a process too.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import (
    FIRST_COMPLETED,
    BrokenExecutor,
    CancelledError,
    Executor,
    Future,
    wait,
)
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from itertools import chain

from attnlab.ipynb.read import Unreadable
from attnlab.ipynb.words import printable
from autograder import Problem
from autograder.run import worker
from autograder.run.marking import Job, OpensGrader, open_grader
from autograder.submission.folder import Submission
from autograder.submission.results import A_PERSON, Graded

DIED = "The grader's own process ended, twice."
NOT_GRADED = f"Nothing in this notebook was graded. {A_PERSON}"
Done = tuple[Submission, Graded]
_LOOK_SECONDS = 0.2  # the longest between two answers, were it with nothing
_HOPELESS = 3  # submissions that fail alone, before anything was graded
_SPARE_SECONDS = 180.0  # past a submission's own limit, for workers that say nothing: some load


Lost = list[tuple[Submission, str]]  # what was not graded, and why


@dataclass(frozen=True, slots=True)
class Place:
    """Where submissions are graded.

    Attributes:
        executor: runs `worker.grade`.
        room: how many submissions may be there, a few more than its workers, so that none of these
            waits for the next; it raises Problem if nobody is left to grade.
    """

    executor: Executor
    room: Callable[[], int]


OpensPlace = Callable[[], AbstractContextManager[Place]]


class Engine:
    """Grades submissions in any order.

    Args:
        job: what they have in common.
        place: opens a place to grade at, and a new one whenever that breaks.
        opens: what a worker grades with.
    """

    def __init__(self, job: Job, place: OpensPlace, opens: OpensGrader = open_grader) -> None:
        self._job, self._place, self._opens = job, place, opens
        self._graded = 0
        self._patience = job.limits.submission_seconds + _SPARE_SECONDS

    def grade(
        self, submissions: Iterable[Submission], proven: Callable[[], bool] = lambda: False
    ) -> Generator[list[Done], None, None]:
        """What submissions earned, as they are done: some at a time, or none for a moment.

        Close it if it is left early, and no process of it stays.

        Args:
            submissions: each is taken when it can be handed on.
            proven: whether others have been graded here before.
        Raises:
            Problem: nothing can be graded there.
        """
        rest = iter(submissions)
        fatal: Lost = []
        while True:
            lost: Lost = []
            yield from self._spread(rest, lost)
            for submission, _ in lost:
                yield from self._spread(iter([submission]), fatal)
                if len(fatal) >= _HOPELESS and not self._graded and not proven():
                    raise _hopeless(fatal)
            if not lost:
                break
        if len(fatal) > 1 and not self._graded and not proven():
            raise _hopeless(fatal)
        for submission, reason in fatal:
            given_up = replace(submission, content=Unreadable(f"{reason} {NOT_GRADED}"))
            dead: Lost = []
            for done in self._spread(iter([given_up]), dead):
                yield [(submission, graded) for _, graded in done]
            if dead:
                raise _hopeless(dead)

    def _spread(self, submissions: Iterator[Submission], lost: Lost) -> Iterator[list[Done]]:
        """Grade until there are no more, or the place breaks: what was there is added to `lost`."""
        first = next(submissions, None)
        if first is None:
            return
        waiting = chain([first], submissions)
        running: dict[Future[Graded], Submission] = {}
        heard, over = time.monotonic(), False
        with self._place() as place:
            while running or not over:
                room = place.room()
                while len(running) < room and not over:
                    submission = next(waiting, None)
                    if submission is None:
                        over = True
                    elif future := self._sent(place.executor, submission):
                        running[future] = submission
                    else:
                        lost.append((submission, DIED))
                        over = True
                finished = self._finished(running, lost)
                self._graded += len(finished)
                yield finished
                heard = time.monotonic() if finished or not running else heard
                if any(map(_broke, running)) or time.monotonic() - heard > self._patience:
                    break
        lost += [(submission, DIED) for submission in running.values()]

    def _sent(self, executor: Executor, submission: Submission) -> Future[Graded] | None:
        """What will come of it; None if the executor is broken."""
        task = worker.packed(self._job, self._opens, submission)
        try:
            return executor.submit(worker.grade, worker.VERSION, task)
        except BrokenExecutor:
            return None
        except OSError as error:
            raise Problem(
                f"No worker process can be started: {error.strerror}. Try fewer --jobs."
            ) from error

    def _finished(self, running: dict[Future[Graded], Submission], lost: Lost) -> list[Done]:
        """Take out what is done, waiting a little for it; what broke its executor stays."""
        if not running:
            time.sleep(_LOOK_SECONDS)
        finished: list[Done] = []
        for future in wait(running, _LOOK_SECONDS, FIRST_COMPLETED).done:
            if _broke(future):
                continue
            submission = running.pop(future)
            try:
                finished.append((submission, future.result()))
            except Problem:
                raise
            except CancelledError:
                raise Problem("The cluster lost what it was given. Look at it.") from None
            except ImportError as error:
                raise Problem(
                    f"A worker cannot import the grader ({error}). Start the scheduler and its "
                    "workers in a checkout of the course, with its packages."
                ) from error
            except Exception as error:  # of the worker, which goes on without it
                print(f"{printable(submission.student)}: {error!r}", file=sys.stderr)
                lost.append((submission, f"The grader failed, twice: {type(error).__name__}."))
        return finished


def _hopeless(fatal: Lost) -> Problem:
    return Problem(
        f"Nothing could be graded, whatever was tried. {fatal[-1][1]} What it said is above; try "
        "`python -m autograder doctor`, or fewer --jobs if memory is short."
    )


def _broke(future: Future[Graded]) -> bool:
    """Whether the executor ended before this was done."""
    over = future.done() and not future.cancelled()
    return over and isinstance(future.exception(), BrokenExecutor)
