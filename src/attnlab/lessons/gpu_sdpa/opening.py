"""Lesson 13 opens with where the time goes: one attention, by two ways, on one GPU.

Both times are bars on one scale, from left to right; a chip works in them, over a memory. Attend's
scores travel between the two, six times; an arrow is as wide as its trip's least time: all bytes of
the scores, at the fastest that this memory was measured to be. The scores of PyTorch's call stay on
the chip, a tile at a time; in its bar is computing's least time, at the fastest that was measured.
Attend computes as long, beside its trips. What else attend reads and writes is little, and not
drawn. All that was measured is the newest that is recorded beside the lesson, for its longest text,
in float16.
"""

from __future__ import annotations

from typing import Any

from attnlab.figures.live.film import Film, Frame
from attnlab.figures.live.parts import SMALL, Part, area, box, places, word
from attnlab.figures.palette import BLUE, GREEN, GREY, GROUND, ORANGE, Colour
from attnlab.lessons.gpu_sdpa.kept import recorded

WAYS = {"naive": "attend", "sdpa": "PyTorch's call"}  # as recorded
WIDTH = 128  # of a head
SCORE = 2  # bytes of a score in float16
TRIPS = 6  # of all scores, to memory or back, in `bench.ways.naive`
STEPS = {"scores": 1, "scale": 3, "softmax": 5, "mix": 6}  # and trips when each is over

HIGH, LEFT, RIGHT = 270, 6, 474  # of the sheet; its edges
TOPS = {"naive": 30.0, "sdpa": 172.0}  # of bars
BAR, GAP, MEMORY, HERO = 26, 50, 22, 28  # thick; from there to memory, and that; size of times
FAT, THIN = (24, 32, 18), (1, 5, 9)  # half a shaft's thickness, half a tip's, and its length
CALLS, DEEP, TILE = 224, 56, 22  # of what is on the chip in PyTorch's call: left, height; a tile
Rows = dict[str, dict[str, Any]]


def opening() -> Film:
    """The film."""
    newest, rows = recorded()[0], longest()
    n, device = rows["naive"]["n"], " ".join(newest["device"].split()[:2])
    slow, fast = (_ms(rows[way]["seconds"]) for way in WAYS)
    told = (
        f"{device}, {n:,} tokens, {_run()['heads']} heads: the same answer, in {slow} or {fast}. "
        "Guess why.",
        f"attend writes {_size()} of scores to memory. At the best speed measured: {_ms(trip())}, "
        "the arrow's width.",
        "It reads them back, only to scale them, and writes them again.",
        "Back for the softmax, which writes as many weights.",
        f"And back for the mix: six trips, most of the {slow}.",
        "PyTorch's call takes a tile of scores through all four steps on the chip. "
        "No score travels.",
        f"Both ways have to compute: at least {_ms(computing())}, at the best speed measured.",
        f"Scores that travel: {slow}, at least {1000 * TRIPS * trip():.3g} of it trips. "
        f"Scores that stay: {fast}, at least {1000 * computing():.2g} of it computing.",
    )
    sheets = [_attend(rows, trips) for trips in (0, *STEPS.values(), TRIPS, TRIPS, TRIPS)]
    for n, step in enumerate(("scores", "mix", "scores"), 5):
        sheets[n] += _call(step)
    for n in (6, 7):
        sheets[n] += _computes()
    frames = [Frame(*each) for each in zip(sheets, told, strict=True)]
    return Film(f"Where do {slow} go?", frames, HIGH)


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


def _long(seconds: float) -> float:
    """A time, drawn."""
    return (RIGHT - LEFT) * seconds / float(longest()["naive"]["seconds"])


