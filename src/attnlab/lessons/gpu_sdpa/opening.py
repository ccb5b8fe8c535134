"""Lesson 13 opens with where the scores are: one attention, by two ways, on one GPU.

Each way has a lane. Attend's scores go to memory and come back, all of them, three times; those of
PyTorch's call stay on the chip, a tile at a time. Below is the time that each took. Times and bytes
are the newest that are recorded beside the lesson, those of its longest text; both ways compute in
float16. What attend took is shared out alike among its trips, each of which moves as much.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from attnlab.figures.live.film import Film, Frame
from attnlab.figures.live.parts import INK, SMALL, Part, Place, area, box, line, word
from attnlab.figures.palette import BLUE, GREY, ORANGE
from attnlab.lessons.gpu_sdpa.kept import recorded

WAYS = {  # as recorded, and the lines of words by which they are shown: those in bold first
    "naive": (("attend",), ("line by", "line")),
    "sdpa": (("PyTorch's", "call"), ()),
}
WIDTH = 128  # of a head
SCORE = 2  # bytes of a score in float16
PASSES = (
    "scores",
    "scaled scores",
    "weights",
)  # that `bench.ways.naive` writes and reads back, each
TRIPS = (  # of all of them, to memory or back
    "attend sends them to memory. PyTorch's call keeps a tile on the chip.",
    "attend reads all scores back, to scale them.",
    "It writes them again, scaled.",
    "It reads them back, for the softmax.",
    "It writes the weights, which are as many.",
    "It reads them back, for the mix.",
)

HIGH, HEADS, LEFT = 269, 13, 6  # of the sheet; line of the words over both lanes; of lanes' names
TOPS, SIDE = {"naive": 20, "sdpa": 151}, 86  # tops of lanes; sides of memory and chip
MEMORY, CHIP = 104, 390  # their left sides
CELLS, SHADES = 6, (1, 0.5, 0.75)  # tiles along a side; shades of tiles that come one by one
PIN, PINS = 5, 4  # of a chip
STREAM, DASHES, PITCH = 28, "14 5", 19  # of scores on their way: thickness and tiles
GONE = 4  # tiles that pass in a trip
HEAD = 16  # of the arrow that they go along
ROAD = MEMORY + SIDE + 2, CHIP + PIN - 2  # from edge to edge: ten tiles and a head
DIM = 0.6  # of a lane that is done, while the other one goes on
BAR, LONGEST, BELOW = 22, 284, 5  # of bars: thickness, the longest, way from the lane
Rows = dict[str, dict[str, Any]]


class Moment(NamedTuple):
    """What is drawn at one time.

    Attributes:
        now: seconds since both began.
        trip: how often all scores have gone to memory or come back; half, while they go.
        tile: how many tiles the call has had; None when it is done.
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
        f"{_gone(1)} of scores: {rows['naive']['n']:,}² × {_run()['heads']} heads × {SCORE} bytes."
        " Watch where they go.",
        TRIPS[0],
        f"After {_ms(fast)} PyTorch's call is done: no score has left the chip.",
        *TRIPS[1:],
    ]
    moments += [Moment(_until(trip), trip) for trip in range(2, many + 1)]
    frames = [Frame(_parts(each, rows), says) for each, says in zip(moments, told, strict=True)]
    parts = [*_parts(moments[-1], rows, ended=True), *_takes(slow), *_faster(slow, fast)]
    says = f"The same attention: {_ms(slow)} if scores travel, {_ms(fast)} if they stay."
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


def _until(trip: float) -> float:
    """Seconds until so many trips are over."""
    slow, fast = (longest()[way]["seconds"] for way in WAYS)
    return float(fast + (slow - fast) * (trip - 1) / (len(TRIPS) - 1)) if trip else 0


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
    for way in WAYS:
        top = TOPS[way]
        took = rows[way]["seconds"]
        long = _long(min(moment.now, took))
        y = top + SIDE + BELOW
        pale = 0.1 if ended and way == "naive" else 0.35  # under what comes over it
        lane = [
            *_name(way, top + middle + 7),
            word(f"time {way}", LEFT, y + 17, "time", GREY, "start", SMALL),
            *_memory(way, top, min(moment.trip, 1) if way == "naive" else 0),
            *_chip(way, top, moment, ended),
            box(f"bar {way}", (MEMORY, y), (long, BAR), ORANGE, pale, 2),
            *(_road(moment, ended) if way == "naive" else _stays(moment)),
        ]
        if moment.now >= took:
            x = MEMORY + long + 10
            lane.append(word(f"took {way}", x, y + 20, _ms(took), ORANGE, "start", 24, 700))
        parts += lane if ended or moment.now <= took else _dimmed(lane)
    return parts if ended else [*parts, *_passes(moment.trip)]


def _dimmed(lane: list[Part]) -> list[Part]:
    return [
        part._replace(look={**part.look, "opacity": DIM * float(part.look["opacity"])})
        for part in lane
    ]


def _long(seconds: float) -> float:
    """Of a bar."""
    return max(LONGEST * seconds / longest()["naive"]["seconds"], 2)


def _name(way: str, y: float) -> list[Part]:
    """Of a lane, its lines around y."""
    bold, light = WAYS[way]
    lines, up = [*bold, *light], 11
    return [
        word(
            f"name {way} {n}",
            LEFT,
            y + up * (2 * n + 1 - len(lines)),
            each,
            INK if n < len(bold) else GREY,
            "start",
            SMALL,
            700 if n < len(bold) else 400,
        )
        for n, each in enumerate(lines)
    ]


