"""What a function that times another does: how often it calls, and when it waits and reads a clock.

Nothing is patched: clock and wait are handed in, and time passes only where a call is made or, if
calls queue their work, where it is waited for. What is right is not known here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import cycle
from typing import Any

MOST = 10_000  # calls, waits and readings; whoever waits until a clock moves that stands still ends


def watch(
    function: Callable[..., Any],
    spans: Sequence[float],
    start: float,
    handed: str,
    back: float,
    *args: Any,
) -> tuple[Any, int, int, int, int, int, int, int, int]:
    """Let a function time calls that take given spans.

    Args:
        function: called with what it is to time, args, and by name what is handed.
        spans: how long each call takes, in turn and over and over, floats or ints.
        start: what the clock shows at first, of the same type.
        handed: "", "clock" or "clock and wait"; with a wait, calls queue their work until then.
        back: what each timed call returns.
        args: what each call has to be given.
    Returns:
        What came back; then numbers: calls before the first reading of the clock; calls from it to
        the last; those with a reading just before, and just after but for waits; readings right
        after a call, no wait between; 1 if the first was one; waits; calls with other arguments;
        1 if what came back is an int.
    Raises:
        RuntimeError: there is no end to it.
    """
    seen: list[str] = []
    each, now, queued = cycle(spans), start, start - start

    def note(event: str, due: bool) -> None:
        nonlocal now, queued
        if len(seen) == MOST:
            raise RuntimeError(f"{MOST:,} calls, waits and readings of the clock, and no end")
        seen.append(event)
        queued += next(each) if event in "co" else 0
        now, queued = (now + queued, 0 * queued) if due else (now, queued)

    def call(*given: Any, **named: Any) -> float:
        same = len(given) == len(args) and all(a is b for a, b in zip(given, args, strict=True))
        note("c" if same and not named else "o", due="wait" not in handed)
        return back

    def read() -> float:
        note("r", due=False)
        return now

    ways = {"clock": read, "wait": lambda: note("w", due=True)}
    result = function(call, *args, **{name: ways[name] for name in ways if name in handed})
    order = "".join(seen).replace("o", "c")
    before, _, rest = order.partition("r")
    timed = rest.rpartition("r")[0].count("c")
    alone, hasty = len(re.findall("rcw*(?=r)", order)), order.count("cr")
    first = int("cr" in order and before.endswith("c"))
    counts = before.count("c"), timed, alone, hasty, first, order.count("w"), seen.count("o")
    return result, *counts, int(type(result) is int)
