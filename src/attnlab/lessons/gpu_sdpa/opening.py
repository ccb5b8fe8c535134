"""Lesson 13 opens with where the time goes: one attention, by two ways, on one GPU.

Both times are bars on one scale. Attend's scores travel between a large memory and a small chip,
six times; each trip puts its least time into attend's bar: all bytes of the scores, at the fastest
that this memory was measured to be. At the foot of both bars is computing's least time, at the
fastest that was measured; it may go on beside the trips. The scores of PyTorch's call stay on the
chip, a tile at a time. What else attend reads and writes is little, and not drawn. All that was
measured is the newest that is recorded beside the lesson, for its longest text, in float16.
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
TRIPS = 6  # of all scores, to memory or back, in `bench.ways.naive`
STEPS = {"scores": 1, "scale": 3, "softmax": 5, "mix": 6}  # and trips when each is over

HIGH = 268  # of the sheet
LEFT, RIGHT = 6, 474  # of all
TOP, TALL = 27, 92  # of the upper half
MIDDLE, LANE = TOP + TALL / 2, 22  # of what is in it; from there up or down to a lane of arrows
MEMORY, CHIP, LARGE = 130, 110, 300  # widths; of the chip when a tile goes through its steps
PLACES, TILE = (216, 285, 363, 437), 26  # of the steps on it; a tile's side
ARROW, THIN = (12, 20, 24), (1, 5, 9)  # half a shaft's thickness, half a tip's, and its length
BARS = {"naive": 155.0, "sdpa": 224.0}  # of times: tops
BAR, FOOT, LONGEST, HERO = 36, 10, RIGHT - LEFT, 30  # thick; long; size of numbers
# At the end, under each bar: how far, sizes of a memory and a chip, and the six arrows.
ENDS, UNDER = {"naive": 31.0, "sdpa": 168.0}, 71
SMALL_MEMORY, SMALL_CHIP, CLOSE, FINE = (110, 56), (80, 44), 9, (2.2, 4.5, 9)
Rows = dict[str, dict[str, Any]]


def opening() -> Film:
    """The film."""
    newest, rows = recorded()[0], longest()
    n, device = rows["naive"]["n"], " ".join(newest["device"].split()[:2])
    slow, fast = (rows[way]["seconds"] for way in WAYS)
    begin = (
        f"{device}, {n:,} tokens, {_run()['heads']} heads: the same answer, in {_ms(slow)} or "
        f"{_ms(fast)}. Guess why."
    )
    travels = (
        f"attend writes {_size()} of scores to memory: {_ms(trip())} at the best speed measured.",
        "It reads them back, only to scale them, and writes them again.",
        "Back for the softmax, which writes as many weights.",
        f"And back for the mix: six trips, most of the {_ms(slow)}.",
    )
    stays = (
        "PyTorch's call computes a tile of scores on the chip.",
        "The tile goes through all four steps there, and the next one comes. No score travels.",
    )
    frames = [Frame([*_attend("scores", 0), *_bars(rows, 0, BARS)], begin)]
    for says, step in zip(travels, STEPS, strict=True):
        frames.append(Frame([*_attend(step, STEPS[step]), *_bars(rows, STEPS[step], BARS)], says))
    for says, at in zip(stays, (0, 3), strict=True):
        frames.append(Frame([*_call(at), *_bars(rows, TRIPS, BARS, True)], says))
    end = f"Scores that travel: {_ms(slow)}. Scores that stay: {_ms(fast)}, most of it computing."
    return Film(f"Where do {_ms(slow)} go?", [*frames, Frame(_both(rows), end)], HIGH)


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


def computing() -> float:
    """Seconds that both products take at least, scores and mix."""
    run, n = _run(), longest()["naive"]["n"]
    return float(4 * n**2 * run["d"] * run["heads"] / run["peak"]["flops"])


def _run() -> dict[str, Any]:
    runs: list[dict[str, Any]] = recorded()[0]["runs"]
    [run] = [each for each in runs if each["d"] == WIDTH and not each["causal"]]
    return run


def _bars(rows: Rows, trips: int, tops: dict[str, float], computes: bool = False) -> list[Part]:
    """Both times; on attend's what its trips take so far, at both feet what computing takes."""
    parts: list[Part] = []
    second = LONGEST / rows["naive"]["seconds"]
    for way, name in WAYS.items():
        size = second * rows[way]["seconds"], BAR
        parts += [
            box(f"bar {way}", (LEFT, tops[way]), size, ORANGE, 0.3, 0),
            word(f"name {way}", LEFT, tops[way] - 9, name, anchor="start", weight=700),
        ]
    for n in range(TRIPS):  # a piece grows with its arrow
        x, wide = LEFT + second * min(n, trips) * trip(), second * trip() * (n < trips)
        parts.append(box(f"took {n + 1}", (x, tops["naive"]), (wide, BAR - FOOT), BLUE, 1, 0))
        if n < trips:
            y = tops["naive"] + (BAR - FOOT) / 2 + 7
            parts.append(word(f"number {n + 1}", x + wide / 2, y, f"{n + 1}", GROUND, weight=700))
    if computes:
        says, y = f"computing ≥ {_ms(computing())}", tops["sdpa"] + BAR - 7
        parts.append(word("computing", RIGHT, y, says, GREY, "end"))
        for way, top in tops.items():
            size = second * computing(), FOOT
            parts.append(box(f"computes {way}", (LEFT, top + BAR - FOOT), size, GREY, 1, 0))
    slow, fast = (_ms(rows[way]["seconds"]) for way in WAYS)
    end, y = LEFT + second * rows["sdpa"]["seconds"], tops["sdpa"] + BAR - 6
    return [
        *parts,
        *(
            [word("moved", LEFT + 84, tops["naive"] - 9, _moved(), BLUE, "start", weight=700)]
            if trips == TRIPS
            else []
        ),
        word("slow", RIGHT, tops["naive"] - 9, slow, ORANGE, "end", HERO, 700),
        word("fast", end + 10, y, fast, ORANGE, "start", HERO, 700),
    ]


