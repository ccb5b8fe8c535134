"""Lesson 13 opens with where the scores are: the same operations, by two ways, on one GPU.

Each way has a lane. Attend's scores go to memory and come back, all of them, for each step; the
call's stay on the chip, a tile at a time. Below is the time that each took. Times and bytes are the
newest that are recorded beside the lesson, those of its longest text; both ways compute in float16.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from attnlab.figures.live.film import Film, Frame
from attnlab.figures.live.parts import SMALL, Part, Place, box, line, word
from attnlab.figures.palette import BLUE, GREY, ORANGE
from attnlab.lessons.gpu_sdpa.kept import recorded

WAYS = {"naive": "attend", "sdpa": "the call"}  # as recorded, and as they are shown
WIDTH = 128  # of a head
SCORE = 2  # bytes of a score in float16
TRIPS = (  # of all scores, to memory or back, as `bench.ways.naive` is written
    "attend writes all scores to memory. PyTorch's call keeps a tile of them on the chip.",
    "attend reads all scores back, to scale them.",
    "It writes all of them again, scaled.",
    "It reads all of them back, for the softmax.",
    "It writes all weights.",
    "It reads all weights back, for the mix.",
)

HIGH, HEADS, LEFT = 268, 16, 6  # of the sheet; line of the words over both lanes; of lanes' names
TOPS, SIDE = {"naive": 26, "sdpa": 164}, 68  # tops of lanes; sides of memory and chip
MEMORY, CHIP = 104, 406  # their left sides
CELLS, TILES = 6, {0: (0, 0), 1: (3, 2), 2: (5, 5)}  # tiles along a side; which one is worked on
PIN, PINS = 6, 4  # of a chip
STREAM, DASHES, PITCH = 26, "15 5", 20  # of scores on their way: thickness and tiles
GONE = 5  # tiles that pass in a frame
BAR, LONGEST, BELOW = 18, 284, 9  # of bars: thickness, the longest, way from the lane
Rows = dict[str, dict[str, Any]]


class Moment(NamedTuple):
    """What is drawn at one time.

    Attributes:
        now: seconds since both began.
        trip: how often all scores have gone to memory or come back; half, while they go.
        tile: which tile the call works on; None when it is done.
    """

    now: float
    trip: float
    tile: int | None = None


def opening() -> Film:
    """The film."""
    newest, rows = recorded()[0], longest()
    slow, fast = (rows[way]["seconds"] for way in WAYS)
    many = len(TRIPS)
    moments = [Moment(0, 0, 0), Moment(0.6 * fast, 0.5, 1), Moment(fast, 1)]
    told = [
        "The same operations on the same chip. What differs is where the scores are kept.",
        TRIPS[0],
        f"After {_ms(fast)} the call is done. None of its scores have left the chip.",
        *TRIPS[1:],
    ]
    for trip in range(2, many + 1):
        moments.append(Moment(fast + (slow - fast) * (trip - 1) / (many - 1), trip))
    frames = [Frame(_parts(each, rows), says) for each, says in zip(moments, told, strict=True)]
    parts = [*_parts(moments[-1], rows, ended=True), *_takes()]
    says = f"The same operations: {_ms(slow)} if scores travel, {_ms(fast)} if they stay."
    frames.append(Frame(parts, says))
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
    return float(len(TRIPS) * scores_in_bytes() / _run()["peak"]["bandwidth"])


def _run() -> dict[str, Any]:
    runs: list[dict[str, Any]] = recorded()[0]["runs"]
    [run] = [each for each in runs if each["d"] == WIDTH and not each["causal"]]
    return run


def _parts(moment: Moment, rows: Rows, ended: bool = False) -> list[Part]:
    middle = SIDE / 2
    parts = [
        word("memory", MEMORY + middle, HEADS, "memory", size=SMALL),
        word("chip", CHIP + middle, HEADS, "chip", size=SMALL),
    ]
    for way, name in WAYS.items():
        top = TOPS[way]
        took = rows[way]["seconds"]
        done = moment.now >= took
        long = max(LONGEST * min(moment.now, took) / rows["naive"]["seconds"], 2)
        y = top + SIDE + BELOW
        parts += [
            word(f"name {way}", LEFT, top + middle + 7, name, anchor="start", weight=700),
            word(f"time {way}", LEFT, y + 15, "time", GREY, "start", SMALL),
            *_memory(way, top, min(moment.trip, 1) if way == "naive" else 0),
            *_chip(way, top, moment),
            box(f"bar {way}", (MEMORY, y), (long, BAR), ORANGE),
        ]
        if done:
            x = MEMORY + long + 10
            parts.append(word(f"took {way}", x, y + 17, _ms(took), ORANGE, "start", 24, 700))
    return [*parts, *_road(moment, ended), *_stays(moment)]


def _memory(way: str, top: float, full: float) -> list[Part]:
    """All scores, where they are kept, or the place that they would take."""
    return [
        box(f"memory {way}", (MEMORY, top), (SIDE, SIDE), GREY, 0.12, 2),
        box(f"all {way}", (MEMORY + 4, top + 4), (SIDE - 8, full * (SIDE - 8)), BLUE, 0.8),
        *_grid(f"kept {way}", (MEMORY + 4, top + 4), SIDE - 8),
    ]


def _chip(way: str, top: float, moment: Moment) -> list[Part]:
    """What computes, with the tile of scores that it has."""
    legs = [CHIP + SIDE * (n + 1) / (PINS + 1) for n in range(PINS)]
    ends = ((top, top + PIN), (top + SIDE - PIN, top + SIDE))
    side = SIDE - 2 * PIN
    left, up, inside = CHIP + PIN, top + PIN, side - 8
    cell = inside / CELLS
    at = moment.tile if way == "sdpa" else round(2 * moment.trip) % len(TILES)
    parts = [
        line(f"pin {way} {n} {m}", [(x, start), (x, end)], GREY, 4)
        for n, x in enumerate(legs)
        for m, (start, end) in enumerate(ends)
    ]
    parts += [
        box(f"chip {way}", (left, up), (side, side), GREY, 0.12, 2),
        *_grid(f"pass {way}", (left + 4, up + 4), inside),
    ]
    if at is not None:
        row, column = TILES[at]
        corner = (left + 4 + column * cell, up + 4 + row * cell)
        parts.append(box(f"tile {way}", corner, (cell, cell), BLUE))
    return parts


def _road(moment: Moment, ended: bool) -> list[Part]:
    """Attend's scores on their way, and how many have gone."""
    y, start, end = TOPS["naive"] + SIDE / 2, MEMORY + SIDE + 4, CHIP + PIN - 4
    middle, trip = (start + end) / 2, moment.trip
    if not trip:
        return [line("road", [(start, y), (end, y)], GREY, 3, dashes="1 7")]
    writes = trip % 2 > 0
    tiles = line("stream", [(start, y), (end, y)], BLUE, STREAM, dashes=DASHES)
    passed = GONE * PITCH * (1 - abs(1 - trip % 2))
    moves: dict[str, float | str] = {"stroke-linecap": "butt", "stroke-dashoffset": passed}
    way = "← write all scores" if writes else "read all scores →"
    if ended:
        way = f"{len(TRIPS) // 2} × there and back"
    return [
        tiles._replace(look={**tiles.look, **moves}),
        word("way", middle, y - 21, way, BLUE, size=SMALL, weight=700),
        word("gone", middle, y + 33, f"{_gone(trip)} moved", BLUE, size=SMALL, weight=700),
    ]