def _passes(trips: float) -> list[Part]:
    """The passes that are over, in attend's bar: what went to memory and came back, in order."""
    y, parts = TOPS["naive"] + SIDE + BELOW, []
    for n, name in enumerate(PASSES, 1):
        left, right = (MEMORY + _long(_until(trip)) * (trip > 0) for trip in (2 * n - 2, 2 * n))
        if trips >= 2 * n:
            x, says = (left + right) / 2, name.split()[0]
            parts.append(word(f"pass {n}", x, y + 17, says, size=SMALL, weight=500))
            if n < len(PASSES):
                parts.append(line(f"cut {n}", [(right, y), (right, y + BAR)], ORANGE, 3))
    return parts


def _memory(way: str, top: float, full: float) -> list[Part]:
    """All scores, where they are kept, or the place that they would take."""
    return [
        box(f"memory {way}", (MEMORY, top), (SIDE, SIDE), GREY, 0.12, 2),
        box(f"all {way}", (MEMORY + 4, top + 4), (SIDE - 8, full * (SIDE - 8)), BLUE, 0.8),
        *_grid(f"kept {way}", (MEMORY + 4, top + 4), SIDE - 8),
    ]


def _chip(way: str, top: float, moment: Moment, ended: bool) -> list[Part]:
    """What computes, with the one tile of scores that it has, as large as those in memory."""
    legs = [CHIP + SIDE * (n + 1) / (PINS + 1) for n in range(PINS)]
    ends = ((top, top + PIN), (top + SIDE - PIN, top + SIDE))
    side, middle = SIDE - 2 * PIN, CHIP + SIDE / 2
    parts = [
        line(f"pin {way} {n} {m}", [(x, start), (x, end)], GREY, 4)
        for n, x in enumerate(legs)
        for m, (start, end) in enumerate(ends)
    ]
    parts.append(box(f"chip {way}", (CHIP + PIN, top + PIN), (side, side), GREY, 0.12, 2))
    at = moment.tile if way == "sdpa" else round(2 * moment.trip)
    if at is not None and not ended:
        cell = (SIDE - 8) / CELLS
        corner, shade = (middle - cell / 2, top + SIDE / 2 - cell - 3), SHADES[at % len(SHADES)]
        parts += [
            box(f"tile {way}", corner, (cell, cell), BLUE, shade, 1),
            word(f"name of tile {way}", middle, top + SIDE / 2 + 18, "a tile", BLUE, size=SMALL),
        ]
    return parts


def _road(moment: Moment, ended: bool) -> list[Part]:
    """Attend's scores on their way, and how many have gone."""
    y, (start, end) = TOPS["naive"] + SIDE / 2, ROAD
    middle, trip = (start + end) / 2, moment.trip
    if not trip:
        return [line("road", [(start, y), (end, y)], GREY, 3, dashes="1 7")]
    writes = trip % 2 > 0
    ends = start + HEAD * (writes or ended), end - HEAD * (not writes)
    tiles = line("stream", [(x, y) for x in ends], BLUE, STREAM, dashes=DASHES)
    heads = [
        area(f"to {place}", [(tip, y), (back, y - HEAD), (back, y + HEAD)], BLUE)
        for place, tip, back, seen in (
            ("memory", start, start + HEAD, writes or ended),
            ("chip", end, end - HEAD, not writes),
        )
        if seen
    ]
    passed = GONE * PITCH * (1 - abs(1 - trip % 2))
    moves: dict[str, float | str] = {"stroke-linecap": "butt", "stroke-dashoffset": passed}
    name = PASSES[math.ceil(trip / 2) - 1]
    way = f"← write {name}" if writes else f"read {name} →"
    moved = f"{_gone(trip)} moved"
    if ended:
        way, moved = f"{len(PASSES)} × there and back", f"{trip:g} × {_gone(1)} = {_gone(trip)}"
    return [
        tiles._replace(look={**tiles.look, **moves}),
        *heads,
        word("way", middle, y - 21, way, BLUE, size=SMALL, weight=700),
        word("gone", middle, y + 33, moved, BLUE, size=SMALL, weight=700),
    ]


def _stays(moment: Moment) -> list[Part]:
    """Nothing of the call's scores is on the way."""
    y, (start, end) = TOPS["sdpa"] + SIDE / 2, ROAD
    parts = [line("no road", [(start, y), (end, y)], GREY, 3, dashes="1 7")]
    if moment.tile is None:
        x = (start + end) / 2
        parts.append(word("none", x, y - 12, "no scores moved", BLUE, size=SMALL, weight=700))
    return parts


def _takes(slow: float) -> list[Part]:
    """In attend's bar, how much of it is the trips of its scores, at the memory's speed."""
    y, long = TOPS["naive"] + SIDE + BELOW, LONGEST * moving() / slow
    says = f"moving {_gone(len(TRIPS))} of scores"
    return [
        box("moved so long", (MEMORY, y), (long, BAR), BLUE, 0.25, 3),
        word("moved", MEMORY + long / 2, y + 17, says, size=SMALL, weight=700),
    ]


def _faster(slow: float, fast: float) -> list[Part]:
    """At the end of the call's time; and under its road, what goes there at all."""
    x, y = CHIP + SIDE, TOPS["sdpa"] + SIDE + BELOW + 24
    says = "only Q, K, V, output"
    return [
        word("faster", x, y, f"{slow / fast:.0f}× as fast", ORANGE, "end", 30, 700),
        word("only", sum(ROAD) / 2, TOPS["sdpa"] + SIDE / 2 + 24, says, GREY, size=SMALL),
    ]


def _gone(trip: float) -> str:
    return f"{trip * scores_in_bytes() / 1e9:.2g} GB"


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
