"""Waiting for an answer: ask again until it comes, and give up at the end of one's patience."""

from __future__ import annotations

import time
from collections.abc import Callable

PATIENCE = 60.0  # seconds; on a busy machine any answer may be late


def until(question: Callable[[], object], answer: object = True, what: str = "") -> None:
    """Ask again until this is the answer.

    Args:
        what: is waited for, in words.
    """
    deadline = time.monotonic() + PATIENCE
    while (said := question()) != answer and time.monotonic() < deadline:
        time.sleep(0.02)
    assert said == answer, f"waited in vain for {what or answer!r}; it is {said!r}"
