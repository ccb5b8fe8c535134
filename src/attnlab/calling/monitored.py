"""A time limit where there is neither a timer nor a thread, as in a browser: Python is asked.

At each function that begins and each jump, which a loop is made of, Python calls back, and past the
limit the answer is an exception; from then on at each line, so that no `except` swallows it for
long. What is in one call of C asks nobody: the page ends it, with the whole of Python.
"""

from __future__ import annotations

import os
import sys
import time
from types import CodeType
from typing import Any

HERE = os.path.dirname(__file__)
TOOL = 3  # none of those that Python has given a use


class Monitored:
    """Raises in whatever runs, once time is up, until it is told to stop.

    Args:
        late: what is raised.
    """

    def __init__(self, late: type[BaseException]) -> None:
        self._late, self._end = late, 0.0

    def start(self, seconds: float) -> None:
        self._end = time.monotonic() + seconds
        if sys.version_info >= (3, 12):
            events = sys.monitoring.events
            sys.monitoring.use_tool_id(TOOL, "attnlab")
            for event in (events.JUMP, events.PY_START, events.LINE):
                sys.monitoring.register_callback(TOOL, event, self._asked)
            sys.monitoring.set_events(TOOL, events.JUMP | events.PY_START)

    def stop(self) -> None:
        if sys.version_info >= (3, 12) and sys.monitoring.get_tool(TOOL):
            sys.monitoring.set_events(TOOL, 0)
            sys.monitoring.free_tool_id(TOOL)

    def _asked(self, code: CodeType, *_: object) -> Any:
        if sys.version_info >= (3, 12):
            if os.path.dirname(code.co_filename) == HERE:
                return sys.monitoring.DISABLE
            if time.monotonic() > self._end:
                events = sys.monitoring.events
                sys.monitoring.set_events(TOOL, events.JUMP | events.PY_START | events.LINE)
                raise self._late
        return None
