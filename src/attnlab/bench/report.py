"""What was measured, in words, as a table, and as JSON that is kept."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from attnlab.bench import machine
from attnlab.bench.rows import Row, power
from attnlab.bench.tiled import BLOCK
from attnlab.bench.ways import PEERS
from attnlab.figures.live.counts import (
    SIZES,
    in_bytes,
    in_seconds,
    mixing_flops,
    score_bytes,
    score_flops,
)
from attnlab.ipynb.files import write_whole
from attnlab.lessons.gpu_sdpa.kept import RECORDED


@dataclass(frozen=True, slots=True)
class Run:
    """One comparison: what was the same for all rows, and the rows.

    Attributes:
        d: width of a head.
        heads: H.
        dtype: 'float32'.
        causal: whether queries saw no later key.
        device: 'cpu' or 'cuda'.
        peak: what the device did at best, measured at the same time.
        rows: by length, then by way.
    """

    d: int
    heads: int
    dtype: str
    causal: bool
    device: str
    peak: machine.Peak
    rows: Sequence[Row]

    def of_roofline(self, row: Row) -> float:
        """The least time that the device could need, as a share of what was needed.

        Counted are 4 · H · N² · d operations, half of them if causal, and q, k, v and the output
        each read or written once.
        """
        width = self.heads * self.d
        flops = (score_flops(row.n, width) + mixing_flops(row.n, width)) / (2 if self.causal else 1)
        moved = 4 * row.n * width * SIZES[self.dtype]
        least = max(flops / self.peak.flops, moved / self.peak.bandwidth)
        return least / (row.seconds or float("inf"))

    def of_fastest_peer(self, row: Row) -> float | None:
        """The fastest of PyTorch's own ways at this length, as a share of a row's time."""
        peers = [each.seconds for each in self.rows if each.name in PEERS and each.n == row.n]
        known = [seconds for seconds in peers if seconds]
        return min(known) / row.seconds if known and row.seconds else None


def table(run: Run) -> str:
    """The rows, the powers of N, and how tiles compare with all scores at once."""
    heads = f"{run.heads} head{'s' if run.heads > 1 else ''}"
    lines = [
        f"d = {run.d}, {heads}, {run.dtype}, {'causal' if run.causal else 'not causal'}. "
        f"{machine.name_of(run.device)}: {run.peak.flops / 1e12:.3g} TFLOP/s in a matrix product, "
        f"{run.peak.bandwidth / 1e9:.3g} GB/s in a copy, both measured now.",
        "",
        f"{'N':>7} {'way':10} {'time':>9} {'± half':>9} {'extra memory':>13} "
        f"{'of roofline':>12} {'of fastest peer':>16}",
    ]
    stopped: set[str] = set()
    for row in run.rows:
        if row.name not in stopped:  # the longer ones of its rows say the same
            lines.append(_line(run, row))
        stopped |= {row.name} if row.skipped else set()
    lines += ["", *_powers(run.rows), *_ratio(run)]
    return "\n".join(line.rstrip() for line in lines)


def _line(run: Run, row: Row) -> str:
    start = f"{row.n:7,} {row.name:10}"
    if row.seconds is None or row.spread is None or row.bytes is None:
        return f"{start} not measured from here on: {row.skipped}"
    peer = run.of_fastest_peer(row)
    return (
        f"{start} {in_seconds(row.seconds):>9} {in_seconds(row.spread / 2):>9} "
        f"{in_bytes(row.bytes):>13} {run.of_roofline(row):12.1%} "
        f"{'–' if peer is None else f'{peer:.0%}':>16}"
    )


def _powers(rows: Sequence[Row]) -> Iterator[str]:
    """'naive: time grows as N^2.1, extra memory as N^2.00'."""
    for name in dict.fromkeys(row.name for row in rows):
        if len([row for row in rows if row.name == name and not row.skipped]) > 1:
            time, held = power(rows, name, "seconds"), power(rows, name, "bytes")
            yield f"{name:10} time grows {_as(time)}, extra memory {_as(held)}"


def _as(power: str) -> str:
    return f"as {power}" if power else "unevenly"


def _ratio(run: Run) -> Iterator[str]:
    """How tiles compare with all scores at once at the longest length that both did, and why."""
    times = {(row.name, row.n): row.seconds for row in run.rows if row.seconds}
    both = [n for name, n in times if name == "tiled" and ("naive", n) in times]
    if not both:
        return
    n = max(both)
    ratio = times["tiled", n] / times["naive", n]
    held = in_bytes(score_bytes(n, run.heads, SIZES[run.dtype]))
    tile, tiles = run.heads * BLOCK**2 * SIZES[run.dtype], (n // BLOCK) ** 2
    if ratio < 1:
        why = (
            f"the {in_bytes(tile)} of a tile's scores stay in a cache, and naive writes {held} of "
            "scores to memory and reads them again, at each step from the product to the weights."
        )
    else:
        why = (
            f"the products are the same, and Python starts the small operations of {tiles:,} tiles "
            f"one by one, more than naive's trips to memory for {held} of scores cost here."
        )
    yield f"tiled takes {ratio:.2f} times as long as naive at N = {n:,}: {why}"


def document(runs: Iterable[Run], command: str) -> dict[str, Any]:
    """All that was measured, with what someone needs to know to believe it or to do it again."""
    runs = list(runs)
    device = runs[0].device
    return {
        "device": machine.name_of(device),
        "driver": machine.driver(device),
        "versions": machine.versions(),
        "date": datetime.now(UTC).date().isoformat(),
        "command": command,
        "runs": [
            asdict(run) | {"peak": run.peak._asdict(), "rows": [row._asdict() for row in run.rows]}
            for run in runs
        ],
    }


def as_json(found: Mapping[str, Any]) -> bytes:
    return (json.dumps(found, indent=1, ensure_ascii=False) + "\n").encode()


def record(found: Mapping[str, Any]) -> Path:
    """Keep a document beside lesson 13, under the device's name and the day; where it is."""
    device = re.sub(r"[^a-z0-9]+", "-", found["device"].lower()).strip("-")
    path = RECORDED / f"{device}-{found['date']}.json"
    write_whole(path, as_json(found))
    return path
