"""Lesson 13 opens with where the time goes: one attention, by two ways, on one GPU.

Both times are bars on one scale. Attend's scores travel between a large memory and a small chip,
six times; each trip puts its least time into attend's bar: all bytes of the scores, at the fastest
that this memory was measured to be. Those of PyTorch's call stay on the chip, a tile at a time.
What else a way reads and writes is little, and not drawn. Times, bytes and the memory's speed are
the newest that are recorded beside the lesson, those of its longest text; both ways compute in
float16.
"""

from __future__ import annotations

import math
from typing import Any

from attnlab.figures.live.film import Film, Frame
from attnlab.figures.live.parts import SMALL, Part, Place, area, box, word
from attnlab.figures.palette import BLUE, GREY, GROUND, ORANGE, Colour
from attnlab.lessons.gpu_sdpa.kept import recorded

WAYS = {"naive": "attend", "sdpa": "PyTorch's call"}  # as recorded
WIDTH = 128  # of a head
SCORE = 2  # bytes of a score in float16
STEPS = (
    "scores",
    "scale",
    "scale",
    "softmax",
    "softmax",
    "mix",
)  # of each trip, in `bench.ways.naive`
TRIPS = len(STEPS)  # of all scores, to memory or back

HIGH = 268  # of the sheet
LEFT, RIGHT = 6, 474  # of all
TOP, MEMORY, CHIP = 27, (130, 88), (110, 68)  # of the upper half; sizes
ROAD = LEFT + MEMORY[0] + 6, RIGHT - CHIP[0] - 6  # from edge to edge
MIDDLE = TOP + MEMORY[1] / 2
SHAFT, TIP, HEAD = 13, 25, 28  # half a shaft's thickness, half a tip's, and its length
THIN = 1, 5, 9
CELLS, CELL = 4, 13  # tiles along a side; a tile on the chip
BARS = {"naive": 153, "sdpa": 224}  # of times: tops
BAR, LONGEST, HERO = 34, RIGHT - LEFT, 30  # thick; long; size of numbers
Rows = dict[str, dict[str, Any]]


def opening() -> Film:
    """The film."""
    newest, rows = recorded()[0], longest()
    n, device = rows["naive"]["n"], " ".join(newest["device"].split()[:2])
    slow, fast = (rows[way]["seconds"] for way in WAYS)
    told = [
        f"{device}, {n:,} tokens, {_run()['heads']} heads: the same answer, in {_ms(slow)} or "
        f"{_ms(fast)}. Guess why.",
        f"attend writes all scores to memory, {_size()}: {_ms(trip())} at the memory's speed.",
        "It reads them back, only to scale them.",
        "Scaled, all of them are written again.",
        "The softmax reads them.",
        "It writes as many weights.",
        f"The mix reads these: six trips, {1000 * TRIPS * trip():.3g} of the {_ms(slow)}.",
        f"PyTorch's call takes each tile through all steps on the chip, so no score travels: "
        f"{_ms(fast)}.",
    ]
    frames = [Frame(_parts(trips, rows), says) for trips, says in enumerate(told)]
    return Film("Where do 20 ms go?", frames, HIGH)


def longest() -> Rows:
    """What was measured with the longest text, by the name of a way."""
    rows = _run()["rows"]
    n = max(row["n"] for row in rows)
    return {row["name"]: row for row in rows if row["n"] == n}


def scores_in_bytes() -> int:
    """Of all heads' scores, once."""
    return int(longest()["naive"]["n"] ** 2 * _run()["heads"] * SCORE)


def trip() -> float:
    """Seconds that all scores take at least, to memory or back."""
    return float(scores_in_bytes() / _run()["peak"]["bandwidth"])


def _run() -> dict[str, Any]:
    runs: list[dict[str, Any]] = recorded()[0]["runs"]
    [run] = [each for each in runs if each["d"] == WIDTH and not each["causal"]]
    return run


def _parts(trips: int, rows: Rows) -> list[Part]:
    """Both bars, and over them who holds scores after so many trips; after all, the call."""
    is_call = trips > TRIPS
    parts = [*_places(), *(_call() if is_call else _attend(trips)), *_bars(rows, is_call)]
    second = LONGEST / rows["naive"]["seconds"]
    for n in range(TRIPS):  # a bar's piece grows with its arrow
        corner = LEFT + second * n * trip(), BARS["naive"]
        size = second * trip() * (n < trips), BAR
        parts.append(box(f"took {n + 1}", corner, size, BLUE, 1, 0))
        if n < trips:
            x, y = corner[0] + size[0] / 2, BARS["naive"] + 23
            parts.append(word(f"number {n + 1}", x, y, f"{n + 1}", GROUND, weight=700))
    return parts


