"""Lesson 13 opens with where the scores are: one attention, by two ways, on one GPU.

Each way has a lane, from a large memory to a small chip. Attend's scores go to memory and come
back, all of them, three times; those of PyTorch's call stay on the chip, a tile at a time. What
else a way reads and writes is little, and not drawn. Below are times, to one scale. Times and bytes
are the newest that are recorded beside the lesson, those of its longest text; both ways compute in
float16. When a trip ends was not measured: attend's first ends here as the call does, and what is
left of its time is shared out alike among the others.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from attnlab.figures.live.film import Film, Frame
from attnlab.figures.live.parts import SMALL, Part, Place, area, box, word
from attnlab.figures.palette import BLUE, GREY, ORANGE, Colour
from attnlab.lessons.gpu_sdpa.kept import recorded

WAYS = {"naive": "attend", "sdpa": "PyTorch's call"}  # as recorded
WIDTH = 128  # of a head
SCORE = 2  # bytes of a score in float16
TRIPS = 6  # of all scores, to memory or back, in `bench.ways.naive`
STEPS = "scores", "scale", "softmax", "mix"  # of it
OVER = 3, 5, 6  # trips, at the end of its last three steps
TRAVELS = (  # what is told of the first two
    "attend reads all scores back, only to scale them, and writes them again.",
    "They come back for the softmax. Its weights, as many, go to memory.",
)

HIGH = 269  # of the sheet
LEFT, RIGHT = 6, 474  # of all
HEADS, TOPS = {"naive": 21, "sdpa": 118}, {"naive": 30, "sdpa": 127}  # of lanes: names, drawings
MEMORY, CHIP = (190, 64), (100, 52)  # their sizes
HOLDS, EDGE = 92, 8  # width of all scores in memory, and their way from its edge
ROAD = LEFT + MEMORY[0] + 3, RIGHT - CHIP[0] - 3  # from edge to edge
LANE, SHAFT, TIP = 9, 1.8, 4.5  # from arrow to arrow; half a shaft's thickness, and half a tip's
CELLS, CELL = 4, 11  # tiles along a side; a tile on the chip
RUN = 0, 8  # tiles that the call has done, half its time apart
BARS = {"naive": (209, "attend"), "sdpa": (243, "call")}  # of times: top, name
BEGIN, BAR, LONGEST = 78, 22, 290  # left, thickness, longest
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
    moments += [Moment(_until(trip), trip) for trip in (1, *OVER)]
    told = [
        f"{device}, {n:,} tokens, {_run()['heads']} heads: {_gone(1)} of scores.",
        "attend sends every score to memory. The call takes a tile through all steps.",
        f"{_ms(fast)}, and the call is done: it used each tile straight away, on the chip.",
        *TRAVELS,
        f"They come back for the mix: {_ms(slow)} with six such trips, {_ms(fast)} with none.",
    ]
    frames = [Frame(_parts(each, rows), says) for each, says in zip(moments, told, strict=True)]
    more, y = f"{slow / fast:.0f}× as fast", BARS["sdpa"][0] + BAR - 1
    faster = word("faster", RIGHT, y, more, ORANGE, "end", 30, 700)  # beside the call's time
    frames[-1] = frames[-1]._replace(parts=[*frames[-1].parts, faster])
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


def _parts(moment: Moment, rows: Rows) -> list[Part]:
    parts: list[Part] = []
    for way, name in WAYS.items():
        took, (y, short) = rows[way]["seconds"], BARS[way]
        long = max(LONGEST * min(moment.now, took) / rows["naive"]["seconds"], 2)
        parts += [
            word(f"name {way}", LEFT, HEADS[way], name, anchor="start", weight=700),
            *_places(way, TOPS[way]),
            word(f"time {way}", LEFT, y + 17, short, GREY, "start", SMALL),
            box(f"bar {way}", (BEGIN, y), (long, BAR), ORANGE, 0.35, 2),
        ]
        if moment.now >= took:
            parts.append(
                _hero(f"took {way}", BEGIN + long + 10, y + 20, _ms(took), ORANGE, "start")
            )
    parts += [*_attend(moment.trip, TOPS["naive"]), *_call(moment.done, TOPS["sdpa"])]
    return parts


def _hero(key: str, x: float, y: float, text: str, colour: Colour, anchor: str) -> Part:
    return word(key, x, y, text, colour, anchor, 26, 700)


def _places(way: str, top: float) -> list[Part]:
    """A large memory and a small chip."""
    y, name = top + MEMORY[1] / 2 + 6, LEFT + EDGE + 2
    corner = RIGHT - CHIP[0], top + (MEMORY[1] - CHIP[1]) / 2
    return [
        box(f"memory {way}", (LEFT, top), MEMORY, GREY, 0.12, 2),
        word(f"memory's name {way}", name, y, "memory", GREY, "start", SMALL),
        box(f"chip {way}", corner, CHIP, GREY, 0.12, 2),
    ]


def _attend(trip: float, top: float) -> list[Part]:
    """All scores in memory, the step that the chip is at, and the trips, the last one so far."""
    step = next(n for n, over in enumerate((1, *OVER)) if trip <= over)
    x, middle = RIGHT - CHIP[0] / 2, top + MEMORY[1] / 2
    wide, right = HOLDS * min(trip, 1), LEFT + MEMORY[0] - EDGE
    held = box("held", (right - wide, top + EDGE), (wide, MEMORY[1] - 2 * EDGE), BLUE, 0.3, 2)
    parts = [
        word("chip's name naive", x, middle - 5, "chip", GREY, size=SMALL),
        word("step", x, middle + 18, STEPS[step], BLUE, size=SMALL, weight=700),
        held._replace(look={**held.look, "opacity": min(trip, 1)}),
    ]
    for n in range(TRIPS):
        ends = ROAD if n % 2 else ROAD[::-1]
        parts.append(
            _trip(n, ends, middle + LANE * (n - (TRIPS - 1) / 2), min(max(trip - n, 0), 1))
        )
    if trip >= 1:
        many = f"{trip:.0f} trip{'s' * (trip > 1)}: {_gone(trip)}"
        parts += [
            word("each", right - HOLDS / 2, middle + 6, _gone(1), size=SMALL, weight=700),
            _hero("gone", RIGHT, HEADS["naive"], many, BLUE, "end"),
        ]
    return parts


def _trip(n: int, ends: Place, y: float, share: float) -> Part:
    """An arrow from x to x that has come a share of its way."""
    start, end = ends
    tip = start + (end - start) * share
    back = tip - math.copysign(min(2 * TIP, abs(tip - start)), end - start)
    upper = [(start, y - SHAFT), (back, y - SHAFT), (back, y - TIP), (tip, y)]
    lower = [(back, y + TIP), (back, y + SHAFT), (start, y + SHAFT)]
    return area(f"trip {n + 1}", [*upper, *lower], BLUE)


def _call(done: int, top: float) -> list[Part]:
    """A tile at a time on the chip: pale are those that are done, full is the one worked on."""
    middle, side = top + MEMORY[1] / 2, CELLS * CELL
    faces = [0.3] * done + [1.0] + [0.0] * CELLS**2
    left = RIGHT - CHIP[0] + 7
    parts = [
        word("chip's name sdpa", (left + side + RIGHT) / 2, middle + 6, "chip", GREY, size=SMALL)
    ]
    for n in range(CELLS**2):
        corner = left + n % CELLS * CELL, middle - side / 2 + n // CELLS * CELL
        parts.append(box(f"tile {n}", corner, (CELL, CELL), BLUE, faces[n], 1))
    for n, text in enumerate(("all four steps", "on each tile")):
        x, y = sum(ROAD) / 2, middle - 5 + 23 * n
        parts.append(word(f"sdpa does {n}", x, y, text, GREY, size=SMALL))
    if done == CELLS**2:
        x = LEFT + MEMORY[0] - EDGE - HOLDS / 2
        parts.append(word("no", x, middle + 6, "no scores", BLUE, size=SMALL, weight=700))
        parts.append(_hero("none", RIGHT, HEADS["sdpa"], "0 trips: 0 GB", BLUE, "end"))
    return parts


def _gone(trip: float) -> str:
    return f"{trip * scores_in_bytes() / 1e9:.2g} GB"


def _ms(seconds: float) -> str:
    return f"{1000 * seconds:.2g} ms"
