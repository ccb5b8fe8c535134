"""Workers on this machine: processes that end with the one that started them, however that ends."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import forkserver, resource_tracker
from multiprocessing.connection import Connection, wait
from types import FrameType
from typing import Any

from autograder import Problem
from autograder.run.engine import Place

# Not fork: a process that has a gradebook open, and threads, is not one to copy. Workers are forks
# of a server, which has loaded PyTorch once for all of them.
_PROCESSES = multiprocessing.get_context("forkserver")
_SIGNALS = {signal.SIGINT, signal.SIGTERM}
_AHEAD = 2  # submissions that are here for each worker
_FAREWELL_SECONDS = 2.0  # for a worker to end by itself


def load_ahead() -> None:
    """Begin to load what real workers need, while this process goes on with something else.

    Raises:
        Problem: it cannot be started.
    """
    _PROCESSES.set_forkserver_preload(["autograder.run.fork_server"])
    with _starting():
        # Else it is started below, and unblocks the signals. It cleans up what a second Ctrl+C
        # leaves, and says nothing of it beside our own sentence.
        sys.warnoptions.append("ignore")
        resource_tracker.ensure_running()
        sys.warnoptions.pop()
        with _signals_blocked():
            forkserver.ensure_running()


class _Pool(ProcessPoolExecutor):
    """An executor whose processes and threads leave signals to the main thread."""

    def submit(self, *args: Any, **kwargs: Any) -> Future[Any]:  # which starts them
        with _signals_blocked():
            return super().submit(*args, **kwargs)


@contextmanager
def workers(jobs: int) -> Iterator[Place]:
    """So many worker processes, which leave nothing behind.

    Raises:
        Problem: there can be none.
    """
    others = set(multiprocessing.active_children())
    with _starting():
        theirs, ours = _PROCESSES.Pipe(duplex=False)
        pool = _Pool(jobs, _PROCESSES, _settle, (theirs,))
    try:
        yield Place(pool, lambda: _AHEAD * jobs)
    finally:
        ours.close()
        # Not waiting: its thread may for ever, for the rest of what a killed worker was sending.
        pool.shutdown(wait=False, cancel_futures=True)
        for process in set(multiprocessing.active_children()) - others:
            process.join(_FAREWELL_SECONDS)
            process.kill()


@contextmanager
def _starting() -> Iterator[None]:
    """What workers share are files in /tmp and /dev/shm, which may be full."""
    try:
        yield
    except OSError as error:
        raise Problem(
            f"No worker process can be started: {error.strerror}. Look at /tmp and /dev/shm, free "
            "some space or memory, then run this again."
        ) from error


@contextmanager
def _signals_blocked() -> Iterator[None]:
    """For what starts in here: a Ctrl+C is for the main process alone; `_settle` takes this off."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _SIGNALS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _settle(main: Connection) -> None:
    """Make this process a worker.

    Args:
        main: closed, by the system if need be, when nobody waits for an answer any more.
    """
    threading.Thread(target=_follow, args=(main,), daemon=True).start()
    os.dup2(2, 1)  # the main process's standard output is for results alone
    # Ctrl+C and Ctrl+Z go to a terminal's foreground, which is the main process: it decides, and
    # what is being graded loses no time.
    os.setpgid(0, 0)
    signal.signal(signal.SIGTERM, _end)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _SIGNALS)


def _follow(main: Connection) -> None:
    wait([main])
    os._exit(0)


def _end(number: int, frame: FrameType | None) -> None:
    os._exit(128 + number)
