"""Lesson 13 opens with where the scores are: one attention, by two ways, on one GPU.

Each way has a lane. Attend's scores go to memory and come back, all of them, three times; those of
PyTorch's call stay on the chip, a tile at a time: thin lines are what else a way reads and writes.
At rest, each lane has all that went. Below is the time that each took. Times and bytes are the
newest that are recorded beside the lesson, those of its longest text; both ways compute in float16.
What attend took is shared out alike among its trips, each of which moves as much.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from attnlab.figures.live.film import Film, Frame
from attnlab.figures.live.parts import SMALL, WIDE, Part, Place, area, box, line, word
from attnlab.figures.palette import BLUE, GREY, ORANGE, Colour
from attnlab.lessons.gpu_sdpa.kept import recorded

WAYS = {"naive": "attend, step by step", "sdpa": "PyTorch's call, tile by tile"}  # as recorded
WIDTH = 128  # of a head
SCORE = 2  # bytes of a score in float16
TRIPS = 6  # of all scores, to memory or back, in `bench.ways.naive`
STEPS = "scores", "scale", "softmax", "mix"  # of it, each after two trips more
TRAVELS = (  # what is told of a trip, from the second on
    "attend reads all scores back, only to scale them.",
    "Scaled, all of them go to memory again.",
    "They come back for the softmax.",
    "Its weights, as many as the scores, go to memory.",
    "They come back for the mix.",
)

HIGH = 269  # of the sheet
LEFT, FASTER = 6, 226  # of all that begins at the left; of how much faster
HEADS, TOPS = {"naive": 15, "sdpa": 152}, {"naive": 22, "sdpa": 160}  # of lanes: names, drawings
STRIP = 24  # of memory: for queries, keys and values, and for answers
THIN = 6  # from its edge to their lines
SIDE, CHIP, WIDE_CHIP = 76, 252, 222  # of memory, a square; where the chip begins, its width
CELLS, CELL = 4, 15  # tiles along a side; a tile on the chip
RUN = 0, 8  # tiles that the call has done, half its time apart
STREAM, DASHES, PITCH = 26, "14 5", 19  # of scores on their way: thickness and tiles
GONE = 4  # tiles that pass in a trip
HEAD = 20  # of the arrow that they go along
ROAD = LEFT + SIDE + 2, CHIP - 2  # from edge to edge
BEGIN, BAR, LONGEST, BELOW = 50, 22, 342, 5  # of bars: left, thickness, longest, way from lane
Rows = dict[str, dict[str, Any]]


class Moment(NamedTuple):
    """What is drawn at one time.

    Attributes:
        now: seconds since both began.
        trip: how often all scores have gone to memory or come back; half, while they go.
        done: how many of the call's tiles are; the next one is worked on.
    """

    now: float
    trip: float
    done: int = CELLS**2


def opening() -> Film:
    """The film."""
    newest, rows = recorded()[0], longest()
    n, device = rows["naive"]["n"], " ".join(newest["device"].split()[:2])
    slow, fast = (rows[way]["seconds"] for way in WAYS)
    moments = [Moment(fast * half / 2, half / 2, done) for half, done in enumerate(RUN)]
    moments += [Moment(_until(trip), trip) for trip in range(1, TRIPS + 1)]
    told = [
        f"{device}, {n:,} tokens, {_run()['heads']} heads: {_gone(1)} of scores. Watch them.",
        "attend sends every score to memory. The call takes a tile through all steps.",
        f"{_ms(fast)}, and the call is done: it used each tile straight away, on the chip.",
        *TRAVELS,
    ]
    frames = [Frame(_parts(each, rows), says) for each, says in zip(moments, told, strict=True)]
    y, more = TOPS["sdpa"] + SIDE + BELOW + 19, f"{slow / fast:.0f}× as fast"
    faster = word("faster", FASTER, y, more, ORANGE, "start", 24, 700)  # in the call's line of time
    parts = [*_parts(moments[-1], rows, ended=True), faster]
    says = f"Trips and computing: {_ms(slow)} if scores and weights travel, {_ms(fast)} if not."
    frames.append(Frame(parts, says))
    return Film("Scores go to memory and back, or stay on the chip", frames, HIGH)


def longest() -> Rows:
    """What was measured with the longest text, by the name of a way."""
    rows = _run()["rows"]
    n = max(row["n"] for row in rows)
    return {row["name"]: row for row in rows if row["n"] == n}


def scores_in_bytes() -> int:
    """Of all heads' scores, once."""
    return int(longest()["naive"]["n"] ** 2 * _run()["heads"] * SCORE)


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
        parts += [
            word(f"name {way}", WIDE / 2, HEADS[way], name, size=SMALL, weight=700),
            *_memory(way, top, min(moment.trip, 1), ended),
            *_chip(way, top, moment, ended),
            word(f"time {way}", LEFT, y + 17.5, "time", ORANGE, "start", SMALL),
            box(f"bar {way}", (BEGIN, y), (long, BAR), ORANGE, 0.35, 2),
            *(_road(moment, ended) if way == "naive" else _stays(moment)),
        ]
        if moment.now >= took:
            x = BEGIN + long + 9
            parts.append(word(f"took {way}", x, y + 19, _ms(took), ORANGE, "start", 24, 700))
    return parts


def _long(seconds: float) -> float:
    """Of a bar."""
    return max(LONGEST * seconds / longest()["naive"]["seconds"], 2)


