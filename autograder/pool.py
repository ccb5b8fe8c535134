"""Worker processes on this machine.

Each holds one Grader, grades one submission at a time, and has the next one waiting, so that it
works on while results are recorded.

A notebook that sleeps or loops must not hold up a class. One that takes longer than others do no
longer counts as a job: another worker is started beside it, if a processor is idle, as beside one
that sleeps; honest notebooks would run out of time on a crowded machine. It is given up, and what
was not reached in it fails, when there are too many like it, or when all others have long been
graded.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import sys
import threading
import time
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from itertools import islice
from multiprocessing import forkserver, resource_tracker
from multiprocessing.connection import Connection, wait
from statistics import median
from types import FrameType
from typing import Any

import psutil

from autograder.engine import Done, Engine
from autograder.marking import Job, OpensGrader, mark, open_grader
from autograder.problems import Problem, few, short
from autograder.results import Graded
from autograder.roster import Submission

# Not fork: a process that has a gradebook open, and threads, is not one to copy. Workers are forks
# of a server, which has loaded PyTorch once for all of them.
_PROCESSES = multiprocessing.get_context("forkserver")
_SIGNALS = {signal.SIGINT, signal.SIGTERM}
_SPARE_SECONDS = 60.0  # past a submission's own limit, for a worker that does not answer
_FAREWELL_SECONDS = 5
_LOOK_SECONDS = 0.1  # between two looks at who is slow
_IDLE_SECONDS = 0.2  # over which it is seen whether a processor is idle
# What is slow depends on what the class takes: a tenth of a second, or with trainings ten.
_TYPICAL_SECONDS = 1.0  # taken for granted until a few are graded
_SLOW = 4, 0.4  # times what is typical, and seconds at least
_CROWD = 30, 4.0  # the same: what each of many slow ones has
_COMPANY = 10  # slow submissions at a time, for each job
_RARE = 20  # so many to one: that few slow ones may take all the time that a submission has
# Fits into the channel with room to spare: sending must not wait for a busy worker, which may in
# turn be waiting for its answer to be read.
_AHEAD_BYTES = 100_000


@dataclass(frozen=True, slots=True)
class Ready:
    """A worker's first word: its Grader stands."""


@dataclass(frozen=True, slots=True)
class Refused:
    """A worker cannot grade on this machine, for a reason that a person can mend."""

    reason: str


Answer = Ready | Refused | Graded


def load_ahead() -> None:
    """Begin to load what real workers need, while this process goes on with something else."""
    _PROCESSES.set_forkserver_preload(["autograder.fork_server"])
    resource_tracker.ensure_running()  # or it is started below, and unblocks the signals
    with _signals_blocked():
        forkserver.ensure_running()