def _places(chip: float) -> list[Part]:
    """A large memory, and a small chip of a width."""
    return [
        box("memory", (LEFT, TOP), (MEMORY, TALL), GREY, 0.14, 0),
        word("memory's name", LEFT + MEMORY / 2, TOP - 8, "memory", GREY, size=SMALL),
        word("inputs", LEFT + MEMORY / 2, TOP + 20, "q, k, v", GREY, size=SMALL),
        box("chip", (RIGHT - chip, TOP + 12), (chip, TALL - 24), GREY, 0.14, 0),
        word("chip's name", RIGHT - chip / 2, TOP - 8, "chip", GREY, size=SMALL),
    ]


def _attend(step: str, trips: int) -> list[Part]:
    """All scores in memory once they are there, the step at the chip, and who goes where."""
    wide, written = MEMORY - 20, min(trips, 1)
    corner = LEFT + 10 + wide * (1 - written), TOP + 29
    road = LEFT + MEMORY + 6, RIGHT - CHIP - 6
    parts = [
        *_places(CHIP),
        box("held", corner, (wide * written, TALL - 39), BLUE, 0.4, 0),
        word("step", RIGHT - CHIP / 2, MIDDLE + 7, step, weight=700),
    ]
    before, after = _around(trips)
    for n in range(before + 1, after + 1):  # those of this step, and of the next, which wait
        ends, y = (road[::-1], MIDDLE + LANE) if n % 2 else (road, MIDDLE - LANE)
        parts.append(_arrow(f"trip {n}", ends, y, float(n <= trips), ARROW, BLUE))
        if n <= trips:
            parts.append(word(f"bytes {n}", sum(road) / 2, y + 7, _size(), GROUND, weight=700))
    return parts


def _around(trips: int) -> tuple[int, int]:
    """Trips that were over a step before, and that will be a step later."""
    overs = [0, 0, *STEPS.values(), TRIPS]
    at = overs.index(trips, 1)
    return overs[at - 1], overs[at + 1]


