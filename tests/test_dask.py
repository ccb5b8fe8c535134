"""Grading at a Dask cluster: a scheduler and two workers, each a process, on loopback."""

from __future__ import annotations

import json
import shutil
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from autograder import Problem
from autograder.run import cluster, worker
from autograder.run.marking import open_grader
from tests import small_class
from tests.course import ROOT
from tests.small_class import (
    LESSON,
    environment,
    hand_in,
    notebook,
    recorded,
    written,
)
from tests.test_grade_command import lines_in
from tests.test_nbgrader import right_notebook, wrong_notebook
from tests.until import until

pytestmark = pytest.mark.slow

grade = partial(small_class.grade, seed=4)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


class Machines:
    """A scheduler and its workers."""

    def __init__(self) -> None:
        port = free_port()
        self.address = f"tcp://127.0.0.1:{port}"
        self.scheduler = self._start("scheduler", "--port", str(port))
        self.workers: list[subprocess.Popen[bytes]] = []

    def add_worker(self) -> None:
        options = ("--nthreads", "1", "--no-nanny", "--memory-limit", "0")
        self.workers.append(self._start("worker", self.address, *options))

    def _start(self, *arguments: str) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [sys.executable, "-m", "dask", *arguments, "--host", "127.0.0.1", "--no-dashboard"],
            cwd=ROOT,
            env=environment(),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    def close(self) -> None:
        for process in [*self.workers, self.scheduler]:
            process.kill()
            process.wait()


@pytest.fixture(scope="module")
def machines() -> Iterator[Machines]:
    machines = Machines()
    yield machines
    machines.close()


# In the order in which the machines are used: none, then two, then one.


def test_no_scheduler_is_said_within_seconds(course: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hand_in(course, "s1", notebook())
    monkeypatch.setattr(cluster, "_CONNECT_SECONDS", 0.5)
    with pytest.raises(Problem, match="No Dask scheduler answers at 'tcp:"):
        grade(course, scheduler="tcp://127.0.0.1:1")
    with pytest.raises(Problem, match="No Dask scheduler answers at 'nonsense"):
        grade(course, scheduler="nonsense://x")


def test_no_dask_is_said_with_what_to_install(
    course: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hand_in(course, "s1", notebook())
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(Problem, match=r"\[cluster\]"):
        grade(course, scheduler="tcp://127.0.0.1:1")


def test_a_cluster_without_workers_is_said(
    course: Path, machines: Machines, monkeypatch: pytest.MonkeyPatch
) -> None:
    hand_in(course, "s1", notebook())
    monkeypatch.setattr(cluster, "_CONNECT_SECONDS", 60.0)
    monkeypatch.setattr(cluster, "_WORKERS_SECONDS", 1.5)
    with pytest.raises(Problem, match="has had no worker"):
        grade(course, scheduler=machines.address)


def test_the_real_grader_gives_the_same_at_a_cluster(course: Path, machines: Machines) -> None:
    machines.add_worker()
    machines.add_worker()
    for number in range(8):
        source = right_notebook(LESSON) if number % 2 else wrong_notebook(LESSON)
        source.metadata["number"] = number
        hand_in(course, f"s{number}", json.dumps(source).encode())
    (course / "class" / "submitted" / "nothing" / LESSON).mkdir(parents=True)
    here = grade(course, open_grader, jobs=2)
    books = recorded(course), written(course)
    assert {result["score"] for result in here} >= {0.0, 9.0}
    assert grade(course, open_grader, scheduler=machines.address) == here
    assert (recorded(course), written(course)) == books


def test_a_worker_killed_halfway_loses_nothing(course: Path, machines: Machines) -> None:
    while len(machines.workers) < 2:
        machines.add_worker()
    for number in range(24):
        hand_in(course, f"s{number:02}", notebook({"number": number, "sleep": 0.15}))
    here = grade(course, jobs=2)
    books = recorded(course), written(course)
    shutil.rmtree(course / "class" / "runs")

    def kill_one() -> None:
        until(lambda: lines_in(course) >= 4, True, "some results from the cluster")
        machines.workers[0].kill()

    killer = threading.Thread(target=kill_one)
    killer.start()
    try:
        there = grade(course, scheduler=machines.address)
    finally:
        killer.join()
    assert machines.workers[0].wait() == -9
    assert there == here
    assert (recorded(course), written(course)) == books
    assert lines_in(course) == 24  # each recorded once


def test_another_version_of_the_course_is_refused() -> None:
    with pytest.raises(Problem, match="another version of the course"):
        worker.grade("another", b"not even looked at")
    assert len(worker.VERSION) == 64


def test_a_scheduler_that_goes_away_stops_the_run(
    course: Path, machines: Machines, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not machines.workers:
        machines.add_worker()
    monkeypatch.setattr(cluster, "_WORKERS_SECONDS", 3.0)
    for number in range(40):
        hand_in(course, f"s{number:02}", notebook({"number": number, "sleep": 0.3}))

    def kill_it() -> None:
        until(lambda: lines_in(course) >= 1, True, "a result from the cluster")
        machines.scheduler.kill()

    killer = threading.Thread(target=kill_it)
    killer.start()
    try:
        with pytest.raises(Problem, match="The cluster"):
            grade(course, scheduler=machines.address)
    finally:
        killer.join()
    assert 0 < lines_in(course) < 40
