"""Lesson 13 opens with where the time goes: one attention, by two ways, on one GPU.

Both times are bars on one scale, from left to right, each between the chip over it and memory under
it. In attend's are six trips of its scores, to memory or back. An arrow is as wide as its trip's
least time: all bytes of the scores, at the fastest that this memory was measured to be. The scores
of PyTorch's call stay on the chip, a tile at a time. Under both memories is computing's least
time, at the fastest that was measured: with all trips it is longer than attend took, so some of
both is at the same time. What else travels is little, and not drawn. All that was measured is the
newest that is recorded beside the lesson, for its longest text, in float16.
"""

from __future__ import annotations

from typing import Any

from attnlab.figures.live.film import Film, Frame
from attnlab.figures.live.parts import INK, SMALL, Part, area, box, word
from attnlab.figures.palette import BLUE, GREEN, GREY, GROUND, ORANGE, PURPLE
from attnlab.lessons.gpu_sdpa.kept import recorded

WAYS = {"naive": "attend", "sdpa": "PyTorch's call"}  # as recorded
WIDTH = 128  # of a head
SCORE = 2  # bytes of a score in float16
TRIPS = 6  # of all scores, to memory or back, in `bench.ways.naive`
TILES = 4  # that are drawn
DONE = (0, 1, 3, 5, 6, 6)  # trips, in each frame but the last

HIGH, LEFT, LONG = 270, 0, 340  # of the sheet; its edge; the longer bar
LANE, ASIDE, PAST = 394, 402, 12  # its right end; names of places; from a bar to words
TOPS, TALL = {"naive": 32, "sdpa": 177}, 70  # of the bars; how high they are
NAME, FOOT = 15, 5  # a name over its bar; high: a place
COMPUTES, TILE, TIP, AIR = 10, 12, 14, 8  # high: computing, a tile, an arrow's tip; off memory
BIG, HERO = 22, 34  # sizes of names and times
DIM, FAST = 0.45, 232  # what waits; where it says how fast
LOWER = 10  # numbers under words about tiles


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
        "PyTorch's call does all four steps on the chip, a tile at a time. No score travels.",
        f"Six trips fill most of attend's {slow}; it computes partly at the same time. "
        "In PyTorch's call no scores travel.",
    )
    sheets = [_sheet(trips, dim=0 < trips < TRIPS) for trips in DONE]
    sheets[4] = _sheet(TRIPS, dim=True)
    sheets[5] += [*_stays(), _total("sdpa", f"0 × {_size()}")]
    sheets.append([*_sheet(TRIPS, ends=True), *_stays(), *_computing()])
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


def _sheet(trips: int, dim: bool = False, ends: bool = False) -> list[Part]:
    """Both bars, the call's dim or not, and what attend's scores have done."""
    low = LOWER * (trips == TRIPS and not dim)
    parts = [*_bar("naive"), *_bar("sdpa", low, DIM if dim else 1), *_arrows(trips)]
    if trips:
        least = f"{TRIPS} trips: at least {1000 * TRIPS * trip():.3g} ms"
        parts += [_total("naive", least if ends else f"{trips} × {_size()}"), *_places("naive")]
    return parts


def _bar(way: str, low: float = 0, opacity: float = 1) -> list[Part]:
    """A time, its name over it and its number at its end, so far under the middle."""
    top, long = TOPS[way], _long(longest()[way]["seconds"])
    x, y, time = LEFT + long + PAST, top + TALL / 2 + 12 + low, _ms(longest()[way]["seconds"])
    return [
        word(f"name {way}", LEFT, top - NAME, WAYS[way], INK, "start", BIG, 700, opacity),
        box(f"bar {way}", (LEFT, top), (long, TALL), ORANGE, 0.22, opacity=opacity),
        word(f"time {way}", x, y, time, ORANGE, "start", HERO, 700, opacity),
    ]


def _total(way: str, text: str) -> Part:
    """Of all trips, over the end of a lane."""
    return word(f"total {way}", LANE, TOPS[way] - NAME, text, BLUE, "end", SMALL, 700)


def _arrows(trips: int) -> list[Part]:
    """The first trips, in attend's bar, side by side as wide as each takes."""
    top, wide, parts = TOPS["naive"], _long(trip()), list[Part]()
    for n in range(1, TRIPS + 1):
        far, (left, right) = float(n <= trips), (LEFT + wide * (n - 1), LEFT + wide * n - 1.5)
        start, way = (top, 1) if n % 2 else (top + TALL, -1)
        tip, x = start + way * TALL * far, (left + right) / 2
        back = tip - way * TIP * far
        corners = [(left, start), (left, back), (x, tip), (right, back), (right, start)]
        parts.append(area(f"trip {n}", corners, BLUE, opacity=far))
        if far:
            y = top + TALL / 2 + 6
            parts.append(word(f"number {n}", x, y, f"{n}", GROUND, size=SMALL, weight=700))
    return parts


def _places(way: str) -> list[Part]:
    """The chip, over a bar, and memory, under it."""
    parts = []
    for name, y, filled in (("chip", TOPS[way] - FOOT, 1), ("memory", TOPS[way] + TALL, 0.5)):
        parts.append(box(f"{name} {way}", (LEFT, y), (LANE - LEFT, FOOT), GREY, filled))
        parts.append(word(f"is {name} {way}", ASIDE, y + 8, name, GREY, "start", SMALL))
    return parts


def _stays() -> list[Part]:
    """Tiles of the call's scores, one after another, at the chip."""
    top, long = TOPS["sdpa"] + 4, _long(longest()["sdpa"]["seconds"])
    x = [LEFT + long * (n + 0.5) / TILES - TILE / 2 for n in range(TILES)]
    tiles = [box(f"tile {n}", (at, top), (TILE, TILE), PURPLE) for n, at in enumerate(x)]
    says = word("tiles", LEFT + long + PAST, top + 12, "scores, in tiles", PURPLE, "start", SMALL)
    return [*_places("sdpa"), *tiles, says]


def _computing() -> list[Part]:
    """Its least time under both memories, and how much sooner the call is done."""
    slow, fast = (longest()[way]["seconds"] for way in WAYS)
    long, below = _long(computing()), TALL + FOOT + AIR
    feet = [
        box(f"computes {way}", (LEFT, top + below), (long, COMPUTES), GREEN)
        for way, top in TOPS.items()
    ]
    x, y, least = LEFT + _long(fast) + PAST, TOPS["naive"] + below + 11, _ms(computing())
    says, times = f"computing: at least {least}, in both", f"{slow / fast:.0f}× as fast"
    return [
        *feet,
        word("least", x, y, says, GREEN, "start", SMALL),
        word("fast", FAST, TOPS["sdpa"] + TALL / 2 + 12 + LOWER, times, INK, "start", HERO, 700),
        _total("sdpa", "0 trips of scores"),
    ]


def _size() -> str:
    """Of all scores."""
    return f"{scores_in_bytes() / 1e9:.2g} GB"


def _ms(seconds: float) -> str:
    return f"{1000 * seconds:.2g} ms"
