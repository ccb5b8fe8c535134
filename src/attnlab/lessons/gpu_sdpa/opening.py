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
from attnlab.figures.live.parts import SMALL, Part, Place, area, box, line, word
from attnlab.figures.palette import BLUE, GREY, ORANGE
from attnlab.lessons.gpu_sdpa.kept import recorded

WAYS = {"naive": "attend, step by step", "sdpa": "PyTorch's call, tile by tile"}  # as recorded
WIDTH = 128  # of a head
SCORE = 2  # bytes of a score in float16
TRIPS = 6  # of all scores, to memory or back, in `bench.ways.naive`
STEPS = {  # of it, by the trips before them, and what is told of one
    0: ("scores", "attend sends every score to memory. The call takes one tile at a time."),
    2: ("scale", "attend reads all scores back, only to scale them."),
    4: ("softmax", "Scaled, they go to memory and come back for the softmax."),
    6: ("mix", "The weights, as many again, go and come back for the mix."),
}
PASSES = ("scores", "scaled", "weights")  # that go to memory and come back
ON_TILE = ("scores", "softmax", "mix")

HIGH, LEFT = 269, 6  # of the sheet; of all that begins at the left
HEADS, TOPS = {"naive": 15, "sdpa": 152}, {"naive": 22, "sdpa": 160}  # of lanes: names, drawings
SIDE, CHIP, WIDE_CHIP = 76, 312, 162  # of memory, a square; where the chip begins, its width
CELLS, CELL = 6, 9  # tiles along a side; a tile on the chip
RUN = ((0, 0), (5, 1), (0, 3), (5, 5))  # tiles that a chip has, a third of a trip apart
PIN, PINS = 5, 8  # of a chip
STREAM, DASHES, PITCH = 28, "14 5", 19  # of scores on their way: thickness and tiles
GONE = 4  # tiles that pass in a trip
HEAD = 16  # of the arrow that they go along
ROAD = LEFT + SIDE + 2, CHIP - 2  # from edge to edge
DIM = 0.6  # of a lane that is done, while the other one goes on
BAR, LONGEST, BELOW = 22, 380, 5  # of bars: thickness, the longest, way from the lane
Rows = dict[str, dict[str, Any]]


class Moment(NamedTuple):
    """What is drawn at one time.

    Attributes:
        now: seconds since both began.
        trip: how often all scores have gone to memory or come back; half, while they go.
        tile: the call's, by its column and row; None when it is done.
    """

    now: float
    trip: float
    tile: tuple[int, int] | None = None


def opening() -> Film:
    """The film."""
    newest, rows = recorded()[0], longest()
    slow, fast = (rows[way]["seconds"] for way in WAYS)
    moments = [Moment(fast * n / 3, n / 3, tile) for n, tile in enumerate(RUN[:3])]
    moments += [Moment(fast, 1), *(Moment(_until(trip), trip) for trip in (2, 4, 6))]
    told = [
        f"{_gone(1)} of scores: {rows['naive']['n']:,}² × {_run()['heads']} heads × {SCORE} bytes."
        " Watch where they go.",
        STEPS[0][1],
        "Each tile is used at once, for its part of the mix, and dropped.",
        f"After {_ms(fast)} PyTorch's call is done: no score has left the chip.",
        *(STEPS[trip][1] for trip in (2, 4, 6)),
    ]
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
    return float(TRIPS * scores_in_bytes() / _run()["peak"]["bandwidth"])


def _until(trip: float) -> float:
    """Seconds until so many trips are over."""
    slow, fast = (longest()[way]["seconds"] for way in WAYS)
    return float(fast + (slow - fast) * (trip - 1) / (TRIPS - 1)) if trip else 0


def _run() -> dict[str, Any]:
    runs: list[dict[str, Any]] = recorded()[0]["runs"]
    [run] = [each for each in runs if each["d"] == WIDTH and not each["causal"]]
    return run


