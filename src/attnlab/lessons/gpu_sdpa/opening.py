"""Lesson 13 opens with one call in four kernels: as many operations in each, and not as many bytes.

A bar is a kernel's time, and stays. Under them is how many scores there are at once. Times and
bytes are the newest that are recorded beside the lesson, those of its longest text.
"""

from __future__ import annotations

from typing import Any

from attnlab.figures.live.film import Film, Frame
from attnlab.figures.live.parts import CODE, INK, SMALL, Part, box, dot, line, word
from attnlab.figures.palette import BLUE, GREY, ORANGE
from attnlab.lessons.gpu_sdpa.kept import recorded

KERNELS = {"math": "math", "efficient": "efficient", "flash": "flash", "cudnn": "cuDNN"}
CALL = "F.scaled_dot_product_attention(q, k, v)"
WIDTH = 128  # of a head

HIGH, HELD = 268, (236, 262)  # of the sheet; of the two lines under the pictures
START, LONGEST = 100, 292  # of bars: their left, and the longest
LANES, THICK = (74, 124, 161, 198), 22  # middles of bars
LENS, RADIUS = (290, 161), 57  # what most kernels have in fast memory, and its radius
ALL, SIDE = (364, 110), 102  # what math has: its corner and side
CELLS = 8  # tiles along a side, in both
Rows = dict[str, dict[str, Any]]


def opening() -> Film:
    """The film."""
    newest = recorded()[0]
    [run] = [each for each in newest["runs"] if each["d"] == WIDTH and not each["causal"]]
    n = max(row["n"] for row in run["rows"])
    rows = {row["name"]: row for row in run["rows"] if row["n"] == n}
    count = operations(n, run)
    alone = count / run["peak"]["flops"]
    ends = sorted((rows[kernel]["seconds"], kernel) for kernel in KERNELS)
    before, last = ends[-2][0], ends[-1][0]
    on = [before + (last - before) * share for share in (0.25, 0.5, 0.75)]
    times = sorted([0.0, *on, *(seconds for seconds, _ in ends)])
    tiled = times.index(before)  # until then a tile moves
    frames = [
        Frame(_parts(min(at, tiled), t, count, rows), _told(t, ends, alone, rows))
        for at, t in enumerate(times)
    ]
    device = " ".join(newest["device"].split()[:2])
    return Film(f"One call, four kernels: {n:,} tokens on an {device}", frames, HIGH)


def operations(n: int, run: dict[str, Any]) -> int:
    """Of both products, for all heads."""
    return 4 * n * n * int(run["d"]) * int(run["heads"])


def _told(now: float, ends: list[tuple[float, str]], alone: float, rows: Rows) -> str:
    if not now:
        return "PyTorch has four kernels for one call, and all do the same operations. They start."
    done = [kernel for seconds, kernel in ends if seconds <= now]
    (fast, first), (slow, slowest) = ends[0], ends[-1]
    if len(done) == len(ends):
        times, more = slow / fast, rows[slowest]["bytes"] / rows[first]["bytes"]
        far = f"{times:.0f} times the time and {more:.0f} times the bytes of {_called(first)}"
        return f"{_called(slowest)} is done: {far}."
    kernel = done[-1]
    if rows[kernel]["seconds"] == now:
        end = f"{_called(kernel)} is done after {_ms(now)}."
        if kernel == first:
            return f"{end} It works tile by tile in fast memory, and never has all scores."
        few = "These three hold little more than the answers."
        return f"{end} {few}" if kernel == ends[-2][1] else end
    if now < (ends[-2][0] + slow) / 2:
        return f"{_called(slowest)} makes all scores, keeps them in memory, and reads them again."
    return f"The operations alone take {_ms(alone)}, at the speed of large matrix products."


def _parts(tile: int, now: float, count: int, rows: Rows) -> list[Part]:
    most = max(rows[kernel]["seconds"] for kernel in KERNELS)
    many = f"{count / 1e9:,.0f} billion operations in each"
    parts = [
        word("call", 6, 20, CALL, anchor="start", size=SMALL, face=CODE),
        word("operations", 6, 47, many, anchor="start", size=SMALL),
        *_fast(tile, rows),
        *_all(rows),
    ]
    for (kernel, name), y in zip(KERNELS.items(), LANES, strict=True):
        seconds = min(now, rows[kernel]["seconds"])
        long = max(LONGEST * seconds / most, 2)
        colour = INK if rows[kernel]["seconds"] <= now else ORANGE
        parts += [
            box(f"bar {name}", (START, y - THICK / 2), (long, THICK), ORANGE),
            word(f"name {name}", 6, y + 6, name, anchor="start", size=SMALL, weight=600),
            word(
                f"time {name}", START + long + 8, y + 6, _ms(seconds), colour, "start", SMALL, 600
            ),
        ]
    return parts


def _fast(tile: int, rows: Rows) -> list[Part]:
    """A lens on the three that work in tiles: there is one tile of all scores at a time."""
    (x, y), cell = LENS, 1.4 * RADIUS / CELLS
    left, top = x - CELLS * cell / 2, y - CELLS * cell / 2
    row, column = divmod(tile * 11 % CELLS**2, CELLS)
    low, high = LANES[1] - THICK / 2, LANES[-1] + THICK / 2
    bracket = [(212, low), (219, low), (219, high), (212, high)]
    held = max(rows[kernel]["bytes"] for kernel in KERNELS if kernel != "math")
    return [
        line("few from", bracket, GREY, 1.5),
        line("few to", [(219, y), (x - RADIUS, y)], GREY, 1.5),
        dot("lens", x, y, RADIUS, GREY, 0.22),
        *_grid("few", (left, top), cell),
        box("tile", (left + column * cell, top + row * cell), (cell, cell), BLUE),
        *_held("few", x, "few scores", held),
    ]


def _all(rows: Rows) -> list[Part]:
    """All scores, which are there at once."""
    (left, top), high = ALL, LANES[0] + THICK / 2 + 5
    x = left + SIDE / 2
    bracket = [(START, high), (START, high + 6), (left + SIDE, high + 6), (left + SIDE, high)]
    return [
        line("many from", bracket, GREY, 1.5),
        line("many to", [(x, high + 6), (x, top)], GREY, 1.5),
        box("all", ALL, (SIDE, SIDE), BLUE),
        *_grid("many", ALL, SIDE / CELLS),
        *_held("many", x, "all scores", rows["math"]["bytes"]),
    ]


def _held(key: str, x: float, what: str, held: float) -> list[Part]:
    """What of the scores is there at once, and how much a call holds at most."""
    size = f"{held / 1e9:.{1 if held < 1e9 else 2}g} GB"
    return [
        word(f"{key} is", x, HELD[0], what, BLUE, size=SMALL, weight=600),
        word(f"{key} holds", x, HELD[1], size, size=SMALL),
    ]


def _grid(key: str, corner: tuple[float, float], cell: float) -> list[Part]:
    (left, top), side = corner, cell * CELLS
    parts = []
    for n in range(CELLS + 1):
        along = n * cell
        parts += [
            line(f"{key} across {n}", [(left, top + along), (left + side, top + along)], GREY, 1),
            line(f"{key} down {n}", [(left + along, top), (left + along, top + side)], GREY, 1),
        ]
    return parts


def _called(kernel: str) -> str:
    return KERNELS[kernel] if kernel == "cudnn" else KERNELS[kernel].capitalize()


def _ms(seconds: float) -> str:
    return f"{1000 * seconds:.2g} ms"