def _stays(moment: Moment) -> list[Part]:
    """Nothing of the call's scores is on the way."""
    y, start, end = TOPS["sdpa"] + SIDE / 2, MEMORY + SIDE + 4, CHIP + PIN - 4
    parts = [line("no road", [(start, y), (end, y)], GREY, 3, dashes="1 7")]
    if moment.tile is None:
        x = (start + end) / 2
        parts.append(word("none", x, y - 12, "no scores moved", BLUE, size=SMALL, weight=700))
    return parts


def _takes() -> list[Part]:
    """Under attend's bar, how long the trips of its scores take at the memory's speed."""
    slow = longest()["naive"]["seconds"]
    y, right = TOPS["naive"] + SIDE + BELOW + BAR + 4, MEMORY + LONGEST
    left = right - LONGEST * moving() / slow
    text = f"{1000 * moving():.1f} ms to move {_gone(len(TRIPS))}"
    return [
        line("moving", [(left, y), (left, y + 5), (right, y + 5), (right, y)], BLUE, 3),
        word("moved", (left + right) / 2, y + 23, text, BLUE, size=SMALL),
    ]


def _gone(trip: float) -> str:
    return f"{trip * scores_in_bytes() / 1e9:.0f} GB"


def _grid(key: str, corner: Place, side: float) -> list[Part]:
    (left, top), parts = corner, []
    for n in range(1, CELLS):
        by = side * n / CELLS
        parts += [
            line(f"{key} across {n}", [(left, top + by), (left + side, top + by)], GREY, 1, 0.6),
            line(f"{key} down {n}", [(left + by, top), (left + by, top + side)], GREY, 1, 0.6),
        ]
    return parts


def _ms(seconds: float) -> str:
    return f"{1000 * seconds:.2g} ms"