class Pool(Engine):
    """Grades submissions in several processes; a context manager that leaves none behind.

    Args:
        jobs: how many workers.
        opens: what each of them grades with.
    """

    def __init__(
        self,
        job: Job,
        jobs: int,
        opens: OpensGrader = open_grader,
    ) -> None:
        self._jobs = jobs
        self._start = partial(_Worker, job, opens)
        self._workers = [self._start() for _ in range(jobs)]
        self._patience = job.limits.submission_seconds + _SPARE_SECONDS
        self._graded = 0
        self._many = False  # whether there are more slow ones than a class waits for
        self._taken: deque[float] = deque(maxlen=100)  # seconds that the last ones took
        self._processors = _Processors()

    def __enter__(self) -> Pool:
        return self

    def __exit__(self, *_: object) -> None:
        for worker in self._workers:
            worker.dismiss()
        for worker in self._workers:
            worker.end()

    def spread(
        self, submissions: Iterator[Submission], lost: list[Submission]
    ) -> Iterator[list[Done]]:
        """Keep every worker busy until there are no more; add to `lost` what ended a worker."""
        again: list[Submission] = []
        following: Submission | None = None
        alone = False  # whether there are none but slow ones
        while True:
            for worker in self._workers:
                if self._is_slow(worker):
                    again += worker.take_back()
            for most in (0, 1):  # something for everyone first
                for worker in self._workers:
                    if following is None:
                        following = again.pop() if again else next(submissions, None)
                    if following is None or not worker.has_room_for(following, most):
                        continue
                    if self._is_slow(worker):
                        continue
                    if worker.tasks or self._quick() < self._jobs:
                        worker.give(following)
                        following = None
            if following is None and not any(worker.tasks for worker in self._workers):
                return
            if following is not None:
                alone = False
                self._make_room()
            elif self._quick() == 0:
                if not alone:
                    alone = True
                    self._say_who_is_slow()
                self._wait_no_longer()
            watched = {
                worker.channel: worker
                for worker in self._workers
                if worker.tasks or not worker.is_ready
            }
            finished: list[Done] = []
            for channel in wait(list(watched), timeout=_LOOK_SECONDS):
                assert isinstance(channel, Connection)
                worker = watched[channel]
                seconds = worker.seconds
                answer = worker.answer()
                if isinstance(answer, Refused):
                    raise Problem(answer.reason)
                if isinstance(answer, Graded) and (done := worker.done()):
                    finished.append((done, answer))
                    self._graded += 1
                    self._taken.append(seconds)
                if answer is None:
                    tasks = worker.tasks
                    worker.start_again()
                    lost.extend(filter(None, islice(tasks, 1)))  # the others had not begun
                    again.extend(filter(None, islice(tasks, 1, None)))
            for worker in watched.values():
                worker.kill_if_silent(self._patience)
            yield finished

    def _at_least(self, times: float, least: float) -> float:
        """Seconds: so many times what is typical of this class."""
        known = len(self._taken) >= 5
        return max(least, times * (median(self._taken) if known else _TYPICAL_SECONDS))

    def _is_slow(self, worker: _Worker) -> bool:
        return worker.seconds > self._at_least(*_SLOW)

    def _quick(self) -> int:
        """How many workers are starting, or at work on what has not taken long yet."""
        return sum(
            not worker.is_ready or (bool(worker.tasks) and not self._is_slow(worker))
            for worker in self._workers
        )

    def _make_room(self) -> None:
        """Start another worker for each that is slow, and one to spare; or give a slow one up."""
        slow = sum(map(self._is_slow, self._workers))
        most = (1 + _COMPANY) * self._jobs
        idle = self._processors.idle()
        if slow and idle and len(self._workers) < min(self._jobs + slow + 1, most):
            self._workers.append(self._start())
        elif (len(self._workers) == most or (not idle and self._too_many(slow))) and all(
            worker.tasks for worker in self._workers
        ):
            longest = max(self._workers, key=lambda worker: worker.seconds)
            if longest.seconds > self._at_least(*_CROWD):
                longest.give_up()

    def _too_many(self, slow: int) -> bool:
        """Whether slow ones are more than a class waits for; once they are, they stay so."""
        self._many = self._many or slow > max(1, self._graded // _RARE)
        return self._many

    def _say_who_is_slow(self) -> None:
        slow = [task for worker in self._workers for task in worker.tasks if task]
        names = ", ".join(few([short(task.student) for task in slow]))
        print(f"All others are graded. Waiting for {names}.", file=sys.stderr, flush=True)

    def _wait_no_longer(self) -> None:
        """Give those up that have had their time, where a class waits for many slow ones alone."""
        slow = [worker for worker in self._workers if worker.tasks]
        many = self._too_many(len(slow))
        for worker in slow:
            if many and worker.seconds > self._at_least(*_CROWD):
                worker.give_up()


class _Processors:
    """Whether one of this machine's has been idle of late."""

    def __init__(self) -> None:
        self._since, self._before = time.monotonic(), psutil.cpu_times().idle
        self._idle = False

    def idle(self) -> bool:
        """Whether, for most of the time when this was last looked at."""
        passed = time.monotonic() - self._since
        if passed >= _IDLE_SECONDS:
            idle = psutil.cpu_times().idle
            self._idle = idle - self._before > passed / 2
            self._since, self._before = time.monotonic(), idle
        return self._idle


class _Worker:
    """A worker process, seen from the main process.

    Attributes:
        channel: what it answers on.
        tasks: what it was given and has not answered, first the one that it is grading; None in
            the place of one that was taken back.
        is_ready: whether it has said its first word.
    """

    def __init__(self, job: Job, opens: OpensGrader) -> None:
        self._job, self._opens = job, opens
        self._start()

    def _start(self) -> None:
        self.tasks: deque[Submission | None] = deque()
        self.is_ready = False
        self._heard = time.monotonic()
        self._answered = 0
        # Number of the submission that nobody waits for any more; a worker counts as we do.
        self._given_up = _PROCESSES.RawValue("q", -1)
        self.channel, theirs = _PROCESSES.Pipe()
        arguments = (theirs, self._opens, self._given_up)
        self._process = _PROCESSES.Process(target=_work, args=arguments, daemon=True)
        with _signals_blocked():
            self._process.start()
        theirs.close()  # so that its end is noticed
        self.channel.send(self._job)  # an argument this large would be waited for

    def has_room_for(self, submission: Submission, most: int) -> bool:
        """Whether it has at most so many tasks, and if it has any this one can wait unread."""
        size = len(submission.content) if isinstance(submission.content, bytes) else 0
        if not self.tasks:
            return self.is_ready
        return len(self.tasks) <= most and size <= _AHEAD_BYTES

    @property
    def seconds(self) -> float:
        """For how long it has been at work on what it grades; 0 if on nothing."""
        return time.monotonic() - self._heard if self.tasks else 0.0

    def give_up(self) -> None:
        """Have what it grades end: what was not reached in it fails."""
        self._given_up.value = self._answered

    def take_back(self) -> list[Submission]:
        """What waits behind the one that it is grading, for others to grade."""
        current, *waiting = self.tasks
        self.tasks = deque([current, *(None for _ in waiting)])
        return [task for task in waiting if task is not None]

    def done(self) -> Submission | None:
        """What it has answered; None if that is no longer wanted."""
        done = self.tasks.popleft()
        if self.tasks and self.tasks[0] is None:
            self.give_up()
        return done

    def give(self, submission: Submission) -> None:
        if not self.tasks:
            self._heard = time.monotonic()
        self.tasks.append(submission)
        with contextlib.suppress(OSError):  # it is dead, which `answer` finds
            self.channel.send(submission)

    def answer(self) -> Answer | None:
        """What it says, None if it is dead."""
        try:
            answer: Answer = self.channel.recv()
        except (EOFError, OSError):
            return None
        self.is_ready, self._heard = True, time.monotonic()
        self._answered += isinstance(answer, Graded)
        return answer

    def start_again(self) -> None:
        """Put a new process in the place of a dead one.

        Raises:
            Problem: it had not even begun.
        """
        self.end()
        if not self.is_ready:
            raise Problem(
                f"A worker process ended before it could grade (exit code "
                f"{self._process.exitcode}). What it said is above; try `python -m autograder "
                "doctor`, or fewer --jobs if memory is short."
            )
        self._start()

    def kill_if_silent(self, seconds: float) -> None:
        """End it if it owes an answer for longer than that; `answer` then finds it dead."""
        if time.monotonic() - self._heard > seconds:
            self._process.kill()

    def dismiss(self) -> None:
        """Ask it to end."""
        if self.is_ready and not self.tasks:
            with contextlib.suppress(OSError):
                self.channel.send(None)
        else:
            self._process.terminate()

    def end(self) -> None:
        """Wait for its end, or bring it about."""
        for _ in range(_FAREWELL_SECONDS):
            self._process.join(1.0)
            if not self._process.is_alive():
                break
            self._process.terminate()
        else:
            self._process.kill()
            self._process.join()
        self.channel.close()


@contextlib.contextmanager
def _signals_blocked() -> Iterator[None]:
    """For what starts in here: a Ctrl+C is for the main process alone; `_work` takes this off."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _SIGNALS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _work(channel: Connection, opens: OpensGrader, given_up: Any) -> None:
    """A worker process: answer each submission until told to end."""
    _settle()
    answered = 0

    def nobody_waits() -> bool:
        return bool(given_up.value == answered)

    try:
        with opens(channel.recv()) as grader:
            channel.send(Ready())
            while (submission := channel.recv()) is not None:
                channel.send(mark(grader, submission, nobody_waits))
                answered += 1
    except Problem as problem:
        channel.send(Refused(str(problem)))


def _settle() -> None:
    """Make this process a worker: quiet, single-threaded, and gone when its parent is."""
    threading.Thread(target=_follow_parent, daemon=True).start()
    os.dup2(2, 1)  # the main process's standard output is for results alone
    signal.signal(signal.SIGTERM, _end)
    # Ctrl+C goes to all processes of a terminal; the main one decides. Not SIG_IGN, which
    # processes started here would inherit.
    signal.signal(signal.SIGINT, _go_on)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _SIGNALS)


def _follow_parent() -> None:
    """End this process with the main one, however that ends: nobody would wait for its answers."""
    parent = multiprocessing.parent_process()
    assert parent is not None
    wait([parent.sentinel])
    os._exit(1)


def _end(number: int, frame: FrameType | None) -> None:
    # This may come where Python lets nothing be raised, and would say so; it comes again.
    sys.unraisablehook = _go_on
    raise SystemExit(0)


def _go_on(*_: object) -> None:
    """Take no notice."""
