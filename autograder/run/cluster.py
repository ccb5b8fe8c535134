"""Workers past one machine: those of a Dask cluster, an optional extra.

A cluster's workers are trusted as those on this machine are: they run this very package, hold
oracles and the seed, and shut learners' code in. They have no gradebook; what they answer is
recorded by the one process that asked. Start them in a checkout of the course:

    python -m dask scheduler
    python -m dask worker tcp://scheduler:8786 --nthreads 1
"""

from __future__ import annotations

import contextlib
import logging
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING

from autograder import Problem
from autograder.run.engine import Place
from autograder.run.marking import Job
from autograder.run.worker import release

if TYPE_CHECKING:
    from distributed import Client

_CONNECT_SECONDS = 5.0
_WORKERS_SECONDS = 15.0  # for the first worker to appear, or for one to come back
_AHEAD = 2  # submissions at the cluster for each of its threads


@contextlib.contextmanager
def workers(address: str, job: Job) -> Iterator[Place]:
    """The workers of a cluster.

    Args:
        address: of its scheduler, 'tcp://host:port'.
        job: what they keep a Grader for until this is left.
    Raises:
        Problem: no scheduler answers there.
    """
    client = _connect(address)
    try:
        # Not pure: the same bytes from two students are two submissions.
        yield Place(client.get_executor(pure=False), _Room(client, address).room)
        with contextlib.suppress(OSError, TimeoutError):  # it is gone, and nothing is lost by that
            client.run(release, job, on_error="return")
    finally:
        client.close(timeout=_CONNECT_SECONDS)


class _Room:
    """How much a cluster can take."""

    def __init__(self, client: Client, address: str) -> None:
        self._client, self._address = client, address
        self._found, self._asked = 0, -_WORKERS_SECONDS
        self._worker_seen = time.monotonic()

    def room(self) -> int:
        """Looked up once a second at most, for asking takes time.

        Raises:
            Problem: there has been no worker for a while.
        """
        now = time.monotonic()
        if now - self._asked < 1.0:
            return self._found
        try:
            threads = self._client.nthreads() if self._client.status == "running" else {}
        except (OSError, TimeoutError):
            threads = {}
        self._asked, self._found = now, _AHEAD * sum(threads.values())
        if threads:
            self._worker_seen = now
        elif now - self._worker_seen > _WORKERS_SECONDS:
            raise Problem(
                f"The cluster at {self._address} has had no worker for {_WORKERS_SECONDS:g} s. "
                f"Start one, in a checkout of the course: python -m dask worker {self._address}"
            )
        return self._found


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
