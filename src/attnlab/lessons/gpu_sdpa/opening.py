"""Lesson 13 opens with what it costs to hold all scores: the same operations, by two ways.

A bar is the time of a way, and stays. Below is where the scores are: in memory, to which all of
them go and from which they come back, or on the chip, a tile at a time. Times and bytes are the
newest that are recorded beside the lesson, those of its longest text; both ways compute in float16.
"""

from __future__ import annotations

from typing import Any

from attnlab.figures.live.film import Film, Frame
from attnlab.figures.live.parts import INK, SMALL, Part, box, dot, line, word
from attnlab.figures.palette import BLUE, GREY, ORANGE
from attnlab.lessons.gpu_sdpa.kept import recorded

WAYS = {"naive": "attend", "sdpa": "the call"}  # as recorded, and as they are shown
WIDTH = 128  # of a head
SCORE = 2  # bytes of a score in float16
TRIPS = (  # of all scores, there and back, as `bench.ways.naive` is written
    "attend writes all scores to memory, and reads them to scale them.",
    "It writes them scaled, and reads them for the softmax.",
    "It writes the weights, and reads them for the mix.",
)

HIGH, LOW = 268, 260  # of the sheet; of the lines under the pictures
START, LONGEST = 100, 298  # of bars: their left, and the longest
LANES, THICK = (38, 101), 22  # middles of bars
ALL, SIDE = (24, 142), 94  # the scores in memory: their corner and side
CHIPS, RADIUS = ((206, 189), (390, 189)), 47  # of both ways: their middles, and their radius
CELLS = 8  # tiles along a side
PALE = 0.35  # scores that stay where they are, beside those on their way
TRAIN = 4  # tiles that are seen on their way
Rows = dict[str, dict[str, Any]]


