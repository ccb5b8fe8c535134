"""A time limit on a learner's code, in the notebook's own process.

A POSIX timer interrupts the main thread, again and again until the code gives way. Code that
catches the interrupt, as `while True: try: … except: pass` does, meets a second one at the first
line of its `except`, where nothing catches it: a trace function sees to that. Where there is no
such timer (Windows, another thread) a watchdog thread raises the same exception. A browser's Python
has neither; there whoever runs it sends the signal, and puts how to ask for that into `timer`.

Two things get past this, and only another process could stop them: a loop inside one C call, say
`sum(itertools.count())`, and a recursion that catches its own errors and calls itself again.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from types import FrameType, TracebackType
from typing import Any

HERE = os.path.dirname(__file__)
TraceFunction = Callable[[FrameType, str, Any], Any]
AGAIN = 0.002  # seconds between interrupts, once the time is up


def _by_system(seconds: float) -> None:
    signal.setitimer(signal.ITIMER_REAL, seconds, AGAIN)


# Has SIGALRM sent after some seconds, then again and again; never, for 0.
timer: Callable[[float], object] | None = _by_system if hasattr(signal, "setitimer") else None


class Overrun(BaseException):
    """Time is up. Not an Exception, so that a learner's `except Exception` lets it by."""


def first_of(over: Overrun) -> Overrun:
    """Of interrupts that came one after the other, the one that came to a learner's line."""
    while isinstance(over.__context__, Overrun):
        over = over.__context__
    return over


class Deadline:
    """A budget of seconds that all uses of one `with` object share.

    Time spent outside the `with` blocks is not counted.

    Args:
        seconds: the whole budget.
    """

    def __init__(self, seconds: float) -> None:
        self.left = seconds
        self._started = 0.0
        self._guarding = False
        self._home: FrameType | None = None  # whose `with` block the learner's code runs in
        self._done = threading.Event()
        self._timer: Callable[[float], object] | None = None
        self._old_handler: object = signal.SIG_DFL
        self._old_trace: Any = None

    def __enter__(self) -> None:
        if self.left <= 0:
            raise Overrun
        self._home = sys._getframe(1)
        self._started = time.monotonic()
        self._guarding = True
        self._timer = timer if threading.current_thread() is threading.main_thread() else None
        if self._timer:
            self._old_trace = sys.gettrace()
            self._old_handler = signal.signal(signal.SIGALRM, self._interrupt)
            self._timer(self.left)
        else:
            self._done.clear()
            threading.Thread(
                target=self._watch, args=(threading.get_ident(), self.left), daemon=True
            ).start()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        tb: TracebackType | None,
    ) -> None:
        self.release()
        self.left -= time.monotonic() - self._started
        if self.left <= 0:
            raise Overrun  # however the code ended, it was too late

    def release(self) -> None:
        """Stop interrupting. Safe to call twice, and while an interrupt is on its way."""
        while self._guarding:
            try:  # not `suppress`, whose own lines may be interrupted or traced
                self._guarding = False
            except Overrun:
                continue
        self._home = None
        if self._timer:
            self._timer(0.0)
            if sys.gettrace() == self._trace:
                sys.settrace(self._old_trace)
            signal.signal(signal.SIGALRM, self._old_handler)  # type: ignore[arg-type]
        else:
            self._done.set()

    def _interrupt(self, number: int, frame: FrameType | None) -> None:
        if not self._guarding or (frame is not None and frame.f_code in LEAVING):
            return  # there is nothing left to interrupt
        while frame is not None and frame is not self._home:
            frame.f_trace = self._trace
            frame = frame.f_back
        sys.settrace(self._trace)  # last, as from here on every call is traced
        raise Overrun

    def _trace(self, frame: FrameType, event: str, argument: object) -> TraceFunction | None:
        """Raise at each line of code that is not the checks' own, while time is up."""
        if os.path.dirname(frame.f_code.co_filename) == HERE:
            return None
        if self._guarding and event == "line":
            raise Overrun
        return self._trace

    def _watch(self, thread: int, seconds: float) -> None:
        raise_in = ctypes.pythonapi.PyThreadState_SetAsyncExc
        if self._done.wait(seconds):
            return
        while self._guarding:
            raise_in(ctypes.c_ulong(thread), ctypes.py_object(Overrun))
            self._done.wait(AGAIN)


LEAVING = (Deadline.__exit__.__code__, Deadline.release.__code__)
