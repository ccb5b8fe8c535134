"""Lesson 13 opens with where the time goes: one attention, by two ways, on one GPU.

Both times are bars on one scale, from left to right. In attend's are six trips of its scores, from
the chip to memory or back. An arrow is as wide as its trip's least time: all bytes of the scores,
at the fastest that this memory was measured to be. The scores of PyTorch's call stay on the chip,
a tile at a time. In its bar is computing's least time, at the fastest that was measured; attend
computes as long, beside its trips. What else travels is little, and not drawn. All that was
measured is the newest that is recorded beside the lesson, for its longest text, in float16.
"""

from __future__ import annotations

from typing import Any

from attnlab.figures.live.film import Film, Frame
from attnlab.figures.live.parts import SMALL, Part, area, box, line, word
from attnlab.figures.palette import BLUE, GREEN, GREY, GROUND, ORANGE
from attnlab.lessons.gpu_sdpa.kept import recorded

WAYS = {"naive": "attend", "sdpa": "PyTorch's call"}  # as recorded
WIDTH = 128  # of a head
SCORE = 2  # bytes of a score in float16
TRIPS = 6  # of all scores, to memory or back, in `bench.ways.naive`
STEPS = {"scores": 1, "scale": 3, "softmax": 5, "mix": 6}  # and trips when each is over

HIGH, LEFT, RIGHT, LONG = 268, 6, 474, 344  # of the sheet; its edges; the longer bar
ATTEND, CALL, TALL = (38, 54), (182, 54), (76, 116)  # bars' tops and heights; attend's with trips
BAND, CHIP, TILE, HEAD = 28, 80, 32, 18  # high: attend's chip and memory, the call's, a tile, a tip
BIG, HERO = 24, 34  # sizes of names and times
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
        f"Scores that travel: {slow}, most of it trips. "
        f"Scores that stay: {fast}, most of it computing.",
    )
    all_six = [*_bar("naive", ATTEND), *_arrows(TRIPS, ATTEND)]
    sheets = [
        [*_bar("naive", ATTEND), *_bar("sdpa", CALL), *_arrows(0, ATTEND)],
        *(_travels(*each) for each in STEPS.items()),
        *([*all_six, _name("sdpa", CALL[0] - 12), *_stays(step)] for step in ("scores", "mix")),
        [*all_six, *_bar("sdpa", CALL), *_least()],
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


def _name(way: str, y: float) -> Part:
    return word(f"name {way}", LEFT, y, WAYS[way], anchor="start", size=BIG, weight=700)


def _bar(way: str, at: Bar, name: Bar | None = None) -> list[Part]:
    """A time, its name over it and its number at its end."""
    (top, high), seconds = at, longest()[way]["seconds"]
    x, y = LEFT + _long(seconds) + 12, top + high / 2 + 12
    return [
        _name(way, (name or at)[0] - 12),
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


def _sum(trips: int, y: float, says: str) -> list[Part]:
    """What trips did, or took, under their bracket."""
    right = LEFT + trips * _long(trip()) - 1
    ends = [(LEFT + 1, y), (LEFT + 1, y + 6), (right, y + 6), (right, y)]
    said = word("sum", LEFT, y + 26, says, BLUE, "start", SMALL, 700)
    return [line("bracket", ends, BLUE), said]


def _travels(step: str, trips: int) -> list[Part]:
    """What attend's scores have done after a step on the chip."""
    chip, memory = TALL[0] - BAND - 6, sum(TALL) + 6
    return [
        *_bar("naive", TALL, ATTEND),
        *_arrows(trips, TALL),
        box("chip", (LEFT, chip), (LONG, BAND), GREY, 0, 2),
        box("memory", (LEFT, memory), (LONG, BAND), GREY, 0.22),
        word("chip's name", LEFT + 10, chip + 20, "chip", GREY, "start", SMALL),
        word("step", LEFT + LONG - 10, chip + 20, step, anchor="end", size=SMALL, weight=700),
        word("memory's name", LEFT + 10, memory + 20, "memory", GREY, "start", SMALL),
        *_sum(trips, memory + BAND + 6, f"{trips} × {_size()}"),
    ]


def _stays(step: str) -> list[Part]:
    """A tile of the scores on the chip, at one of the steps there."""
    top, wide = CALL[0], (RIGHT - LEFT) / len(STEPS)
    parts = [
        word("where", RIGHT, top - 12, "chip", GREY, "end", SMALL),
        box("call's chip", (LEFT, top), (RIGHT - LEFT, CHIP), GREY, 0, 2),
    ]
    at = {name: LEFT + wide * (n + 0.5) for n, name in enumerate(STEPS)}
    for name, x in at.items():
        parts.append(box(f"at {name}", (x - TILE / 2, top + 12), (TILE, TILE), GREY, 0.22))
        parts.append(word(f"does {name}", x, top + 68, name, size=SMALL))
    return [*parts, box("tile", (at[step] - TILE / 2, top + 12), (TILE, TILE), BLUE)]


def _least() -> list[Part]:
    """What fills both bars, at least, and beside them the tile, on its chip."""
    (top, high), x = CALL, RIGHT - CHIP
    says = f"computing: at least {_ms(computing())}"
    return [
        *_sum(TRIPS, sum(ATTEND) + 6, f"trips: at least {1000 * TRIPS * trip():.3g} ms"),
        box("computes", (LEFT, top), (_long(computing()), high), GREEN),
        word("computing", LEFT, top + high + 24, says, GREEN, "start", SMALL, 700),
        box("call's chip", (x, top), (CHIP, CHIP), GREY, 0, 2),
        word("where", x + CHIP / 2, top + 68, "chip", GREY, size=SMALL),
        box("tile", (x + (CHIP - TILE) / 2, top + 12), (TILE, TILE), BLUE),
        word("stay", x - 16, top + 36, "scores stay", BLUE, "end", SMALL, 700),
        word("there", x - 16, top + 58, "on the chip", BLUE, "end", SMALL, 700),
    ]


def _size() -> str:
    """Of all scores."""
    return f"{scores_in_bytes() / 1e9:.2g} GB"


def _ms(seconds: float) -> str:
    return f"{1000 * seconds:.2g} ms"