def opening() -> Film:
    """The film."""
    newest, rows = recorded()[0], longest()
    slow, fast = (rows[way]["seconds"] for way in WAYS)
    frames = [
        Frame(
            _parts(0, 0, rows),
            f"The lesson's attend and PyTorch's call do the same operations, which take "
            f"{_ms(alone())} at the speed of large matrix products.",
        ),
        Frame(
            _parts(fast, 0, rows),
            f"PyTorch's call is done after {_ms(fast)}. Its scores stay on the chip, a tile at a "
            "time.",
        ),
    ]
    for trip in range(1, 2 * len(TRIPS) + 1):
        now = alone() + (slow - alone()) * trip / (2 * len(TRIPS))
        frames.append(Frame(_parts(now, trip, rows), TRIPS[(trip - 1) // 2]))
    frames.append(
        Frame(
            _parts(slow, 2 * len(TRIPS), rows, f": about {1000 * moving():.1f} ms"),
            f"attend takes {_ms(slow)}. Most of it goes into moving {_gone(2 * len(TRIPS))} of "
            "scores.",
        )
    )
    device = " ".join(newest["device"].split()[:2])
    return Film(
        f"One attention, two ways: {rows['naive']['n']:,} tokens on an {device}", frames, HIGH
    )


def longest() -> Rows:
    """What was measured with the longest text, by the name of a way."""
    rows = _run()["rows"]
    n = max(row["n"] for row in rows)
    return {row["name"]: row for row in rows if row["n"] == n}


def alone() -> float:
    """Seconds that the operations of both products take at the measured speed of such products."""
    run, n = _run(), longest()["naive"]["n"]
    return float(4 * n * n * run["d"] * run["heads"] / run["peak"]["flops"])


def scores_in_bytes() -> int:
    """Of all heads' scores, once."""
    return int(longest()["naive"]["n"] ** 2 * _run()["heads"] * SCORE)


def moving() -> float:
    """Seconds that all trips of the scores take at the measured speed of the memory."""
    return float(2 * len(TRIPS) * scores_in_bytes() / _run()["peak"]["bandwidth"])


def _run() -> dict[str, Any]:
    runs: list[dict[str, Any]] = recorded()[0]["runs"]
    [run] = [each for each in runs if each["d"] == WIDTH and not each["causal"]]
    return run


def _parts(now: float, trip: int, rows: Rows, took: str = "") -> list[Part]:
    slow = rows["naive"]["seconds"]
    floor = START + LONGEST * alone() / slow
    parts = [
        word(
            "alone", floor + 8, 19, f"{_ms(alone())} for the operations alone", INK, "start", SMALL
        ),
    ]
    for (way, name), y in zip(WAYS.items(), LANES, strict=True):
        seconds = min(now, rows[way]["seconds"])
        long = max(LONGEST * seconds / slow, 2)
        parts += [
            box(f"bar {way}", (START, y - THICK / 2), (long, THICK), ORANGE),
            word(f"name {way}", 6, y + 7, name, anchor="start", weight=600),
            word(
                f"time {way}",
                max(START + long, floor) + 8,
                y + 7,
                _ms(seconds),
                ORANGE if seconds < rows[way]["seconds"] else INK,
                "start",
                weight=600,
            ),
        ]
    parts.append(
        line("floor", [(floor, 8), (floor, LANES[-1] + THICK / 2 + 4)], INK, 2.5, dashes="5 4")
    )
    return [
        *parts,
        *_moved(now, trip, took),
        *_memory(trip),
        *_chip(now, rows),
        *_held(now, trip, rows),
    ]


def _moved(now: float, trip: int, took: str) -> list[Part]:
    """What the trips so far have moved, under the part of attend's bar that they take."""
    if not trip:
        return []
    slow, y = longest()["naive"]["seconds"], LANES[0] + THICK / 2 + 4
    left = START + LONGEST * alone() / slow + 3
    right = START + LONGEST * now / slow - 1.5
    bracket = [(left, y), (left, y + 7), (right, y + 7), (right, y)]
    text = f"{_gone(trip)} moved{took}"
    return [
        line("moving", bracket, BLUE, 3),
        word("moved", left + 5, y + 25, text, BLUE, "start", SMALL),
    ]


def _gone(trip: int) -> str:
    return f"{trip * scores_in_bytes() / 1e9:.0f} GB"


def _memory(trip: int) -> list[Part]:
    """All scores in memory, on their way to the chip or back."""
    (left, top), (x, y) = ALL, CHIPS[0]
    out, cell = trip % 2, SIDE / CELLS
    here, there = x - TRAIN * cell / 2, left + SIDE - TRAIN * cell
    parts = [
        word("memory", left + SIDE / 2, top - 8, "memory", size=SMALL),
        word("chip", x, top - 8, "chip", size=SMALL),
        box("board", ALL, (SIDE, SIDE), GREY, 0.15),
        box("all", ALL, (SIDE, SIDE), BLUE, PALE if trip else 0),
        *_grid("many", ALL, cell),
        line("way", [(left + SIDE, y), (x - RADIUS, y)], GREY, 3),
        dot("chip of attend", x, y, RADIUS, GREY, 0.25),
    ]
    return [
        *parts,
        *(
            box(
                f"train {n}",
                ((there if out else here) + n * cell, y - cell / 2),
                (cell, cell),
                BLUE,
                edge=1,
            )
            for n in range(TRAIN)
        ),
    ]


def _chip(now: float, rows: Rows) -> list[Part]:
    """A tile of scores on the chip, which is another one each time until the call is done."""
    (x, y), cell = CHIPS[1], 1.4 * RADIUS / CELLS
    left, top = x - CELLS * cell / 2, y - CELLS * cell / 2
    row, column = (CELLS - 1, CELLS - 1) if now >= rows["sdpa"]["seconds"] else (0, 0)
    return [
        word("other chip", x, ALL[1] - 8, "chip", size=SMALL),
        dot("chip of the call", x, y, RADIUS, GREY, 0.25),
        *_grid("few", (left, top), cell),
        box("tile", (left + column * cell, top + row * cell), (cell, cell), BLUE),
    ]


def _held(now: float, trip: int, rows: Rows) -> list[Part]:
    """How much memory a way that has its scores, or its answer, holds at most beside its inputs."""
    shown = {"naive": trip > 0, "sdpa": now >= rows["sdpa"]["seconds"]}
    places = ((ALL[0] + CHIPS[0][0] + RADIUS) / 2, CHIPS[1][0] - 10)
    sizes = {way: f": {rows[way]['bytes'] / 1e9:.2g} GB" for way in WAYS if shown[way]}
    return [
        word(f"held {way}", x, LOW, f"{name}{sizes.get(way, '')}", size=SMALL)
        for (way, name), x in zip(WAYS.items(), places, strict=True)
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


def _ms(seconds: float) -> str:
    return f"{1000 * seconds:.2g} ms"