def _attend(rows: Rows, trips: int) -> list[Part]:
    """Both bars over memories, and what attend's scores have done so far."""
    parts: list[Part] = []
    for way, name in WAYS.items():
        seconds, top, low = rows[way]["seconds"], TOPS[way], TOPS[way] + BAR + GAP
        at = (RIGHT, top - 7, "end") if way == "naive" else (LEFT + _long(seconds) + 10, top + 24)
        parts += [
            box(f"bar {way}", (LEFT, top), (_long(seconds), BAR), ORANGE, 0.22),
            box(f"memory {way}", (LEFT, low), (RIGHT - LEFT, MEMORY), GREY, 0.16),
            word(f"name {way}", LEFT, top - 7, name, anchor="start", weight=700),
            word(f"time {way}", at[0], at[1], _ms(seconds), ORANGE, (*at, "start")[2], HERO, 700),
            word(f"memory's name {way}", LEFT + 8, low + 17, "memory", GREY, "start", SMALL),
        ]
    top, wide, before = TOPS["naive"] + BAR, _long(trip()), 0
    parts.append(word("chip", RIGHT - 8, top - 7, "chip", GREY, "end", SMALL))
    for n in range(1, TRIPS + 1):
        x, ends = LEFT + wide * (n - 0.5), (top + 2, top + GAP - 2)
        going = ends if n % 2 else ends[::-1]
        parts.append(_arrow(f"trip {n}", x, going, float(n <= trips), FAT, BLUE))
        if n <= trips:
            parts.append(word(f"number {n}", x, top + GAP / 2 + 7, f"{n}", GROUND, weight=700))
    for step, over in STEPS.items():
        if over <= trips:
            x = LEFT + wide * (before + over) / 2
            parts.append(word(f"step {step}", x, top - 7, step, size=SMALL))
        before = over
    if trips:
        says = f"{trips} × {_size()}: at least {1000 * trips * trip():.1f} ms"
        x, y = LEFT + wide * TRIPS, top + GAP + 17
        parts.append(word("moved", x, y, says, BLUE, "end", SMALL, 700))
    return parts


def _call(step: str) -> list[Part]:
    """A tile of the scores on the chip, at one of the steps there."""
    top, low = TOPS["sdpa"] - 2, TOPS["sdpa"] + BAR + GAP
    middles = dict(zip(STEPS, places(list(STEPS), SMALL, 10, CALLS + 4), strict=True))
    ends, first, last = (top + DEEP + 2, low - 2), middles["scores"], middles["mix"]
    parts = [
        box("chip of the call", (CALLS, top), (RIGHT - CALLS, DEEP), ORANGE, 0.22),
        word("by tiles", RIGHT, top - 6, "chip, a tile at a time", GREY, "end", SMALL),
        _arrow("comes", first, ends[::-1], 1, THIN, GREY),
        _arrow("goes", last, ends, 1, THIN, GREY),
        word("inputs", first, low + 17, "q, k, v", GREY, size=SMALL),
        word("outputs", RIGHT - 8, low + 17, "answer", GREY, "end", SMALL),
    ]
    for name, x in middles.items():
        parts += [
            box(f"at {name}", (x - TILE / 2, top + 8), (TILE, TILE), GROUND),
            word(f"does {name}", x, top + 48, name, size=SMALL),
        ]
    return [*parts, box("tile", (middles[step] - TILE / 2, top + 8), (TILE, TILE), BLUE)]


def _computes() -> list[Part]:
    """What computing takes at least, in the bar of PyTorch's call."""
    top, says = TOPS["sdpa"], (f"at least {_ms(computing())}", "of computing")
    return [
        box("computes", (LEFT, top), (_long(computing()), BAR), GREEN),
        *(
            word(f"computing {n}", LEFT, top + 45 + 20 * n, each, GREEN, "start", SMALL, 700)
            for n, each in enumerate(says)
        ),
    ]


def _arrow(
    key: str,
    x: float,
    ends: tuple[float, float],
    share: float,
    size: tuple[float, ...],
    colour: Colour,
) -> Part:
    """An arrow from y to y that has come a share of its way."""
    (start, end), (shaft, wing, head) = ends, size
    tip = start + (end - start) * share
    back = tip - (head if end > start else -head) * share
    left = [(x - shaft, start), (x - shaft, back), (x - wing, back), (x, tip)]
    right = [(x + wing, back), (x + shaft, back), (x + shaft, start)]
    return area(key, [*left, *right], colour, opacity=float(share > 0))


def _size() -> str:
    """Of all scores."""
    return f"{scores_in_bytes() / 1e9:.2g} GB"


def _ms(seconds: float) -> str:
    return f"{1000 * seconds:.2g} ms"
