"""The grader's handles on zygotes: the processes that children are forked from.

Each worker has one, `Own`, or one that a `Nursery` has forked for it, a `Lane`. A nursery loads the
libraries of a stage once for all workers, and begins before they are there.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import IO, Any

from autograder import stages
from autograder.child.view import View
from autograder.isolation import FULL, IsolationError, Level, require_linux
from autograder.limits import Limits
from autograder.visible import visible_files

ZYGOTE = Path(__file__).parent / "child" / "zygote.py"
NOBODY = 64999  # who a child is outside its namespace, if root runs the grader
LOAD_SECONDS = 120.0  # to import torch from a cold disk
ANSWER_SECONDS = 10.0  # for a fork, or for reaping a killed child
DEATH_SECONDS = 0.2  # for a nursery that is told to end
MESSAGE = 1 << 16
ENVIRONMENT = {
    "PYTHONHASHSEED": "0",
    "OMP_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    # Each arena takes 64 MiB of address space, which is what a child's memory is counted in.
    "MALLOC_ARENA_MAX": "2",
    "LC_ALL": "C.UTF-8",
    "HOME": "/tmp",
    "USER": "learner",
    "TZ": "UTC",
}


class ZygoteDied(Exception):
    """It did not answer in time, or at all."""


class NotConfined(ZygoteDied):
    """It could not isolate itself, or a child."""


def plan_of(
    stage: str, limits: Limits, level: Level, adapter: Mapping[str, str | Path] | None = None
) -> dict[str, Any]:
    """What a zygote has to know.

    Args:
        adapter: what answers in a child, by path in it, instead of the grader's own.
    Raises:
        IsolationError: a library of the stage is not installed.
    """
    try:
        view = stages.view_of(stage, visible_files() if adapter is None else adapter)
    except stages.NotInstalled as error:
        raise IsolationError(str(error)) from None
    return {
        "stage": stage,
        "level": level.name,
        "limits": asdict(limits),
        "imports": stages.IMPORTS[stage],
        "view": view,
        "lanes": False,
    }


class Zygote(ABC):
    """Any zygote.

    Args:
        control: to one that is getting ready.
    """

    def __init__(self, control: socket.socket) -> None:
        self._control = control

    def start(self) -> socket.socket:
        """Fork a child; what it is spoken to over."""
        ours, theirs = socket.socketpair()
        with theirs:
            try:
                _ask(self._control, b'{"do": "start"}', ANSWER_SECONDS, theirs.fileno())
            except ZygoteDied:
                ours.close()
                raise
        return ours

    def end(self, patience: float) -> str:
        """Kill the child and reap it; how it had ended."""
        order = json.dumps({"do": "end", "patience": patience}).encode()
        return str(_ask(self._control, order, ANSWER_SECONDS)["ended"])

    @abstractmethod
    def close(self) -> None:
        """End it, and with it all that is in its namespaces."""


class Lane(Zygote):
    """A zygote that a nursery forks.

    Args:
        control: whose other end `Nursery.lane` was given.
        stage, limits: what it has to be for.
    Raises:
        ZygoteDied: it will not come, or it is for something else.
    """

    def __init__(self, control: socket.socket, stage: str, limits: Limits) -> None:
        super().__init__(control)
        try:
            made = _hear(control, LOAD_SECONDS)
            if (made["stage"], made["limits"]) != (stage, asdict(limits)):
                raise ZygoteDied("the nursery has another stage, or other limits")
        except ZygoteDied:
            control.close()
            raise

    def close(self) -> None:
        with self._control as control, contextlib.suppress(OSError):
            control.shutdown(socket.SHUT_WR)
            control.settimeout(ANSWER_SECONDS)
            while control.recv(MESSAGE):  # until its own end is closed: it is ending
                pass


class Own(Zygote):
    """A zygote of this process.

    Args:
        plan: from `plan_of`.
    Raises:
        ZygoteDied: it could not get ready; why.
    """

    def __init__(self, plan: dict[str, Any]) -> None:
        self._folder = ""
        if plan["level"] != FULL.name:
            plan = plan | self._folders(plan["view"])
        with tempfile.TemporaryFile() as said:
            self._program = _Program(said)
            super().__init__(self._program.control)
            try:
                self._program.prepare(plan)
                if plan["level"] == FULL.name:
                    _hear(self._control, LOAD_SECONDS)
            except ZygoteDied as error:
                self.close()
                said.seek(0)
                lines = said.read().decode(errors="replace").strip().splitlines()
                reason = str(error) or (lines or ["it ended at once"])[-1]
                raise type(error)(reason) from None

    def _folders(self, view: View) -> dict[str, str]:
        """For the weaker levels, which have no root of their own: the same in temporary folders."""
        self._folder = tempfile.mkdtemp(prefix="autograder-")
        places = {name: os.path.join(self._folder, name) for name in ("adapter", "site", "scratch")}
        for place in places.values():
            os.mkdir(place)
        for name, path in view["adapter"].items():
            copy = Path(places["adapter"], name)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, copy)
        for name, path in view["packages"].items():
            os.symlink(path, os.path.join(places["site"], name))
        return places

    def close(self) -> None:
        self._program.end()
        if self._folder:
            shutil.rmtree(self._folder, ignore_errors=True)


class Nursery:
    """A program that loads the libraries of a stage, and then forks a zygote for each worker.

    Args:
        plan: from `plan_of`, for the full level.
    Raises:
        ZygoteDied: there can be none here.
    """

    def __init__(self, plan: dict[str, Any]) -> None:
        with open(os.devnull, "wb") as nowhere:  # what goes wrong, a worker's own zygote will tell
            self._program = _Program(nowhere)
        try:
            self._program.prepare(plan | {"lanes": True})
        except BaseException:
            self.close()
            raise

    @classmethod
    def begin(
        cls, stage: str, limits: Limits, adapter: Mapping[str, str | Path] | None = None
    ) -> Nursery | None:
        """One that has begun to load; None where workers have to look for themselves."""
        try:
            require_linux()
            return cls(plan_of(stage, limits, FULL, adapter))
        except (IsolationError, ZygoteDied, OSError):
            return None

    def lane(self, control: socket.socket, worker: int) -> None:
        """Fork a zygote, as soon as all is loaded. If it cannot, nobody holds its control.

        Args:
            control: the zygote's end of a socket pair, whose other end is for `Lane`; to be closed.
            worker: process id of whom it is for; it ends with that.
        """
        with contextlib.suppress(OSError):  # one of the two has ended
            watched = os.pidfd_open(worker)
            try:
                message = b'{"do": "lane"}'
                socket.send_fds(self._program.control, [message], [control.fileno(), watched])
            finally:
                os.close(watched)

    def close(self) -> None:
        """End it, and with it all that it has forked. May be done again."""
        self._program.end(DEATH_SECONDS)  # still loading, it does not listen

    def __enter__(self) -> Nursery:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class _Program:
    """`child/zygote.py`, running.

    Args:
        said: file that its standard error goes to.
    Attributes:
        control: what it is told on.
    """

    def __init__(self, said: IO[bytes]) -> None:
        owner = os.pidfd_open(os.getpid())
        self.control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            # Isolated as by -I, but for reading PYTHONHASHSEED: a set has the same order each time.
            # A session of its own: Ctrl-C at the terminal is the grader's business.
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-s", "-S", ZYGOTE, str(theirs.fileno()), str(owner)],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=said,
                pass_fds=(theirs.fileno(), owner),
                env=ENVIRONMENT,
                cwd="/",
                start_new_session=True,
            )
        os.close(owner)

    def prepare(self, plan: dict[str, Any]) -> None:
        """Let it make its namespaces, if its level has any, and begin to load.

        Raises:
            ZygoteDied: it could not.
        """
        answer = _ask(self.control, json.dumps(plan).encode(), LOAD_SECONDS)
        if "unshared" in answer:
            try:
                self._map_user()
            except OSError as error:
                raise NotConfined(f"user namespace: {error}") from None
            with contextlib.suppress(OSError):  # it has ended, which whoever listens next finds
                self.control.send(b"mapped")

    def _map_user(self) -> None:
        """Say who the one user of the new namespace is outside."""
        user, group = os.geteuid(), os.getegid()
        process = Path(f"/proc/{self._process.pid}")
        if user == 0 and is_mapped(NOBODY):
            user = group = NOBODY
        else:
            (process / "setgroups").write_text("deny")
        (process / "gid_map").write_text(f"0 {group} 1")
        (process / "uid_map").write_text(f"0 {user} 1")

    def end(self, patience: float = ANSWER_SECONDS) -> None:
        """Let it end; kill it if it takes longer than that."""
        self.control.close()
        try:
            self._process.wait(patience)
        except subprocess.TimeoutExpired:
            self._process.kill()  # the kernel then kills what this had started
            self._process.wait()


def _ask(
    control: socket.socket, message: bytes, seconds: float, *descriptors: int
) -> dict[str, Any]:
    """
    Raises:
        ZygoteDied: there is no answer, or it is an error.
    """
    control.settimeout(seconds)
    try:
        socket.send_fds(control, [message], descriptors)
    except OSError as error:
        raise ZygoteDied(f"the zygote does not answer: {error}") from None
    return _hear(control, seconds)


def _hear(control: socket.socket, seconds: float) -> dict[str, Any]:
    """
    Raises:
        ZygoteDied: it says nothing, or that it cannot go on.
    """
    control.settimeout(seconds)
    try:
        answer = control.recv(MESSAGE)
    except OSError as error:
        raise ZygoteDied(f"the zygote does not answer: {error}") from None
    if not answer:
        raise ZygoteDied("")
    found = json.loads(answer)
    assert isinstance(found, dict)
    if "error" in found:
        raise (ZygoteDied if found["loading"] else NotConfined)(str(found["error"]))
    return found


def is_mapped(user: int) -> bool:
    """Whether a user exists in the namespace that we are in."""
    with contextlib.suppress(FileNotFoundError):
        for line in Path("/proc/self/uid_map").read_text().splitlines():
            first, _, count = map(int, line.split())
            if first <= user < first + count:
                return True
    return False
