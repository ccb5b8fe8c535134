"""The grader's handle on isolated processes: a sandbox of one stage, and children in it.

    with Sandbox("pure", Limits()) as sandbox, sandbox.start() as child:
        child.channel.sendall(…)

A sandbox is a zygote (`autograder/child/zygote.py`), a program of its own that has imported the
libraries of its stage. Each child is a fork of it in namespaces of its own, so that it costs
milliseconds: bubblewrap, or any container, starts a program anew, and `import torch` takes a second
or more each time. Nothing here runs a learner's code; and nothing that a child does makes anything
here wait without end.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from types import TracebackType
from typing import Any

from autograder import stages
from autograder.child.view import View
from autograder.isolation import FULL, LEVELS, advice, require_linux
from autograder.isolation import IsolationError as IsolationError
from autograder.limits import Limits
from autograder.visible import visible_files

ZYGOTE = Path(__file__).parent / "child" / "zygote.py"
NOBODY = 64999  # who a child is outside its namespace, if root runs the grader
LOAD_SECONDS = 120.0  # to import torch from a cold disk
ANSWER_SECONDS = 10.0  # for a fork, or for reaping a killed child
DEATH_SECONDS = 0.2  # for a child that closed its channel to die by itself
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


class Sandbox:
    """One lane of one stage: runs one child at a time.

    Args:
        stage: 'pure', 'numpy' or 'torch'.
        limits: what a child may use.
        weaker: accept a lower level than `isolation.FULL` where there is nothing better.
        adapter: what answers in a child, by path in it, instead of the grader's own.
    Attributes:
        level: of `isolation.LEVELS`, the one it keeps children in with.
        lacking: why it is not the best one, and what to do; '' if it is.
    Raises:
        IsolationError: learners' code cannot be kept in here.
    """

    def __init__(
        self,
        stage: str,
        limits: Limits,
        weaker: bool = False,
        adapter: Mapping[str, str | Path] | None = None,
    ) -> None:
        require_linux()
        self.stage = stage
        self._limits = limits
        try:
            self._view = stages.view_of(stage, visible_files() if adapter is None else adapter)
        except stages.NotInstalled as error:
            raise IsolationError(str(error)) from None
        self._zygote: Zygote | None = None
        self._child: Child | None = None
        self.lacking = ""
        for self.level in LEVELS if weaker else (FULL,):
            try:
                self._zygote = Zygote(self._plan())
                return
            except NotConfined as error:
                self.lacking = self.lacking or f"{error}. {advice(str(error))}."
            except ZygoteDied as error:
                raise IsolationError(
                    f"The libraries of the stage {stage} cannot be loaded in a sandbox: {error}"
                ) from None
        raise IsolationError(
            f"Learners' code cannot be kept in on this machine: {self.lacking}"
            + ("" if weaker else " Or accept less: --allow-weaker-isolation.")
        )

    def _plan(self) -> dict[str, Any]:
        return {
            "stage": self.stage,
            "level": self.level.name,
            "limits": asdict(self._limits),
            "imports": stages.IMPORTS[self.stage],
            "view": self._view,
        }

    def start(self) -> Child:
        """A new child. The one before it must have ended.

        Raises:
            IsolationError: there can be no more children, not even with a new zygote.
        """
        if self._child is not None:
            self._child.end()
        for last in (False, True):
            try:
                if self._zygote is None:
                    self._zygote = Zygote(self._plan())
                self._child = Child(self, self._zygote.start())
                return self._child
            except ZygoteDied as error:
                self.close()
                if last:
                    raise IsolationError(f"No child can be started: {error}") from None
        raise AssertionError("not reached")

    def _end(self, patience: float) -> str:
        self._child = None
        try:
            if self._zygote is not None:
                return self._zygote.end(patience)
        except ZygoteDied:
            self.close()
        return "running"  # it died with its zygote

    def close(self) -> None:
        """End everything. The sandbox may be used again, and then starts anew."""
        self._child = None
        if self._zygote is not None:
            self._zygote.close()
            self._zygote = None

    def __enter__(self) -> Sandbox:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()


class Child:
    """An isolated process. Leaving its `with` kills it.

    Attributes:
        channel: what it is spoken to over; blocking.
    """

    def __init__(self, sandbox: Sandbox, channel: socket.socket) -> None:
        self.channel = channel
        self._sandbox = sandbox
        self._ended = ""

    def end(self) -> str:
        """Kill all that is in it, and reap it.

        Returns:
            How it had ended: 'running' if it had not, 'exit N' or 'signal NAME'.
        """
        if not self._ended:
            self._ended = self._sandbox._end(DEATH_SECONDS if self._hung_up() else 0.0)
            self.channel.close()
        return self._ended

    def _hung_up(self) -> bool:
        """Whether the other end of the channel is closed: as a rule because its process dies."""
        poll = select.poll()
        poll.register(self.channel, select.POLLHUP)
        return bool(poll.poll(0))

    def __enter__(self) -> Child:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.end()


class Zygote:
    """A running zygote.

    Args:
        plan: see `autograder.child.zygote`.
    Raises:
        ZygoteDied: it could not get ready; why.
    """

    def __init__(self, plan: dict[str, Any]) -> None:
        self._folder = ""
        if plan["level"] != FULL.name:
            plan = plan | self._folders(plan["view"])
        self._control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        worker = os.pidfd_open(os.getpid())
        with theirs, tempfile.TemporaryFile() as said:
            # A session of its own: Ctrl-C at the terminal is the worker's business.
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-S", ZYGOTE, str(theirs.fileno()), str(worker)],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=said,
                pass_fds=(theirs.fileno(), worker),
                env=ENVIRONMENT,
                cwd="/",
                start_new_session=True,
            )
            os.close(worker)
            theirs.close()
            try:
                self._prepare(plan)
            except ZygoteDied as error:
                self.close()
                said.seek(0)
                lines = said.read().decode(errors="replace").strip().splitlines()
                reason = str(error) or (lines or ["it ended at once"])[-1]
                raise type(error)(reason) from None

    def _prepare(self, plan: dict[str, Any]) -> None:
        answer = self._ask(json.dumps(plan).encode(), LOAD_SECONDS)
        if "unshared" in answer:
            try:
                self._map_user()
            except OSError as error:
                raise NotConfined(f"user namespace: {error}") from None
            answer = self._ask(b"mapped", LOAD_SECONDS)
        if "error" in answer:
            kind = ZygoteDied if answer["loading"] else NotConfined
            raise kind(str(answer["error"]))

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

    def start(self) -> socket.socket:
        """Fork a child; what it is spoken to over."""
        ours, theirs = socket.socketpair()
        with theirs:
            try:
                self._ask(b'{"do": "start"}', ANSWER_SECONDS, theirs.fileno())
            except ZygoteDied:
                ours.close()
                raise
        return ours

    def end(self, patience: float) -> str:
        """Kill the child and reap it; how it had ended."""
        order = json.dumps({"do": "end", "patience": patience}).encode()
        return str(self._ask(order, ANSWER_SECONDS)["ended"])

    def _ask(self, message: bytes, seconds: float, *descriptors: int) -> dict[str, Any]:
        self._control.settimeout(seconds)
        try:
            socket.send_fds(self._control, [message], descriptors)
            answer = self._control.recv(MESSAGE)
        except OSError as error:
            raise ZygoteDied(f"the zygote does not answer: {error}") from None
        if not answer:
            raise ZygoteDied("")
        found = json.loads(answer)
        assert isinstance(found, dict)
        return found

    def close(self) -> None:
        """End it, and with it all that is in its namespaces."""
        self._control.close()  # it ends when nobody holds the other end
        try:
            self._process.wait(ANSWER_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()  # the kernel then kills what this had started
            self._process.wait()
        if self._folder:
            shutil.rmtree(self._folder, ignore_errors=True)


def is_mapped(user: int) -> bool:
    """Whether a user exists in the namespace that we are in."""
    with contextlib.suppress(FileNotFoundError):
        for line in Path("/proc/self/uid_map").read_text().splitlines():
            first, _, count = map(int, line.split())
            if first <= user < first + count:
                return True
    return False
