"""Lesson 13 opens with where the time goes: one attention, by two ways, on one GPU.

Both times are bars on one scale, from left to right, each between the chip over it and memory under
it. In attend's are six trips of its scores, to memory or back. An arrow is as wide as its trip's
least time: all bytes of the scores, at the fastest that this memory was measured to be. The scores
of PyTorch's call stay on the chip, a tile at a time. The last frame adds computing's least time, at
the fastest that was measured: with all trips it is longer than attend took, so some of both is at
the same time. What else travels is little, and not drawn. All that was measured is the newest that
is recorded beside the lesson, for its longest text, in float16.
"""

from __future__ import annotations

from typing import Any

from attnlab.figures.live.film import Film, Frame
from attnlab.figures.live.parts import INK, SMALL, WIDE, Part, area, box, word
from attnlab.figures.palette import BLUE, GREEN, GREY, GROUND, ORANGE, PURPLE
from attnlab.lessons.gpu_sdpa.kept import recorded

WAYS = {"naive": "attend", "sdpa": "PyTorch’s call"}  # as recorded
WIDTH = 128  # of a head
SCORE = 2  # bytes of a score in float16
TRIPS = 6  # of all scores, to memory or back, in `bench.ways.naive`
TILES = 4  # that are drawn
DONE = (0, 1, 3, 5, 6, 6)  # trips, in each frame but the last

HIGH, LONG, PAST = 270, 352, 12  # of the sheet; the longer bar; from a bar to words
TOPS, TALL = {"naive": 32, "sdpa": 176}, 62  # of the bars; how high they are
NAME, FOOT = 15, 5  # a name over its bar; high: a place
TILE, TIP, UNDER = 12, 14, 26  # high: a tile, a tip; words under a bar
BIG, HERO, DIM = 22, 34, 0.45  # sizes of names and times; what waits


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
        f"Six trips fill most of attend’s {slow}, partly while it computes. "
        "PyTorch’s call moves only Q, K, V and the output.",
    )
    sheets = [_sheet(trips, dim=0 < trips < TRIPS) for trips in DONE]
    sheets[4] = _sheet(TRIPS, dim=True)
    sheets[5] += [*_tiles(), _total("sdpa", f"0 × {_size()}")]
    sheets.append([*_sheet(TRIPS, ends=True), _total("sdpa", "0 trips of scores")])
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
    slow, fast = (longest()[way]["seconds"] for way in WAYS)
    y, times, seen = _middle("sdpa"), f"{slow / fast:.0f}× as fast", DIM if dim else 1
    parts = [
        *_bar("naive", ends),
        *_arrows(trips),
        *_bar("sdpa", ends, seen),
        word("fast", WIDE, y, times, INK, "end", HERO, 700, seen),
    ]
    for name, up in (("chip", -FOOT), ("memory", TALL)):
        at = LONG + PAST, TOPS["naive"] + up + 8
        parts.append(word(f"is {name}", *at, name, GREY, "start", SMALL))
    if trips:
        least = f"{TRIPS} trips ≥ {1000 * TRIPS * trip():.3g} ms"
        parts.append(_total("naive", least if ends else f"{trips} × {_size()}"))
    return parts


def _bar(way: str, ends: bool, opacity: float = 1) -> list[Part]:
    """A time between the chip and memory, its name over it and its number at its end."""
    top, long, time = TOPS[way], _long(longest()[way]["seconds"]), _ms(longest()[way]["seconds"])
    x, y, wide = long + PAST, _middle(way), _long(computing())
    parts = [
        word(f"name {way}", 0, top - NAME, WAYS[way], INK, "start", BIG, 700, opacity),
        box(f"bar {way}", (0, top), (long, TALL), ORANGE, 0.22, opacity=opacity),
        box(f"chip {way}", (0, top - FOOT), (long, FOOT), GREY, 1, opacity=opacity),
        box(f"memory {way}", (0, top + TALL), (long, FOOT), GREY, 0.5, opacity=opacity),
        word(f"time {way}", x, y, time, ORANGE, "start", HERO, 700, opacity),
    ]
    if ends:  # what it computes is at its end
        says, under = f"computing ≥ {_ms(computing())}", top + TALL + UNDER
        left, at, anchor = (long - wide, long, "end") if way == "naive" else (0, 0, "start")
        parts += [
            box(f"computes {way}", (left, top), (wide, TALL), GREEN),
            word(f"least {way}", at, under, says, GREEN, anchor, SMALL, 700),
        ]
    return parts


def _middle(way: str) -> float:
    """The line of big words beside a bar."""
    return TOPS[way] + TALL / 2 + 12


def _total(way: str, text: str) -> Part:
    """Of all trips, over the end of the longer bar."""
    return word(f"total {way}", LONG, TOPS[way] - NAME, text, BLUE, "end", SMALL, 700)


def _arrows(trips: int) -> list[Part]:
    """The first trips, in attend's bar, side by side as wide as each takes."""
    top, wide, parts = TOPS["naive"], _long(trip()), list[Part]()
    for n in range(1, TRIPS + 1):
        far, (left, right) = float(n <= trips), (wide * (n - 1), wide * n - 1.5)
        start, way = (top, 1) if n % 2 else (top + TALL, -1)
        tip, x = start + way * TALL * far, (left + right) / 2
        back = tip - way * TIP * far
        corners = [(left, start), (left, back), (x, tip), (right, back), (right, start)]
        parts.append(area(f"trip {n}", corners, BLUE, opacity=far))
        if far:
            y = top + TALL / 2 + 6
            parts.append(word(f"number {n}", x, y, f"{n}", GROUND, size=SMALL, weight=700))
    return parts


def _tiles() -> list[Part]:
    """Tiles of the call's scores, one after another, at the chip."""
    top, long = TOPS["sdpa"] + 4, _long(longest()["sdpa"]["seconds"])
    x = [long * (n + 0.5) / TILES - TILE / 2 for n in range(TILES)]
    tiles = [box(f"tile {n}", (at, top), (TILE, TILE), PURPLE) for n, at in enumerate(x)]
    says = word(
        "least sdpa", 0, TOPS["sdpa"] + TALL + UNDER, "scores, in tiles", PURPLE, "start", SMALL
    )
    return [*tiles, says]


def _size() -> str:
    """Of all scores."""
    return f"{scores_in_bytes() / 1e9:.2g} GB"


def _ms(seconds: float) -> str:
    return f"{1000 * seconds:.2g} ms"