def _parts(moment: Moment, rows: Rows, ended: bool = False) -> list[Part]:
    parts = [
        word("memory", LEFT, HEADS["naive"], "memory", GREY, "start", SMALL),
        word("chip", CHIP + WIDE_CHIP, HEADS["naive"], "chip", GREY, "end", SMALL),
    ]
    for way, name in WAYS.items():
        top, took = TOPS[way], rows[way]["seconds"]
        long, y = _long(min(moment.now, took)), top + SIDE + BELOW
        done = moment.now >= took
        pale = 0.1 if ended and way == "naive" else 0.35  # under what comes over it
        says = [(_ms(took), 24, 700)] if done else [("time", SMALL, 400)] * (way == "naive")
        lane = [
            word(f"name {way}", sum(ROAD) / 2, HEADS[way], name, size=SMALL, weight=700),
            *_memory(way, top, min(moment.trip, 1) if way == "naive" else 0),
            *_chip(way, top, moment, ended),
            box(f"bar {way}", (LEFT, y), (long, BAR), ORANGE, pale, 2),
            *(_road(moment, ended) if way == "naive" else _stays(moment)),
            *(
                word(f"took {way}", LEFT + long + 10, y + 19, text, ORANGE, "start", size, weight)
                for text, size, weight in says
            ),
        ]
        parts += _dimmed(lane) if done and not ended and way == "sdpa" else lane
    return parts if ended else [*parts, *_passes(moment.trip)]


def _dimmed(lane: list[Part]) -> list[Part]:
    return [
        part._replace(look={**part.look, "opacity": DIM * float(part.look["opacity"])})
        for part in lane
    ]


def _long(seconds: float) -> float:
    """Of a bar."""
    return max(LONGEST * seconds / longest()["naive"]["seconds"], 2)


def _passes(trips: float) -> list[Part]:
    """The passes that are over, in attend's bar: what went to memory and came back, in order."""
    y, parts = TOPS["naive"] + SIDE + BELOW, []
    for n, name in enumerate(PASSES, 1):
        left, right = (LEFT + _long(_until(trip)) * (trip > 0) for trip in (2 * n - 2, 2 * n))
        if trips >= 2 * n:
            x = (left + right) / 2
            parts.append(word(f"pass {n}", x, y + 17, name, size=SMALL, weight=500))
            if n < len(PASSES):
                parts.append(line(f"cut {n}", [(right, y), (right, y + BAR)], ORANGE, 3))
    return parts


def _memory(way: str, top: float, full: float) -> list[Part]:
    """All scores, where they are kept, or the place that they would take."""
    return [
        box(f"memory {way}", (LEFT, top), (SIDE, SIDE), GREY, 0.12, 2),
        box(f"all {way}", (LEFT + 4, top + 4), (SIDE - 8, full * (SIDE - 8)), BLUE, 0.8),
        *_grid(f"kept {way}", (LEFT + 4, top + 4), SIDE - 8),
    ]


def _chip(way: str, top: float, moment: Moment, ended: bool) -> list[Part]:
    """What computes: attend one step on all scores, the call all steps on a tile of them."""
    legs = [CHIP + WIDE_CHIP * (n + 1) / (PINS + 1) for n in range(PINS)]
    ends = ((top, top + PIN), (top + SIDE - PIN, top + SIDE))
    corner, side = (CHIP + 12, top + (SIDE - CELLS * CELL) / 2), CELLS * CELL
    parts = [
        line(f"pin {way} {n} {m}", [(x, start), (x, end)], GREY, 4)
        for n, x in enumerate(legs)
        for m, (start, end) in enumerate(ends)
    ]
    parts.append(box(f"chip {way}", (CHIP, top + PIN), (WIDE_CHIP, SIDE - 2 * PIN), GREY, 0.12, 2))
    parts += _grid(f"on chip {way}", corner, side, edged=True)
    tile = moment.tile
    if way == "naive":
        step, _ = STEPS[2 * math.floor(moment.trip / 2)]
        tile = RUN[round(3 * moment.trip) % len(RUN)]
        says = ["one step", "per trip"] if ended else [step]
    else:
        says = ["all steps", "per tile"] if ended else [*ON_TILE]
    if tile is not None and not ended:
        at = corner[0] + tile[0] * CELL, corner[1] + tile[1] * CELL
        parts.append(box(f"tile {way}", at, (CELL, CELL), BLUE))
    middle, x = top + SIDE / 2 + 6, (corner[0] + side + CHIP + WIDE_CHIP) / 2
    for n, text in enumerate(says):
        y = middle + 21 * (n - (len(says) - 1) / 2)
        parts.append(word(f"{way} does {n}", x, y, text, BLUE, size=SMALL, weight=700))
    return parts


