"""Lesson 13 opens with where the time goes: one attention, by two ways, on one GPU.

Both times are bars on one scale, from left to right, each between the chip over it and memory under
it. In attend's are six trips of its scores, to memory or back. An arrow is as wide as its trip's
least time: all bytes of the scores, at the fastest that this memory was measured to be. The scores
of PyTorch's call stay on the chip, a tile at a time. The last frame adds computing's least time, at
the fastest that was measured, in a lane under each bar: with all trips it is longer than attend
took, so some of both is at the same time. What else travels is little, and not drawn. All that was
measured is the newest that is recorded beside the lesson, for its longest text, in float16.
"""

from __future__ import annotations

from typing import Any

from attnlab.figures.live.film import Film, Frame
from attnlab.figures.live.parts import INK, SMALL, Part, area, box, word
from attnlab.figures.palette import BLUE, GREEN, GREY, GROUND, ORANGE, PURPLE
from attnlab.lessons.gpu_sdpa.kept import recorded

WAYS = {"naive": "attend", "sdpa": "PyTorch’s call"}  # as recorded
WIDTH = 128  # of a head
SCORE = 2  # bytes of a score in float16
TRIPS = 6  # of all scores, to memory or back, in `bench.ways.naive`
TILES = 4  # that are drawn
DONE = (0, 1, 3, 5, 6, 6)  # trips, in each frame but the last

HIGH, LONG, PAST = 270, 352, 12  # of the sheet; the longer bar; from a bar to words
TOPS, TALL = {"naive": 32, "sdpa": 174}, 86  # of the bars; how high they are
NAME, FOOT = 14, 5  # a name over its bar; high: a place
TILE, TIP = 12, 14  # high
LANE, ROOM = 12, 26  # high: computing's lane, and what the bar over it leaves for it
BIG, HERO, DIM = 22, 34, 0.45  # sizes of names and times; what waits
FAST = 222  # where it says how much faster


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
        "PyTorch’s call does all four steps on the chip, a tile at a time. No score travels.",
        f"Both compute for at least {_ms(computing())}. Only attend moves its scores, "
        f"for at least {1000 * TRIPS * trip():.3g} ms, partly while it computes.",
    )
    sheets = [_sheet(trips, dim=0 < trips < TRIPS) for trips in DONE]
    sheets[4] = _sheet(TRIPS, dim=True)
    sheets[5] += [*_tiles(), _total("sdpa", f"0 × {_size()}")]
    sheets.append([*_sheet(TRIPS, TALL - ROOM), *_ends()])
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


def _sheet(trips: int, tall: float = TALL, dim: bool = False) -> list[Part]:
    """Both bars, so tall, the call's dim or not, and what attend's scores have done."""
    parts = [*_bar("naive", tall), *_arrows(trips, tall), *_bar("sdpa", tall, DIM if dim else 1)]
    for name, up in (("chip", -FOOT), ("memory", tall)):
        at = LONG + PAST, TOPS["naive"] + up + 8
        parts.append(word(f"is {name}", *at, name, GREY, "start", SMALL))
    if trips and tall == TALL:
        parts.append(_total("naive", f"{trips} × {_size()}"))
    return parts


def _bar(way: str, tall: float, opacity: float = 1) -> list[Part]:
    """A time between the chip and memory, its name over it and its number at its end."""
    top, long, time = TOPS[way], _long(longest()[way]["seconds"]), _ms(longest()[way]["seconds"])
    at = long + PAST, top + tall / 2 + 12
    return [
        word(f"name {way}", 0, top - NAME, WAYS[way], INK, "start", BIG, 700, opacity),
        box(f"bar {way}", (0, top), (long, tall), ORANGE, 0.22, opacity=opacity),
        box(f"chip {way}", (0, top - FOOT), (long, FOOT), GREY, 1, opacity=opacity),
        box(f"memory {way}", (0, top + tall), (long, FOOT), GREY, 0.5, opacity=opacity),
        word(f"time {way}", *at, time, ORANGE, "start", HERO, 700, opacity),
    ]


def _ends() -> list[Part]:
    """What the last frame adds: trips, computing, and how much faster the call is."""
    parts, x = list[Part](), _long(longest()["sdpa"]["seconds"]) + PAST
    for way, trips in zip(WAYS, (TRIPS, 0), strict=True):
        top = TOPS[way] + TALL + FOOT - LANE
        parts += [
            _total(way, f"{trips} trips of scores"),
            box(f"computes {way}", (0, top), (_long(computing()), LANE), GREEN),
            word(f"least {way}", x, top + LANE, "computing", GREEN, "start", SMALL, 700),
        ]
    slow, fast = (longest()[way]["seconds"] for way in WAYS)
    at = FAST, TOPS["sdpa"] + (TALL - ROOM) / 2 + 12
    return [*parts, word("fast", *at, f"{slow / fast:.0f}× as fast", INK, "start", HERO, 700)]


def _total(way: str, text: str) -> Part:
    """Of all trips, over the end of the longer bar."""
    return word(f"total {way}", LONG, TOPS[way] - NAME, text, BLUE, "end", SMALL, 700)


def _arrows(trips: int, tall: float) -> list[Part]:
    """The first trips, in attend's bar, side by side as wide as each takes."""
    top, wide, parts = TOPS["naive"], _long(trip()), list[Part]()
    for n in range(1, TRIPS + 1):
        far, (left, right) = float(n <= trips), (wide * (n - 1), wide * n - 1.5)
        start, way = (top, 1) if n % 2 else (top + tall, -1)
        tip, x = start + way * tall * far, (left + right) / 2
        back = tip - way * TIP * far
        corners = [(left, start), (left, back), (x, tip), (right, back), (right, start)]
        parts.append(area(f"trip {n}", corners, BLUE, opacity=far))
        if far:
            y = top + tall / 2 + 8
            parts.append(word(f"number {n}", x, y, f"{n}", GROUND, size=BIG, weight=700))
    return parts


def _tiles() -> list[Part]:
    """Tiles of the call's scores, one after another, at the chip."""
    top, long = TOPS["sdpa"] + 4, _long(longest()["sdpa"]["seconds"])
    x = [long * (n + 0.5) / TILES - TILE / 2 for n in range(TILES)]
    tiles = [box(f"tile {n}", (at, top), (TILE, TILE), PURPLE) for n, at in enumerate(x)]
    at = long + PAST, top + TILE
    says = word("tiles", *at, "scores, in tiles", PURPLE, "start", SMALL)
    return [*tiles, says]


def _size() -> str:
    """Of all scores."""
    return f"{scores_in_bytes() / 1e9:.2g} GB"


def _ms(seconds: float) -> str:
    return f"{1000 * seconds:.2g} ms"
