"""The grader's handle on a zygote: the process that a worker's children are forked from."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import IO, Any

from autograder.sandbox import stages
from autograder.sandbox.child import confine
from autograder.sandbox.isolation import IsolationError
from autograder.sandbox.limits import Limits
from autograder.sandbox.visible import visible_files

ZYGOTE = Path(__file__).parent / "child" / "zygote.py"
NOBODY = 64999  # who a child is outside its namespace, if root runs the grader
LOAD_SECONDS = 120.0  # to import torch from a cold disk
ANSWER_SECONDS = 10.0  # for a fork, or for reaping a killed child
MESSAGE = 1 << 16
ENVIRONMENT = {
    "PYTHONHASHSEED": "0",
    "OMP_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    # Each arena takes 64 MiB of address space, which is what a child's memory is counted in.
    "MALLOC_ARENA_MAX": "2",
    # There is no program to compile with: what is to be compiled runs as it is written.
    "TORCH_COMPILE_DISABLE": "1",
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
    stage: str,
    limits: Limits,
    adapter: Mapping[str, str | Path] | None = None,
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
        "limits": asdict(limits),
        "imports": stages.IMPORTS[stage],
        "view": view,
    }


class Zygote:
    """A zygote of this process.

    Args:
        plan: from `plan_of`.
    Attributes:
        pid: of the process that made the namespaces, and waits for the zygote proper.
    Raises:
        ZygoteDied: it could not get ready; why.
    """

    def __init__(self, plan: dict[str, Any]) -> None:
        with open(os.memfd_create("said"), "w+b") as said:  # a full disk shall not silence it
            self._control, self._process = _started(said)
            self.pid = self._process.pid
            try:
                self._prepare(plan)
            except ZygoteDied as error:
                self.close()
                said.seek(0)
                lines = said.read().decode(errors="replace").strip().splitlines()
                reason = str(error) or (lines or ["it ended at once"])[-1]
                raise type(error)(reason) from None

    def _prepare(self, plan: dict[str, Any]) -> None:
        """Let it make its namespaces and load."""
        _ask(self._control, json.dumps(plan).encode(), LOAD_SECONDS)  # its namespaces are made
        try:
            _map_user(self.pid)
        except OSError as error:
            raise NotConfined(f"user namespace: {error}") from None
        _ask(self._control, b"mapped", LOAD_SECONDS)

    def start(self) -> socket.socket:
        """Fork a child; what it is spoken to over.

        Raises:
            NotConfined: it could not be, and has run nothing.
        """
        ours, theirs = socket.socketpair()
        with theirs:
            try:
                _ask(self._control, b'{"do": "start"}', ANSWER_SECONDS, theirs.fileno())
                theirs.close()
                self._await_confined(ours)
            except ZygoteDied:
                ours.close()
                raise
        return ours

    def _await_confined(self, channel: socket.socket) -> None:
        channel.settimeout(ANSWER_SECONDS)
        try:
            said = channel.recv(MESSAGE)
        except OSError as error:
            said = str(error).encode()
        if said != confine.CONFINED:
            raise NotConfined(f"a child was not confined: {said.decode(errors='replace')}")
        channel.settimeout(None)

    def end(self, patience: float) -> str:
        """Kill the child and reap it; how it had ended."""
        order = json.dumps({"do": "end", "patience": patience}).encode()
        return str(_ask(self._control, order, ANSWER_SECONDS)["ended"])

    def close(self) -> None:
        """End it, and with it all that is in its namespaces."""
        self._control.close()
        try:
            self._process.wait(ANSWER_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()  # the kernel then kills what this had started
            self._process.wait()


def _started(said: IO[bytes]) -> tuple[socket.socket, subprocess.Popen[bytes]]:
    """`child/zygote.py`, running, and what it is told on; `said` gets its standard error."""
    owner = os.pidfd_open(os.getpid())
    control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with theirs:
        # Isolated as by -I, but for reading PYTHONHASHSEED: a set has the same order each time.
        # A session of its own: Ctrl-C at the terminal is the grader's business.
        process = subprocess.Popen(
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
    return control, process


def _map_user(pid: int) -> None:
    """Say who the one user of a new namespace is outside."""
    user, group = os.geteuid(), os.getegid()
    process = Path(f"/proc/{pid}")
    if user == 0 and is_mapped(NOBODY):
        user = group = NOBODY
    else:
        (process / "setgroups").write_text("deny")
    (process / "gid_map").write_text(f"0 {group} 1")
    (process / "uid_map").write_text(f"0 {user} 1")


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
