"""The grader's handle on isolated processes: a sandbox of one stage, and children in it.

    with Sandbox("pure", Limits()) as sandbox, sandbox.start() as child:
        child.channel.sendall(…)

A sandbox has a zygote (`child/zygote.py`), a process that has imported the libraries of its stage
and nothing else. Each child is a fork of it in namespaces of its own, so that it costs
milliseconds: bubblewrap, or any container, starts a program anew, and `import torch` takes a second
or more each time. Nothing here runs a learner's code; and nothing that a child does makes anything
here wait without end.
"""

from __future__ import annotations

import select
import socket
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from types import TracebackType

from autograder.sandbox.isolation import IsolationError as IsolationError
from autograder.sandbox.isolation import advice, require_linux
from autograder.sandbox.limits import Limits
from autograder.sandbox.zygotes import NotConfined, Zygote, ZygoteDied, plan_of

DEATH_SECONDS = 0.2  # for a child that closed its channel to die by itself


class Sandbox:
    """One stage, and one child at a time in it.

    Args:
        stage: 'pure', 'numpy' or 'torch'.
        limits: what a child may use.
        adapter: what answers in a child, by path in it, instead of the grader's own.
    Attributes:
        zygote: that children are forked from; None where it ended, until the next child starts.
    Raises:
        IsolationError: learners' code cannot be kept in here.
    """

    def __init__(
        self,
        stage: str,
        limits: Limits,
        adapter: Mapping[str, str | Path] | None = None,
    ) -> None:
        require_linux()
        self.stage = stage
        self._plan = partial(plan_of, stage, limits, adapter)
        self._child: Child | None = None
        self.zygote: Zygote | None = None
        try:
            self.zygote = self._own()
        except NotConfined as error:
            raise IsolationError(
                f"Learners' code cannot be kept in on this machine: {error}. {advice(str(error))}."
            ) from None
        except ZygoteDied as error:
            raise IsolationError(
                f"The libraries of the stage {stage} cannot be loaded in a sandbox: {error}"
            ) from None

    def _own(self) -> Zygote:
        return Zygote(self._plan())

    def start(self) -> Child:
        """A new child. The one before it must have ended.

        Raises:
            IsolationError: there can be no more children, not even with a new zygote.
        """
        if self._child is not None:
            self._child.end()
        for last in (False, True):
            try:
                if self.zygote is None:
                    self.zygote = self._own()
                self._child = Child(self, self.zygote.start())
                return self._child
            except ZygoteDied as error:
                self.close()
                if last:
                    raise IsolationError(f"No child can be started: {error}") from None
        raise AssertionError("not reached")

    def _end(self, patience: float) -> str:
        self._child = None
        try:
            if self.zygote is not None:
                return self.zygote.end(patience)
        except ZygoteDied:
            self.close()
        return "running"  # it died with its zygote

    def close(self) -> None:
        """End everything. The sandbox may be used again, and then starts anew."""
        self._child = None
        if self.zygote is not None:
            self.zygote.close()
            self.zygote = None

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
