"""Many submissions at once, over an executor: processes here (`pool`) or a cluster (`cluster`).

A worker's process may die: the system takes its memory, a library crashes, a machine goes away.
What it may have been grading is tried again when all others are done, alone, and given up with a
clear message if that ends a process too.
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
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, replace

from attnlab.ipynb.read import Unreadable
from attnlab.ipynb.words import printable
from autograder import Problem
from autograder.run import worker
from autograder.run.marking import Job, OpensGrader, open_grader
from autograder.submission.folder import Submission
from autograder.submission.results import A_PERSON, Graded

GIVEN_UP = (
    "Grading this notebook ended the grader's own process, twice. Nothing in it was graded. "
    + A_PERSON
)
Done = tuple[Submission, Graded]
_LOOK_SECONDS = 0.2  # the longest between two answers, were it with nothing
_HOPELESS = 3  # executors that broke, or submissions that did so alone, before anything was graded


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
        self._breaks = 0

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
        lost: list[Submission] = []
        fatal: list[Submission] = []
        graded = 0
        for done in self._spread(iter(submissions), lost):
            graded += len(done)
            yield done
            if self._breaks >= _HOPELESS and not graded and not proven():
                break
        for submission in lost:
            for done in self._spread(iter([submission]), fatal):
                graded += len(done)
                yield done
            if len(fatal) >= _HOPELESS and not graded and not proven():
                break
        if len(fatal) > 1 and not graded and not proven():
            raise Problem(f"The grader's own processes ended at each of {len(fatal)} submissions.")
        for submission in fatal:
            yield from self._given_up(submission)

    def _spread(
        self, submissions: Iterator[Submission], lost: list[Submission]
    ) -> Iterator[list[Done]]:
        """Grade each submission once; those that may have ended a process are added to `lost`."""
        following = next(submissions, None)
        while following:
            running: dict[Future[Graded], Submission] = {}
            with suppress(BrokenExecutor), self._place() as place:
                while following or running:
                    room = place.room()
                    while following and len(running) < room:
                        running[self._sent(place.executor, following)] = following
                        following = next(submissions, None)
                    yield self._finished(running, lost)
                    if any(map(_broke, running)):
                        break
            lost += running.values()
            self._breaks += bool(running)

    def _sent(self, executor: Executor, submission: Submission) -> Future[Graded]:
        task = worker.packed(self._job, self._opens, submission)
        return executor.submit(worker.grade, worker.VERSION, task)

    def _finished(
        self, running: dict[Future[Graded], Submission], lost: list[Submission]
    ) -> list[Done]:
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
            except Exception as error:  # of the worker: a cluster goes on without it
                print(f"{printable(submission.student)}: {error!r}", file=sys.stderr)
                lost.append(submission)
        return finished

    def _given_up(self, submission: Submission) -> Iterator[list[Done]]:
        """Say that it cannot be graded."""
        lost: list[Submission] = []
        for done in self._spread(iter([replace(submission, content=Unreadable(GIVEN_UP))]), lost):
            yield [(submission, graded) for _, graded in done]
        if lost:
            raise Problem("The grader's own processes end whatever they are given.")


def _broke(future: Future[Graded]) -> bool:
    """Whether the executor ended before this was done."""
    over = future.done() and not future.cancelled()
    return over and isinstance(future.exception(), BrokenExecutor)