def _road(moment: Moment, ended: bool) -> list[Part]:
    """Attend's scores on their way, and how many have gone."""
    y, (start, end) = TOPS["naive"] + SIDE / 2, ROAD
    middle, trip = (start + end) / 2, moment.trip
    if not trip:
        return [line("road", [(start, y), (end, y)], GREY, 3, dashes="1 7")]
    writes = trip <= 1
    ends = start + HEAD, end - HEAD * (not writes)
    tiles = line("stream", [(x, y) for x in ends], BLUE, STREAM, dashes=DASHES)
    heads = [
        area(f"to {place}", [(tip, y), (back, y - HEAD), (back, y + HEAD)], BLUE)
        for place, tip, back, seen in (
            ("memory", start, start + HEAD, True),
            ("chip", end, end - HEAD, not writes),
        )
        if seen
    ]
    passed = GONE * PITCH * (1 - abs(1 - trip % 2))
    moves: dict[str, float | str] = {"stroke-linecap": "butt", "stroke-dashoffset": passed}
    rounds = f"{trip / 2:g} round trip{'s' * (trip > 2)}"
    way = f"← write: {_gone(trip)}" if writes else f"{rounds}: {_gone(trip)}"
    return [
        tiles._replace(look={**tiles.look, **moves}),
        *heads,
        word("gone", middle, y + 33, way, BLUE, size=SMALL, weight=700),
    ]


def _stays(moment: Moment) -> list[Part]:
    """Nothing of the call's scores is on the way."""
    y, (start, end) = TOPS["sdpa"] + SIDE / 2, ROAD
    parts = [line("no road", [(start, y), (end, y)], GREY, 3, dashes="1 7")]
    if moment.tile is None:
        x = (start + end) / 2
        parts.append(word("none", x, y + 24, "no scores moved", BLUE, size=SMALL, weight=700))
    return parts


def _takes(slow: float) -> list[Part]:
    """In attend's bar, how much of it is the trips of its scores, at the memory's speed."""
    y, long = TOPS["naive"] + SIDE + BELOW, LONGEST * moving() / slow
    says = f"moving scores: about {_ms(moving())}"
    return [
        box("moved so long", (LEFT, y), (long, BAR), BLUE, 0.25, 3),
        word("moved", LEFT + long / 2, y + 17, says, size=SMALL, weight=700),
    ]


def _faster(slow: float, fast: float) -> list[Part]:
    """Behind the call's time; and over its road, what goes there at all."""
    x, y = LEFT + _long(fast) + 110, TOPS["sdpa"] + SIDE + BELOW + 20
    says = "only Q, K, V, output"
    return [
        word("faster", x, y, f"{slow / fast:.0f}× as fast", ORANGE, "start", 28, 700),
        word("only", sum(ROAD) / 2, TOPS["sdpa"] + SIDE / 2 - 12, says, GREY, size=SMALL),
    ]


def _gone(trip: float) -> str:
    return f"{trip * scores_in_bytes() / 1e9:.2g} GB"


def _grid(key: str, corner: Place, side: float, edged: bool = False) -> list[Part]:
    (left, top), parts = corner, []
    for n in range(1 - edged, CELLS + edged):
        by = side * n / CELLS
        parts += [
            line(f"{key} across {n}", [(left, top + by), (left + side, top + by)], GREY, 1, 0.6),
            line(f"{key} down {n}", [(left + by, top), (left + by, top + side)], GREY, 1, 0.6),
        ]
    return parts


def _ms(seconds: float) -> str:
    return f"{1000 * seconds:.2g} ms"