def _bars(rows: Rows, are_compared: bool) -> list[Part]:
    parts: list[Part] = []
    for way, name in WAYS.items():
        seconds, y = rows[way]["seconds"], BARS[way]
        long = LONGEST * seconds / rows["naive"]["seconds"]
        parts += [
            box(f"bar {way}", (LEFT, y), (long, BAR), ORANGE, 0.3, 0),
            word(f"name {way}", LEFT, y - 9, name, anchor="start", weight=700),
        ]
    slow, fast = (rows[way]["seconds"] for way in WAYS)
    y = BARS["sdpa"] + BAR - 6
    heroes = [
        word("slow", RIGHT, BARS["naive"] - 9, _ms(slow), ORANGE, "end", HERO, 700),
        word("fast", LEFT + long + 10, y, _ms(fast), ORANGE, "start", HERO, 700),
        word("faster", RIGHT, y, f"{slow / fast:.0f}× as fast", ORANGE, "end", HERO, 700),
    ]
    return [*parts, *(heroes if are_compared else heroes[:2])]


def _places() -> list[Part]:
    """A large memory and a small chip."""
    corner = RIGHT - CHIP[0], MIDDLE - CHIP[1] / 2
    return [
        box("memory", (LEFT, TOP), MEMORY, GREY, 0.14, 0),
        word("memory's name", LEFT + MEMORY[0] / 2, TOP - 10, "memory", GREY, size=SMALL),
        box("chip", corner, CHIP, GREY, 0.14, 0),
        word("chip's name", RIGHT - CHIP[0] / 2, corner[1] - 10, "chip", GREY, size=SMALL),
    ]


def _attend(trips: int) -> list[Part]:
    """All scores in memory once they are there, the step at the chip, and who goes where."""
    written = min(trips, 1)
    wide, high = (side - 20 for side in MEMORY)
    held = box("held", (LEFT + 10 + wide * (1 - written), TOP + 10), (wide * written, high), BLUE)
    step = STEPS[max(trips - 1, 0)]
    parts = [
        held._replace(look={**held.look, "opacity": written * 0.3}),
        word("step", RIGHT - CHIP[0] / 2, MIDDLE + 7, step, weight=700),
    ]
    if trips:
        parts += [
            _arrow(trips, 1),
            word("bytes", sum(ROAD) / 2, MIDDLE + 7, _size(), GROUND, weight=700),
        ]
    return [*parts, _arrow(trips + 1, 0)] if trips < TRIPS else parts


def _arrow(trip: int, share: float) -> Part:
    """An arrow that has come a share of its way: an odd trip goes to memory."""
    ends = ROAD[::-1] if trip % 2 else ROAD
    return _pointed(f"trip {trip}", ends, MIDDLE, share, (SHAFT, TIP, HEAD), BLUE)


def _pointed(
    key: str, ends: Place, y: float, share: float, size: tuple[float, ...], colour: Colour
) -> Part:
    (start, end), (shaft, wing, head) = ends, size
    tip = start + (end - start) * share
    back = tip - math.copysign(head * share, end - start)
    upper = [(start, y - shaft), (back, y - shaft), (back, y - wing), (tip, y)]
    lower = [(back, y + wing), (back, y + shaft), (start, y + shaft)]
    return area(key, [*upper, *lower], colour, opacity=float(share > 0))


def _call() -> list[Part]:
    """One tile of the scores on the chip, which it leaves no more; what comes and what goes."""
    side = CELLS * CELL
    left, top, x = RIGHT - (CHIP[0] + side) / 2, MIDDLE - side / 2, sum(ROAD) / 2
    corners = [(left + n % CELLS * CELL, top + n // CELLS * CELL) for n in range(CELLS**2)]
    return [
        *(
            box(
                f"tile {n}",
                corner,
                (CELL - 2, CELL - 2),
                BLUE,
                n == CELLS + 1,
                1,
                0.3 + 0.7 * (n == CELLS + 1),
            )
            for n, corner in enumerate(corners)
        ),
        word("comes", x, MIDDLE - 27, "q, k, v", GREY, size=SMALL),
        _pointed("to chip", ROAD, MIDDLE - 18, 1, THIN, GREY),
        word("none", x, MIDDLE + 7, "no scores", BLUE, weight=700),
        _pointed("to memory", ROAD[::-1], MIDDLE + 18, 1, THIN, GREY),
        word("goes", x, MIDDLE + 40, "answer", GREY, size=SMALL),
    ]


def _size() -> str:
    """Of all scores."""
    return f"{scores_in_bytes() / 1e9:.2g} GB"


def _ms(seconds: float) -> str:
    return f"{1000 * seconds:.2g} ms"
