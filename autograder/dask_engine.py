"""Past one machine: submissions handed to a Dask cluster, an optional extra.

A cluster's workers are trusted as those on this machine are: they run this very package, hold
oracles and the seed, and shut learners' code in. They have no gradebook; what they answer is
recorded by the one process that asked. Start them in a checkout of the course:

    python -m dask scheduler
    python -m dask worker tcp://scheduler:8786 --nthreads 1
"""

from __future__ import annotations

import contextlib
import logging
import pickle
import sys
import threading
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING

from autograder import code
from autograder.engine import Done, Engine
from autograder.marking import GradesOne, Job, OpensGrader, mark, open_grader
from autograder.problems import Problem, printable
from autograder.results import Graded
from autograder.roster import Submission

if TYPE_CHECKING:
    from distributed import Client, Future

_CONNECT_SECONDS = 5.0
_WORKERS_SECONDS = 15.0  # for the first worker to appear, or for one to come back
_AHEAD = 2  # submissions at the cluster for each of its threads


VERSION = code.digest()  # of what is loaded now, whatever comes to lie on the disk later


class Cluster(Engine):
    """Grades submissions at a Dask cluster.

    Args:
        address: of its scheduler, 'tcp://host:port'.
    Raises:
        Problem: no scheduler answers there, or it has no workers.
    """

    def __init__(self, address: str, job: Job, opens: OpensGrader = open_grader) -> None:
        self._address, self._job, self._opens = address, job, opens
        self._client = _connect(address)
        self._room, self._asked = 0, -_WORKERS_SECONDS
        self._worker_seen = time.monotonic()

    def __enter__(self) -> Cluster:
        return self

    def __exit__(self, *raised: object) -> None:
        with contextlib.suppress(OSError, TimeoutError):  # it is gone, and nothing is lost by that
            if raised[0] is None:
                self._client.run(release, self._job, on_error="return")
        self._client.close(timeout=_CONNECT_SECONDS)

    def spread(
        self, submissions: Iterator[Submission], lost: list[Submission]
    ) -> Iterator[list[Done]]:
        """Keep every thread of the cluster busy; see `Engine`."""
        from distributed import wait

        running: dict[Future, Submission] = {}
        more = True
        while more or running:
            self._look()
            while more and len(running) < self._room:
                submission = next(submissions, None)
                if submission is None:
                    more = False
                else:
                    running[self._send(submission)] = submission
            finished: list[Done] = []
            if running:
                with contextlib.suppress(TimeoutError):
                    wait(running, timeout=1.0, return_when="FIRST_COMPLETED")
            else:
                time.sleep(0.1)
            for future in [future for future in running if future.done()]:
                submission = running.pop(future)
                graded = self._answer(future, submission)
                if graded is None:
                    lost.append(submission)
                else:
                    finished.append((submission, graded))
            yield finished

    def _send(self, submission: Submission) -> Future:
        # Not pure: the same bytes from two students are two submissions.
        task = pickle.dumps((self._job, self._opens, submission))
        return self._client.submit(grade_there, VERSION, task, pure=False)

    def _answer(self, future: Future, submission: Submission) -> Graded | None:
        """What came back, None where grading it ended workers."""
        if future.cancelled():
            raise Problem(f"The cluster at {self._address} lost what it was given. Look at it.")
        error = future.exception()
        if isinstance(error, Problem):
            raise error
        if isinstance(error, ImportError):
            raise Problem(
                f"A worker of the cluster at {self._address} cannot import the grader ({error}). "
                "Start the scheduler and its workers in a checkout of the course, with its packages"
            ) from error
        if error is not None:
            print(f"{printable(submission.student)}: {error!r}", file=sys.stderr)
            return None
        graded: Graded = future.result()
        return graded

    def _look(self) -> None:
        """How much the cluster can take; once a second at most, for asking takes time.

        Raises:
            Problem: nobody is there to grade.
        """
        now = time.monotonic()
        if now - self._asked < 1.0:
            return
        try:
            threads = self._client.nthreads() if self._client.status == "running" else {}
        except (OSError, TimeoutError):
            threads = {}
        self._asked = now
        self._room = _AHEAD * sum(threads.values())
        if threads:
            self._worker_seen = now
        elif now - self._worker_seen > _WORKERS_SECONDS:
            raise Problem(
                f"The cluster at {self._address} has had no worker for {_WORKERS_SECONDS:g} s. "
                f"Start one, in a checkout of the course: python -m dask worker {self._address}"
            )


def _connect(address: str) -> Client:
    try:
        from distributed import Client
    except ImportError as error:
        raise Problem(
            "--scheduler needs Dask, which is not installed. In the course's folder: "
            'python -m pip install -c constraints.txt -e ".[cluster]"'
        ) from error
    logging.getLogger("distributed").setLevel(logging.CRITICAL)  # its trouble is told by us
    try:
        return Client(address, timeout=_CONNECT_SECONDS)
    except (OSError, TimeoutError, ValueError) as error:
        raise Problem(
            f"No Dask scheduler answers at {address!r} ({error}). The address is like "
            "tcp://host:8786; start a scheduler with: python -m dask scheduler"
        ) from error


# What follows runs in a worker of the cluster.


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


def grade_there(version: str, task: bytes) -> Graded:
    """Grade one submission in a worker of a cluster.

    Args:
        version: of the code that asks.
        task: a pickle of job, what opens its Grader, and submission: of the same version's classes.
    Raises:
        Problem: it cannot grade, or not as the asking process would.
    """
    if version != VERSION:
        raise Problem(
            "A worker of the cluster has another version of the course. Bring its checkout to the "
            "version that is here, and start it again."
        )
    desk = _desks.setdefault(threading.get_ident(), _Desk())
    return desk.grade(*pickle.loads(task))


def release(job: Job) -> None:
    """Let go of what was kept for a run that is over."""
    for desk in list(_desks.values()):
        if desk.job == job:
            desk.clear()
