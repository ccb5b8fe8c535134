"""The trusted end of the line to a child: to each request valid answers in time, or it is over."""

from __future__ import annotations

import json
import time
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from attnlab.calling.call import Call, Outcome
from autograder.sandbox.child import wire
from autograder.sandbox.child.wire import Gone, Late, Malformed, Ran, Written
from autograder.sandbox.limits import Limits
from autograder.sandbox.sandbox import Child

STILL_RUNNING = "it did not stop when its time was up, and was ended"
KEPT = 4096  # calls that are kept as bytes


class Ended(Exception):
    """A child is of no more use.

    Attributes:
        status: TIMEOUT, CRASH, or ERROR.
    """

    def __init__(self, status: str, message: str) -> None:
        super().__init__(message)
        self.status = status


class Requests:
    """Calls as they are sent, written once: everyone in a class is asked the very same."""

    def __init__(self) -> None:
        self._kept: dict[int, tuple[Call, Written]] = {}  # by the call's identity, as it stays

    def of(self, calls: Sequence[Call]) -> list[Written]:
        if len(calls) == 1:  # as a rule of one learner alone
            return [wire.written(calls[0])]
        if len(self._kept) > KEPT:
            self._kept.clear()
        for call in calls:
            if id(call) not in self._kept:
                self._kept[id(call)] = call, wire.written(call)
        return [self._kept[id(call)][1] for call in calls]


class Link:
    """Requests to one child.

    Args:
        child: freshly started.
        requests: what was written for children before it.
    """

    def __init__(self, child: Child, limits: Limits, requests: Requests | None = None) -> None:
        self._child, self._limits = child, limits
        self._requests = requests or Requests()
        self._number = 0
        self._left = 0.0
        self._ahead = bytearray()
        self._owed: deque[tuple[int, Call]] = deque()  # calls without an answer yet

    def run(self, name: str, source: str, seconds: float) -> Ran:
        """Run a cell.

        Args:
            name: for tracebacks.
            seconds: that it may take.
        Raises:
            Ended: it took the process with it, or would not stop.
        """
        request = {"do": "run", "name": name, "source": source, "seconds": seconds}
        with self._ending():
            answer = self._answer(request, seconds + self._limits.grace_seconds)
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
        request = {"do": "bind", "name": name, "seconds": seconds}
        with self._ending():
            answer = self._answer(request, self._limits.grace_seconds)
            self._left = seconds + self._limits.grace_seconds
            return wire.text_of(answer.get("bound"))

    def give(self, name: str, code: bytes, seconds: float) -> None:
        """Put a function in the place of the learner's.

        Args:
            code: that makes it, from `marshal`.
            seconds: that this may take.
        Raises:
            Ended: as above.
        """
        with self._ending():
            self._answer({"do": "give", "name": name}, seconds, code)

    def calls(self, calls: Sequence[Call]) -> Iterator[Outcome]:
        """Make calls of the function that was bound, until one of them is stopped.

        They travel together, but for the first one: where nothing is written yet, it is the only
        one. So the child is ahead of who takes the outcomes. To leave the rest is allowed, and
        to come back after another request is not.

        Raises:
            Ended: the process ended, or its time is up.
        """
        requests = self._requests.of(calls)
        for part in (slice(0, 1), slice(1, None)):
            self._send_calls(calls[part], requests[part])
            number = self._number
            for _ in calls[part]:
                if number != self._number:
                    raise RuntimeError("these calls were left for another request")
                outcome = self._outcome()
                yield outcome
                if outcome.stopped:
                    return

    def _send_calls(self, calls: Sequence[Call], requests: Sequence[Written]) -> None:
        if calls:
            with self._ending():
                self._drain()
                text, block = wire.write_calls(requests, self._next())
                self._send(text, self._left, block)
                self._owed.extend(enumerate(calls))

    def _outcome(self) -> Outcome:
        """The outcome of the first of the calls that have none yet."""
        at, call = self._owed.popleft()
        with self._ending():
            answer, block = self._receive(self._left, call.most)
            if answer.get("at") != at:
                raise Malformed("an answer to another call")
            outcome = wire.read_outcome(answer, block, call)
            if outcome.stopped:
                self._owed.clear()
            return outcome

    def _answer(
        self, request: dict[str, Any], seconds: float, block: bytes = b""
    ) -> dict[str, Any]:
        """Send a request that has one answer."""
        self._drain()
        text = json.dumps(request | {"number": self._next()}).encode()
        self._send(text, seconds, block)
        return self._receive(seconds)[0]

    def _drain(self) -> None:
        """Take what nobody waited for."""
        while self._owed:
            self._outcome()

    def _next(self) -> int:
        self._number += 1
        return self._number

    def _send(self, text: bytes, seconds: float, block: bytes = b"") -> None:
        started = time.monotonic()
        self._child.channel.settimeout(max(seconds, 0.001))
        wire.send_text(self._child.channel, text, block)
        self._left -= time.monotonic() - started

    def _receive(self, seconds: float, most: int = 0) -> tuple[dict[str, Any], bytes]:
        """The next answer; whoever waits for calls does so on their clock."""
        started = time.monotonic()
        limit = wire.reply_bytes(most)
        answer, block = wire.receive(self._child.channel, limit, seconds, self._ahead)
        self._left -= time.monotonic() - started
        if answer.get("number") != self._number:
            raise Malformed("an answer to something else")
        return answer, block

    @contextmanager
    def _ending(self) -> Iterator[None]:
        """What is wrong with a child in the block ends it."""
        try:
            yield
        except Late as late:
            raise Ended("TIMEOUT", STILL_RUNNING) from late
        except Gone as gone:
            raise Ended("CRASH", f"it ended the program it ran in ({self._child.end()})") from gone
        except Malformed as malformed:
            raise Ended("CRASH", "what came back from it was not an answer") from malformed
