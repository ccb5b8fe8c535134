"""What a function that times another does: when it calls, waits and reads a clock.

Nothing is patched: clock and wait are handed in, and time passes only where a call is made or, if
calls queue their work, where it is waited for. What is right is not known here, and nothing is
counted: what happened goes back as it was written down.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import cycle
from typing import Any

import torch

MOST = 10_000  # calls, waits and readings; whoever waits until a clock moves that stands still ends
EVENTS = CALL, OTHER, READ, WAIT = b"c", b"o", b"r", b"w"  # OTHER: with arguments not its own


def watch(
    function: Callable[..., Any],
    spans: Sequence[float],
    start: float,
    handed: str,
    back: float,
    *args: Any,
) -> tuple[Any, torch.Tensor, int]:
    """Let a function time calls that take given spans.

    Args:
        function: called with what it is to time, args, and by name what is handed.
        spans: how long each call takes, in turn and over and over, floats or ints.
        start: what the clock shows at first, of the same type.
        handed: "", "clock" or "clock and wait"; with a wait, calls queue their work until then.
        back: what each timed call returns.
        args: what each call has to be given.
    Returns:
        What came back; all EVENTS in turn, filled up with 0; and 1 if what came back is an int.
    Raises:
        RuntimeError: there is no end to it.
    """
    each, now, queued, seen = cycle(spans), start, start - start, b""

    def note(event: bytes) -> Any:
        nonlocal now, queued, seen
        seen += event
        if len(seen) > MOST:
            raise RuntimeError(f"{MOST:,} calls, waits and readings of the clock, and no end")
        queued += next(each) if event in (CALL, OTHER) else 0
        if event == WAIT or "wait" not in handed:
            now, queued = now + queued, 0 * queued
        return now

    def call(*given: Any, **named: Any) -> float:
        same = len(given) == len(args) and all(a is b for a, b in zip(given, args, strict=True))
        note(CALL if same and not named else OTHER)
        return back

    offered = {"clock": lambda: note(READ), "wait": lambda: [note(WAIT)].clear()}
    result = function(call, *args, **{name: offered[name] for name in offered if name in handed})
    events = torch.tensor([*seen[:MOST].ljust(MOST, b"\0")], dtype=torch.uint8)
    return result, events, int(type(result) is int)
