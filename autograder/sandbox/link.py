"""The trusted end of the line to a child: one request, one valid answer in time, or it is over."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from attnlab.calling.call import Call, Outcome
from autograder.sandbox.child import wire
from autograder.sandbox.child.wire import Gone, Late, Malformed, Ran
from autograder.sandbox.limits import Limits
from autograder.sandbox.sandbox import Child


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
        request = {"do": "run", "name": name, "source": source, "seconds": seconds}
        with self._answer(request, seconds + self._limits.grace_seconds) as (answer, _):
            return wire.read_ran(answer)

    def bind(self, name: str, seconds: float) -> str:
        """Find an exercise's function and start the clock of its calls.

        Args:
            seconds: that all its calls may take.
        Returns:
            '' if it is there; 'nothing', or what else has its name.
        Raises:
            Ended: as above.
        """
        self._left = seconds + self._limits.grace_seconds
        request = {"do": "bind", "name": name, "seconds": seconds}
        with self._answer(request, self._limits.grace_seconds) as (answer, _):
            return wire.text_of(answer.get("bound"))

    def call(self, call: Call) -> Outcome:
        """Make one call of the function that was bound.

        Raises:
            Ended: the process ended, or its time is up.
        """
        request, block = wire.write_call(call)
        started = time.monotonic()
        reply = self._answer(request | {"do": "call"}, self._left, block, call.most)
        with reply as (answer, answer_block):
            self._left -= time.monotonic() - started
            return wire.read_outcome(answer, answer_block, call)

    @contextmanager
    def _answer(
        self, request: dict[str, Any], seconds: float, block: bytes = b"", most: int = 0
    ) -> Iterator[tuple[dict[str, Any], bytes]]:
        """Send a request; the reply is read in the block, where Malformed ends the child too."""
        self._number += 1
        channel = self._child.channel
        try:
            channel.settimeout(max(seconds, 0.001))
            wire.send(channel, request | {"number": self._number}, block)
            limit = wire.reply_bytes(most)
            answer, answer_block = wire.receive(channel, limit, seconds)
            if answer.get("number") != self._number:
                raise Malformed("an answer to something else")
            yield answer, answer_block
        except Late as late:
            raise Ended("TIMEOUT", "it did not stop when its time was up, and was ended") from late
        except Gone as gone:
            raise Ended("CRASH", f"it ended the program it ran in ({self._child.end()})") from gone
        except Malformed as malformed:
            raise Ended("CRASH", "what came back from it was not an answer") from malformed
