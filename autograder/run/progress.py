"""How far a run is, for whoever waits: on standard error, which no result ever goes to."""

from __future__ import annotations

import sys
import time

from tqdm import tqdm

_LINE_SECONDS = 15.0  # the longest between lines where nobody watches a bar
_MANY = 30  # submissions from which on each tenth has a line as well


class Progress:
    """A bar with an ETA on a terminal, lines elsewhere; a context manager."""

    def __init__(self, total: int) -> None:
        self._bar: tqdm | None = None
        if sys.stderr.isatty():
            self._bar = tqdm(total=total, unit=" submissions", file=sys.stderr, leave=False)
        self._total, self._done, self._skipped = total, 0, 0
        self._begun = self._said = time.monotonic()
        self._tenths = 0  # that were done at the last line

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar:
            self._bar.close()

    def skip(self) -> None:
        """One more was recorded before; it says nothing about how fast this run is."""
        self._skipped += 1
        if self._bar:
            self._bar.initial += 1
            self._bar.update()

    def advance(self, count: int) -> None:
        """So many more are recorded; or none yet, and time goes by."""
        self._done += count
        if self._bar:
            self._bar.update(count)
            return
        now = time.monotonic()
        tenths = 10 * (self._done + self._skipped) // self._total
        is_due = count > 0 and self._total >= _MANY and tenths > self._tenths
        if is_due or now - self._said >= _LINE_SECONDS:
            self._said, self._tenths = now, tenths
            line = tqdm.format_meter(
                self._done + self._skipped,
                self._total,
                now - self._begun,
                ncols=80,
                unit=" submissions",
                initial=self._skipped,
            )
            print(line, file=sys.stderr, flush=True)
