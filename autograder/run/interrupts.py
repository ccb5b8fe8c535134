"""Ctrl+C and SIGTERM: they stop a run between two steps, never within one."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any


class Interrupts:
    """Turns both signals into KeyboardInterrupt, where that is welcome; a context manager.

    Attributes:
        number: of the signal that came last, 0 if none did.
    """

    def __init__(self) -> None:
        self.number = 0
        self._holding = False
        self._before: dict[int, Any] = {}

    def __enter__(self) -> Interrupts:
        for number in (signal.SIGINT, signal.SIGTERM):
            self._before[number] = signal.signal(number, self._came)
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _came(self, number: int, frame: FrameType | None) -> None:
        again, self.number = bool(self.number), number
        if again or not self._holding:
            raise KeyboardInterrupt

    @contextmanager
    def held(self) -> Iterator[None]:
        """Finish the block first; whoever asks twice is not kept waiting."""
        self._holding = True
        try:
            yield
        finally:
            self._holding = False
        if self.number:
            raise KeyboardInterrupt
