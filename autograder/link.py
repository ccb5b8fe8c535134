"""The trusted end of the line to a child: one request, one valid answer in time, or it is over."""

from __future__ import annotations

import time
from typing import Any

from attnlab.checks.calling import Call, Outcome
from autograder.child import wire
from autograder.child.wire import Gone, Late, Malformed, Ran
from autograder.limits import Limits
from autograder.sandbox import Child


class Ended(Exception):
    """A child is of no more use.

    Attributes:
        status: TIMEOUT, CRASH, or ERROR.
    """

    def __init__(self, status: str, message: str) -> None:
        super().__init__(message)
        self.status = status


class Link:
    """Requests to one child.

    Args:
        child: freshly started.
    """

    def __init__(self, child: Child, limits: Limits) -> None:
        self._child, self._limits = child, limits
        self._number = 0
        self._left = 0.0

    def run(self, name: str, source: str, seconds: float) -> Ran:
        """Run a cell.

        Args:
            name: for tracebacks.
            seconds: that it may take.
        Raises:
            Ended: it took the process with it, or would not stop.
        """
        request = {
            "do": "run",
            "name": name,
            "source": source,
            "seconds": seconds,
            "printed": self._limits.printed_bytes,
        }
        answer, _ = self._ask(request, b"", seconds + self._limits.grace_seconds)
        return self._checked(lambda: wire.read_ran(answer))

    def bind(self, name: str, fused_banned: bool) -> str:
        """Find an exercise's function and start the clock of its calls.

        Args:
            fused_banned: whether PyTorch's own attention is taken away for as long.
        Returns:
            '' if it is there; 'nothing', or what else has its name.
        """
        self._left = self._limits.call_seconds + self._limits.grace_seconds
        request = {
            "do": "bind",
            "name": name,
            "seconds": self._limits.call_seconds,
            "fused_banned": fused_banned,
        }
        answer, _ = self._ask(request, b"", self._limits.grace_seconds)
        return self._checked(lambda: wire.text_of(answer.get("bound")))

    def call(self, call: Call) -> Outcome:
        """Make one call of the function that was bound.

        Raises:
            Ended: the process ended, or its time is up.
        """
        request, block = wire.write_call(call)
        started = time.monotonic()
        answer, answer_block = self._ask(request | {"do": "call"}, block, self._left)
        self._left -= time.monotonic() - started
        inputs = len(call.args) + len(call.kwargs)
        return self._checked(lambda: wire.read_outcome(answer, answer_block, inputs))

    def _ask(
        self, request: dict[str, Any], block: bytes, seconds: float
    ) -> tuple[dict[str, Any], bytes]:
        self._number += 1
        channel = self._child.channel
        try:
            channel.settimeout(max(seconds, 0.001))
            wire.send(channel, request | {"number": self._number}, block)
            answer, answer_block = wire.receive(channel, self._limits.reply_bytes, seconds)
        except Late as late:
            raise Ended("TIMEOUT", "it did not stop when its time was up, and was ended") from late
        except Gone as gone:
            raise Ended("CRASH", f"it ended the program it ran in ({self._how()})") from gone
        except Malformed as malformed:
            raise Ended("CRASH", "what came back from it was not an answer") from malformed
        if answer.get("number") != self._number:
            raise Ended("CRASH", "what came back from it was not an answer")
        return answer, answer_block

    def _how(self) -> str:
        return self._child.end()

    @staticmethod
    def _checked(read: Any) -> Any:
        try:
            return read()
        except Malformed as malformed:
            raise Ended("CRASH", "what came back from it was not an answer") from malformed
