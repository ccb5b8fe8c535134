"""Lesson 13 opens with where the time goes: one attention, by two ways, on one GPU.

Both times are bars on one scale, from left to right. In attend's are six trips of its scores, from
the chip to memory or back. An arrow is as wide as its trip's least time: all bytes of the scores,
at the fastest that this memory was measured to be. The scores of PyTorch's call stay on the chip,
a tile at a time. Under the arrows, and in the call's bar, is computing's least time, at the fastest
that was measured: with all trips it is longer than attend took, so some of both is at the same
time. What else travels is little, and not drawn. All that was measured is the newest that is
recorded beside the lesson, for its longest text, in float16.
"""

from __future__ import annotations

from typing import Any

from attnlab.figures.live.film import Film, Frame
from attnlab.figures.live.parts import INK, SMALL, Part, area, box, line, word
from attnlab.figures.palette import BLUE, GREEN, GREY, GROUND, ORANGE
from attnlab.lessons.gpu_sdpa.kept import recorded

WAYS = {"naive": "attend", "sdpa": "PyTorch's call"}  # as recorded
WIDTH = 128  # of a head
SCORE = 2  # bytes of a score in float16
TRIPS = 6  # of all scores, to memory or back, in `bench.ways.naive`
STEPS = {"scores": 1, "scale": 3, "softmax": 5, "mix": 6}  # and trips when each is over

HIGH, LEFT, LONG = 268, 6, 344  # of the sheet; its edge; the longer bar
RIGHT, ASIDE = LEFT + LONG, LEFT + LONG + 12  # of the longer bar, and of words beside it
ATTEND, CALL, TALL = (38, 84), (174, 84), (72, 116)  # bars' tops and heights; attend's with trips
SHORT, LOW = (38, 44), (186, 42)  # attend's beside the call's chip; the call's, under it
BAND, CHIP, TILE, HEAD, AIR = 28, 54, 20, 18, 6  # high: a place, the call's chip, a tile, a tip
BIG, HERO, HUGE = 24, 34, 64  # sizes of names, times and how many times as fast
Bar = tuple[float, float]


def opening() -> Film:
    """The film."""
    newest, rows = recorded()[0], longest()
    n, device = rows["naive"]["n"], " ".join(newest["device"].split()[:2])
    slow, fast = (_ms(rows[way]["seconds"]) for way in WAYS)
    told = (
        f"{device}, {n:,} tokens, {_run()['heads']} heads: the same answer, in {slow} or {fast}. "
        "Guess why.",
        f"attend writes {_size()} of scores to memory. "
        "The arrow is as wide as that takes at the best speed measured.",
        "It reads them back, only to scale them, and writes them again.",
        "Back for the softmax, which writes as many weights.",
        f"And back for the mix: six trips, most of the {slow}.",
        "PyTorch's call takes a tile of scores at a time, and keeps it on the chip.",
        "All four steps are done there, and no score travels.",
        f"Scores that travel: {slow}, most of it trips, computing partly meanwhile. "
        f"Scores that stay: {fast}, most of it computing.",
    )
    sheets = [
        [*_bar("naive", ATTEND), *_bar("sdpa", CALL), *_arrows(0, ATTEND)],
        *(_travels(*each) for each in STEPS.items()),
        *(_stays(step) for step in ("scores", "mix")),
        _both(),
    ]
    frames = [Frame(*each) for each in zip(sheets, told, strict=True)]
    return Film(f"Where do {slow} go?", frames, HIGH)


def longest() -> dict[str, dict[str, Any]]:
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
    return LONG * seconds / float(longest()["naive"]["seconds"])


def _bar(way: str, at: Bar, below: float = 0, foot: float = 0) -> list[Part]:
    """A time, its name over it, or over what is so high, its number at its end, over its foot."""
    (top, high), seconds = at, longest()[way]["seconds"]
    x, y = LEFT + _long(seconds) + 12, top + (high - foot) / 2 + 12
    return [
        word(f"name {way}", LEFT, top - below - 12, WAYS[way], INK, "start", BIG, 700),
        box(f"bar {way}", (LEFT, top), (_long(seconds), high), ORANGE, 0.22),
        word(f"time {way}", x, y, _ms(seconds), ORANGE, "start", HERO, 700),
    ]