def _call(at: int) -> list[Part]:
    """A tile of the scores on the chip, at one of the steps there."""
    road = LEFT + MEMORY + 4, RIGHT - LARGE - 4
    parts = [
        *_places(LARGE),
        _arrow("comes", road, MIDDLE - LANE, 1, THIN, GREY),
        _arrow("goes", road[::-1], MIDDLE + LANE, 1, THIN, GREY),
        word("outputs", LEFT + MEMORY / 2, TOP + TALL - 9, "answer", GREY, size=SMALL),
    ]
    for n, (step, x) in enumerate(zip(STEPS, PLACES, strict=True)):
        corner = x - TILE / 2, MIDDLE - TILE + 1
        parts += [
            box(f"at {step}", corner, (TILE, TILE), BLUE, 0.25, 0),
            word(f"does {step}", x, MIDDLE + 24, step, size=SMALL, weight=700 if n == at else 400),
        ]
    return [*parts, box("tile", (PLACES[at] - TILE / 2, MIDDLE - TILE + 1), (TILE, TILE), BLUE)]


def _both(rows: Rows) -> list[Part]:
    """Each way over its time: six trips of all scores, or a tile that stays on the chip."""
    (wide, tall), (chip, low) = SMALL_MEMORY, SMALL_CHIP
    road, x = (LEFT + wide + 5, RIGHT - chip - 5), RIGHT - chip / 2
    middles = {way: top + UNDER for way, top in ENDS.items()}
    parts = _bars(rows, TRIPS, ENDS, True)
    for way, y in middles.items():
        key = "" if way == "naive" else " of the call"
        parts += [
            box(f"memory{key}", (LEFT, y - tall / 2), (wide, tall), GREY, 0.14, 0),
            box(f"chip{key}", (RIGHT - chip, y - low / 2), (chip, low), GREY, 0.14, 0),
            word(f"memory's name{key}", LEFT + wide / 2, y - 11, "memory", GREY, size=SMALL),
            word(f"chip's name{key}", x + 14 * (key > ""), y + 6, "chip", GREY, size=SMALL),
        ]
    up, y = middles.values()
    for n in range(1, TRIPS + 1):
        ends, at = road[::-1] if n % 2 else road, up + CLOSE * (n - (TRIPS + 1) / 2)
        parts.append(_arrow(f"trip {n}", ends, at, 1, FINE, BLUE))
    return [
        *parts,
        box("held", (LEFT + 8, up - 6), (wide - 16, 28), BLUE, 0.4, 0),
        word("bytes", LEFT + wide / 2, up + 14, _size(), size=SMALL, weight=700),
        word("inputs of the call", LEFT + wide / 2, y + 16, "q, k, v", GREY, size=SMALL),
        _arrow("comes", road, y - CLOSE, 1, THIN, GREY),
        _arrow("goes", road[::-1], y + CLOSE, 1, THIN, GREY),
        box("tile", (x - TILE - 7, y - TILE / 2), (TILE, TILE), BLUE),
    ]


def _arrow(
    key: str, ends: Place, y: float, share: float, size: tuple[float, ...], colour: Colour
) -> Part:
    """An arrow from x to x that has come a share of its way."""
    (start, end), (shaft, wing, head) = ends, size
    tip = start + (end - start) * share
    back = tip - math.copysign(head * share, end - start)
    upper = [(start, y - shaft), (back, y - shaft), (back, y - wing), (tip, y)]
    lower = [(back, y + wing), (back, y + shaft), (start, y + shaft)]
    return area(key, [*upper, *lower], colour, opacity=float(share > 0))


def _size() -> str:
    """Of all scores."""
    return f"{scores_in_bytes() / 1e9:.2g} GB"


def _moved() -> str:
    return f"{TRIPS} trips ≥ {1000 * TRIPS * trip():.3g} ms"


def _ms(seconds: float) -> str:
    return f"{1000 * seconds:.2g} ms"
