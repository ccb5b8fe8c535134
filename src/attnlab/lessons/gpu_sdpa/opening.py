"""Lesson 13 opens with where the time goes: one attention, by two ways, on one GPU.

Both times are bars on one scale, from left to right, each between the chip over it and memory under
it. In attend's are six trips of its scores, to memory or back. An arrow is as wide as its trip's
least time: all bytes of the scores, at the fastest that this memory was measured to be. The scores
of PyTorch's call stay on the chip, a tile at a time. At the feet of both bars is computing's least
time, at the fastest that was measured: with all trips it is longer than attend took, so some of
both is at the same time. What else travels is little, and not drawn. All that was measured is the
newest that is recorded beside the lesson, for its longest text, in float16.
"""

from __future__ import annotations

from typing import Any

from attnlab.figures.live.film import Film, Frame
from attnlab.figures.live.parts import INK, SMALL, Part, area, box, word
from attnlab.figures.palette import BLUE, GREEN, GREY, GROUND, ORANGE
from attnlab.lessons.gpu_sdpa.kept import recorded

WAYS = {"naive": "attend", "sdpa": "PyTorch's call"}  # as recorded
WIDTH = 128  # of a head
SCORE = 2  # bytes of a score in float16
TRIPS = 6  # of all scores, to memory or back, in `bench.ways.naive`
TILES = 4  # that are drawn
DONE = (0, 1, 3, 5, 6, 6)  # trips, in each frame but the last

HIGH, LEFT, LONG = 270, 6, 334  # of the sheet; its edge; the longer bar
RIGHT, ASIDE = LEFT + LONG, LEFT + LONG + 12  # of the longer bar, and of words beside it
TOPS, TALL = {"naive": 40, "sdpa": 178}, 76  # of the bars; how high they are
NAME, PLACE, FOOT = 18, 8, 5  # a name over its bar; off it, a place; high
COMPUTES, TILE, HEAD, AIR = 22, 12, 16, 5  # high: computing, a tile, an arrow's tip; between
BIG, HERO, HUGE = 24, 37, 64  # sizes of names, times and how many times as fast


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
        f"Both compute the same. attend's six trips, partly meanwhile, take most of {slow}. "
        f"The call makes none: {fast}.",
    )
    sheets = [_sheet(trips, ends=False) for trips in DONE]
    sheets[-1] += _stays()
    sheets.append([*_sheet(TRIPS, ends=True), *_computing()])
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


def _sheet(trips: int, ends: bool) -> list[Part]:
    """Both bars, and what attend's scores have done."""
    parts = [*_bar("naive"), *_bar("sdpa"), *_arrows(trips, TALL - (COMPUTES + AIR) * ends)]
    if ends:
        return [*parts, _total("naive", f"{TRIPS} trips ≥ {1000 * TRIPS * trip():.3g} ms")]
    if trips:
        parts += [_total("naive", f"{trips} × {_size()}"), *_places("naive")]
    return parts


def _bar(way: str) -> list[Part]:
    """A time, its name over it and its number at its end."""
    top, seconds = TOPS[way], longest()[way]["seconds"]
    x, y = LEFT + _long(seconds) + 12, top + TALL / 2 + 13
    return [
        word(f"name {way}", LEFT, top - NAME, WAYS[way], INK, "start", BIG, 700),
        box(f"bar {way}", (LEFT, top), (_long(seconds), TALL), ORANGE, 0.22),
        word(f"time {way}", x, y, _ms(seconds), ORANGE, "start", HERO, 700),
    ]


def _total(way: str, text: str) -> Part:
    """Of all trips, over the end of the longer bar."""
    return word(f"total {way}", RIGHT, TOPS[way] - NAME, text, BLUE, "end", weight=700)


def _arrows(trips: int, high: float) -> list[Part]:
    """The first trips, so high, in attend's bar, each as wide as it takes: to memory, or back."""
    top, wide, parts = TOPS["naive"], _long(trip()), list[Part]()
    for n in range(1, TRIPS + 1):
        x, far = LEFT + wide * (n - 0.5), float(n <= trips)
        start, way = (top + 2, 1) if n % 2 else (top + high - 2, -1)
        tip, shaft, wing = start + way * (high - 4) * far, wide * 0.38, wide / 2 - 1
        back = tip - way * HEAD * far
        left = [(x - shaft, start), (x - shaft, back), (x - wing, back), (x, tip)]
        right = [(x + wing, back), (x + shaft, back), (x + shaft, start)]
        parts.append(area(f"trip {n}", [*left, *right], BLUE, opacity=far))
        if far:
            parts.append(word(f"number {n}", x, top + high / 2 + 7, f"{n}", GROUND, weight=700))
    return parts


def _places(way: str) -> list[Part]:
    """The chip, over a bar, and memory, under it."""
    parts = []
    for name, y, filled in (("chip", TOPS[way] - PLACE, 1), ("memory", TOPS[way] + TALL + 3, 0.5)):
        parts.append(box(f"{name} {way}", (LEFT, y), (LONG, FOOT), GREY, filled))
        parts.append(word(f"is {name} {way}", ASIDE, y + 9, name, GREY, "start", SMALL))
    return parts


def _stays() -> list[Part]:
    """Tiles of the call's scores, one after another, at the chip."""
    top, apart = TOPS["sdpa"] + 3, _long(longest()["sdpa"]["seconds"]) / TILES
    x = [LEFT + apart * (n + 0.5) - TILE / 2 for n in range(TILES)]
    tiles = [box(f"tile {n}", (at, top), (TILE, TILE), BLUE) for n, at in enumerate(x)]
    return [*_places("sdpa"), _total("sdpa", f"0 × {_size()}"), *tiles]


def _computing() -> list[Part]:
    """Its least time in both bars, and how much sooner the call is done."""
    wide, slow, fast = _long(computing()), *(longest()[way]["seconds"] for way in WAYS)
    y, parts = TALL - COMPUTES - 2, list[Part]()
    for way, top in TOPS.items():
        parts.append(box(f"computes {way}", (LEFT, top + y), (wide, COMPUTES), GREEN))
    least, low = f"computing ≥ {_ms(computing())}", TOPS["sdpa"]
    return [
        *parts,
        word("least", LEFT + wide + 8, TOPS["naive"] + y + 17, least, INK, "start", SMALL, 600),
        _total("sdpa", "0 trips"),
        word("fast", ASIDE, low + 48, f"{slow / fast:.0f}×", INK, "start", HUGE, 700),
        word("as fast", ASIDE, low + TALL - 1, "as fast", GREY, "start", SMALL),
    ]


def _size() -> str:
    """Of all scores."""
    return f"{scores_in_bytes() / 1e9:.2g} GB"


def _ms(seconds: float) -> str:
    return f"{1000 * seconds:.2g} ms"