def _arrows(trips: int, at: Bar) -> list[Part]:
    """The first trips, in attend's bar, each as wide as it takes: down to memory, or up."""
    (top, high), wide, parts = at, _long(trip()), list[Part]()
    for n in range(1, TRIPS + 1):
        x, far = LEFT + wide * (n - 0.5), float(n <= trips)
        start, way = (top + 3, 1) if n % 2 else (top + high - 3, -1)
        tip, shaft, wing = start + way * (high - 6) * far, wide * 0.38, wide / 2 - 1
        back = tip - way * HEAD * far
        left = [(x - shaft, start), (x - shaft, back), (x - wing, back), (x, tip)]
        right = [(x + wing, back), (x + shaft, back), (x + shaft, start)]
        parts.append(area(f"trip {n}", [*left, *right], BLUE, opacity=far))
        if far:
            parts.append(word(f"number {n}", x, top + high / 2 + 7, f"{n}", GROUND, weight=700))
    return parts


def _places(way: str, at: Bar, chip: float) -> list[Part]:
    """The chip, so high, over a bar, and memory under it."""
    above, below = at[0] - chip - AIR, sum(at) + AIR
    return [
        box(f"chip {way}", (LEFT, above), (LONG, chip), GREY, 0, 2),
        box("memory", (LEFT, below), (LONG, BAND), GREY, 0.22),
        word(f"chip's name {way}", ASIDE, above + chip / 2 + 6, "chip", GREY, "start", SMALL),
        word("memory's name", ASIDE, below + BAND / 2 + 6, "memory", GREY, "start", SMALL),
    ]


def _travels(step: str, trips: int) -> list[Part]:
    """What attend's scores have done after a step on the chip."""
    y, right = sum(TALL) + BAND + 2 * AIR, LEFT + trips * _long(trip()) - 1
    ends = [(LEFT + 1, y), (LEFT + 1, y + 6), (right, y + 6), (right, y)]
    return [
        *_bar("naive", TALL, BAND + AIR),
        *_arrows(trips, TALL),
        *_places("naive", TALL, BAND),
        word("step", LEFT + 10, TALL[0] - AIR - 8, step, anchor="start", size=SMALL, weight=700),
        line("bracket", ends, BLUE),
        word("sum", LEFT, y + 26, f"{trips} × {_size()}", BLUE, "start", SMALL, 700),
    ]


def _stays(step: str) -> list[Part]:
    """A tile of the scores on the chip, at one of the steps there."""
    top, wide = LOW[0] - CHIP - AIR, LONG / len(STEPS)
    parts = [*_bar("naive", SHORT), *_arrows(TRIPS, SHORT), *_bar("sdpa", LOW, CHIP + AIR)]
    parts += _places("sdpa", LOW, CHIP)
    at = {name: LEFT + wide * (n + 0.5) for n, name in enumerate(STEPS)}
    for name, x in at.items():
        parts.append(box(f"at {name}", (x - TILE / 2, top + 8), (TILE, TILE), GREY, 0.22))
        parts.append(word(f"does {name}", x, top + 45, name, size=SMALL))
    if step == "mix":
        y = LOW[0] + LOW[1] / 2 + 7
        parts.append(word("none", RIGHT, y, f"0 × {_size()}", BLUE, "end", SMALL, 700))
    return [*parts, box("tile", (at[step] - TILE / 2, top + 8), (TILE, TILE), BLUE)]


def _both() -> list[Part]:
    """What fills both bars, at least: trips, over computing, or computing alone."""
    (top, high), low, rows = ATTEND, CALL[0], longest()
    wide, foot = _long(computing()), high - BAND
    slow, fast = (rows[way]["seconds"] for way in WAYS)
    x, least = LEFT + _long(fast) + 12, f"computing ≥ {_ms(computing())}"
    all_six = f"{TRIPS} trips ≥ {1000 * TRIPS * trip():.3g} ms"
    return [
        *_bar("naive", ATTEND, foot=BAND),
        *_arrows(TRIPS, (top, foot)),
        word("sum", RIGHT, top - 12, all_six, BLUE, "end", weight=700),
        box("computes too", (LEFT, top + foot + 3), (wide, BAND - 6), GREEN),
        word("too", x, top + foot + 20, least, INK, "start", SMALL, 600),
        *_bar("sdpa", CALL, foot=BAND),
        word("none", RIGHT, low - 12, "0 trips of scores", BLUE, "end", weight=700),
        box("computes", (LEFT, low + foot + 3), (wide, BAND - 6), GREEN),
        word("computing", x, low + foot + 20, least, INK, "start", SMALL, 600),
        word("fast", ASIDE, low + foot - 4, f"{slow / fast:.0f}×", INK, "start", HUGE, 700),
        word("as fast", ASIDE, low + foot + 20, "as fast", GREY, "start", SMALL),
    ]


def _size() -> str:
    """Of all scores."""
    return f"{scores_in_bytes() / 1e9:.2g} GB"


def _ms(seconds: float) -> str:
    return f"{1000 * seconds:.2g} ms"