def _memory(way: str, top: float, full: float, ended: bool) -> list[Part]:
    """What both ways read and write, and between it all scores, or the place they would take."""
    answered, full = (ended, full) if way == "naive" else (full > 0, 0)
    lines, x = {"under": top + STRIP, "over": top + SIDE - STRIP}, LEFT + SIDE / 2
    size = SIDE - 8, full * (SIDE - 2 * STRIP - 4)
    return [
        box(f"memory {way}", (LEFT, top), (SIDE, SIDE), GREY, 0.12, 2),
        *(line(f"{key} {way}", [(LEFT, y), (LEFT + SIDE, y)], GREY) for key, y in lines.items()),
        word(f"read {way}", x, top + 18, "q k v", size=SMALL),
        box(f"all {way}", (LEFT + 4, lines["under"] + 2), size, BLUE, 0.8),
        *([word(f"written {way}", x, top + SIDE - 6, "answer", size=SMALL)] if answered else []),
    ]


def _chip(way: str, top: float, moment: Moment, ended: bool) -> list[Part]:
    """What computes: attend one step on all scores, the call all steps on a tile of them."""
    middle, edge = top + SIDE / 2, 8
    parts = [box(f"chip {way}", (CHIP, top), (WIDE_CHIP, SIDE), GREY, 0.12, 2)]
    lines, left = [STEPS[min(int(moment.trip / 2), len(STEPS) - 1)]], float(CHIP)
    if way == "sdpa":
        lines = ["all four steps", "on each tile"]
        parts += _tiles((CHIP + edge, middle - CELLS * CELL / 2), moment.done)
        left += edge + CELLS * CELL
    elif ended:
        lines = [f"{TRIPS} trips, {_gone(TRIPS)}:", "scores and weights"]
    for n, text in enumerate(lines):
        x, y = (left + CHIP + WIDE_CHIP) / 2, middle + 7 + 25 * (n - (len(lines) - 1) / 2)
        parts.append(word(f"{way} does {n}", x, y, text, BLUE, size=SMALL, weight=700))
    return parts


def _road(moment: Moment, ended: bool) -> list[Part]:
    """Attend's scores on their way to memory or back, and how many have gone; or all that went."""
    top, (start, end), trip = TOPS["naive"], ROAD, moment.trip
    if ended or not trip:
        over = range(1, TRIPS + 1 if ended else 1)
        by = (SIDE - 2 * THIN) / (TRIPS + 1)
        parts = _thin("naive", ended)
        for n in over:
            parts += _arrow(f"went {n}", ROAD[::-1] if n % 2 else ROAD, top + THIN + n * by, BLUE)
        return parts
    y, writes = top + SIDE / 2, math.ceil(trip) % 2 == 1
    tip, back = (start, start + HEAD) if writes else (end, end - HEAD)
    ends = (back, end) if writes else (start, back)
    tiles = line("stream", [(x, y) for x in ends], BLUE, STREAM, dashes=DASHES)
    passed = GONE * PITCH * (1 - abs(1 - trip % 2))
    moves: dict[str, float | str] = {"stroke-linecap": "butt", "stroke-dashoffset": passed}
    says = f"trip {math.ceil(trip)}: {_gone(trip)}"
    return [
        tiles._replace(look={**tiles.look, **moves}),
        area("head", [(tip, y), (back, y - HEAD), (back, y + HEAD)], BLUE),
        word("gone", (start + end) / 2, y + 37, says, BLUE, size=SMALL, weight=700),
    ]


def _arrow(key: str, ends: Place, y: float, colour: Colour) -> list[Part]:
    """A thin one, from x to x."""
    (back, tip), by = ends, 6 if ends[1] < ends[0] else -6
    return [
        line(key, [(back, y), (tip, y)], colour),
        line(f"{key} head", [(tip + by, y - 4), (tip, y), (tip + by, y + 4)], colour),
    ]


def _thin(way: str, answered: bool) -> list[Part]:
    """What is little beside scores: on its way to the chip, and back to memory."""
    there, back = TOPS[way] + THIN, TOPS[way] + SIDE - THIN
    writes = _arrow(f"{way} writes", ROAD[::-1], back, GREY) if answered else []
    return [*_arrow(f"{way} reads", ROAD, there, GREY), *writes]


def _stays(moment: Moment) -> list[Part]:
    """Of the call's scores nothing is on the way, but of what else it reads and writes."""
    parts = _thin("sdpa", moment.done > 0)
    if moment.done == CELLS**2:
        x, y = sum(ROAD) / 2, TOPS["sdpa"] + SIDE / 2 + 6
        parts.append(word("none", x, y, "0 GB of scores", BLUE, size=SMALL, weight=700))
    return parts


def _gone(trip: float) -> str:
    return f"{trip * scores_in_bytes() / 1e9:.2g} GB"


def _tiles(corner: Place, done: int) -> list[Part]:
    """All tiles of scores: pale are those that are done, full is the one that is worked on."""
    faces = [0.4] * done + [1.0] + [0.0] * CELLS**2
    return [
        box(
            f"tile {n}",
            (corner[0] + n % CELLS * CELL, corner[1] + n // CELLS * CELL),
            (CELL, CELL),
            BLUE,
            faces[n],
            1,
        )
        for n in range(CELLS**2)
    ]


def _ms(seconds: float) -> str:
    return f"{1000 * seconds:.2g} ms"
