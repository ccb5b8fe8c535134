"""Lesson 12 opens with a shelf: what each way keeps of it, and what it then misses.

A column is a book, or apart from them the question, a row a head: what a way keeps is as large as
it is beside what full attention keeps. The readers were trained as the lesson trains them, for one
question about any book, or for four about the last four; `python -m tests.claims.shortcuts` does
that again, and records in `opening.json` how often they are right, and what they look at in a text.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from attnlab.figures.live.film import Film, Frame
from attnlab.figures.live.parts import INK, SMALL, Part, Place, arc, box, line, word
from attnlab.figures.palette import BLUE, GREY, ORANGE, PURPLE, Colour

RECORDED = Path(__file__).with_suffix(".json")
WINDOW, LETTERS, BOOKS = 5, 8, 19  # tokens a window keeps; letters that may be in a book
ASKED, NEAR = 2, range(BOOKS + 1 - WINDOW, BOOKS)  # books: a far one, and those in a window
HEADS, WIDTH = 4, 8  # and numbers in a head's key

HIGH, LEFT, RIGHT, TOP, MORE = 264, 4, 476, 24, 48  # of the sheet; its edges, and its first lines
GAP, APART = 0.17, 0.4  # between squares; the question from books: shares of a square
THICKEST = 10  # an arc of weight 1
BIG, LARGE, HEAVY = 24, 36, 700  # words; results
THICK = 10  # of a bar
LONG, EACH = 236, 136  # at the end, a shelf, and from one way to the next

WAYS = {
    "full": ("full attention", "a key and a value in each square"),
    "window": ("window", "the question and the last four books"),
    "shared": ("sharing", "one row of keys and values for all heads"),
}
ASKS = {
    "far": ("one question", "about the letter in a far book"),
    "near": ("four questions at once", "about near books"),
}
SAID = {"far": "one far", "near": "four near"}
TOLD = (
    f"One test: a trained layer is asked for the letter in a far book, one of {LETTERS}.",
    "The other test: four questions at once, all about the last four books.",
    "Full attention keeps each book’s key and value in four heads. Here it passes both tests.",
    "A window drops books. It answers four questions about near ones, and guesses the far one.",
    "Sharing drops rows. It finds the far book, but misses some of four answers at once.",
    "Both keep a quarter. Dropping books lost the far one; dropping rows, some of four at once.",
)
Known = dict[str, dict[str, Any]]  # by way: how often it is right, and its weights


class Shelf(NamedTuple):
    """Where it is, and its results: how wide a square and how high a row is with its gap."""

    top: float = 118
    wide: float = (RIGHT - LEFT) / (BOOKS + 1 + APART - GAP)
    row: float = 17
    ends: Place = (232, RIGHT)  # of results
    long: float = 228  # of a bar: 100%
    low: float = 248  # of bars

    def middle(self, n: int) -> float:
        """Of a book, or of the question."""
        return LEFT + (n + (1 - GAP) / 2 + APART * (n == BOOKS)) * self.wide


SHELF = Shelf()
END = Shelf(38, LONG / (BOOKS + 1 + APART - GAP), 21, (360, RIGHT), 108, 109)


def kept(tokens: int = BOOKS + 1, window: int = WINDOW) -> dict[str, int]:
    """How many numbers each way keeps of so many tokens, as the lesson counts them."""
    full = 2 * HEADS * WIDTH * tokens  # keys and values
    return {"full": full, "window": full * window // tokens, "shared": full // HEADS}


def share(way: str) -> float:
    """How much a way keeps of what full attention keeps."""
    many = kept()
    return many[way] / many["full"]


def opening() -> Film:
    """The film."""
    known: Known = json.loads(RECORDED.read_text(encoding="utf-8"))
    sheets = [*(_asked(test) for test in ASKS), *(_turn(way, known[way]) for way in WAYS)]
    under = END._replace(top=END.top + EACH, low=END.low + EACH)
    both = (("window", END, "window "), ("shared", under, ""))
    sheets.append([part for way, at, key in both for part in _way(way, known[way], at, key)])
    frames = [Frame(*both) for both in zip(sheets, TOLD, strict=True)]
    return Film("What you drop is what you miss", frames, HIGH)


def _shelf(way: str, at: Shelf, asked: Mapping[str, Colour], key: str = "") -> list[Part]:
    """Books and the question, pale, row by row, what a way keeps of them, and what is asked for."""
    thick, half = at.row - 3 * bool(way), at.wide * (1 - GAP) / 2
    heads = {"": 0, "shared": 1}.get(way, HEADS)
    first = NEAR[0] if way == "window" else 0

    def row(name: str, head: int, n: int, m: int, colour: Colour, opacity: float = 1) -> Part:
        y = at.top + head * at.row + thick / 2
        ends = (at.middle(n) - half, y), (at.middle(m) + half, y)
        dashes = f"{2 * half:.3f} {at.wide - 2 * half:.3f}"
        return line(f"{key}{name} {head}", ends, colour, thick, opacity, dashes, "butt")

    def edge(name: str, n: int, m: int, colour: Colour) -> Part:
        left, right = at.middle(n) - half - 1, at.middle(m) + half + 1
        size = right - left, HEADS * at.row + (-1 if way else 2)
        return box(f"{key}edge {name}", (left, at.top - 1), size, colour, 0, 2.5)

    spans = {"far": (ASKED, ASKED), "near": (NEAR[0], NEAR[-1])}
    return [
        *(row("row", head, 0, BOOKS - 1, GREY, 0.25) for head in range(HEADS)),
        *(row("question", head, BOOKS, BOOKS, GREY, 0.25) for head in range(HEADS)),
        *(row("kept", head, first, BOOKS - 1, PURPLE) for head in range(heads)),
        *(row("kept question", head, BOOKS, BOOKS, PURPLE) for head in range(heads)),
        *(edge(test, *spans[test], colour) for test, colour in asked.items()),
        edge("question", BOOKS, BOOKS, ORANGE),
    ]


def _look(n: int, weight: float, colour: Colour, asks: bool = False) -> Part:
    """An arc from the question to a book, or one that asks only."""
    opacity = 1 / (0.25 + 0.75 * weight)
    look: dict[str, Any] = {"dashes": "1 8" if asks else "1 0", "thickest": THICKEST}
    ends = SHELF.middle(BOOKS), SHELF.middle(n)
    pull = min(76, 12 + 18 * (BOOKS - n))
    return arc(f"look {n}", *ends, SHELF.top - 5, weight, colour, opacity, pull=pull, **look)


def _asked(test: str) -> list[Part]:
    """Nothing has looked yet: arcs that ask only."""
    (name, more), tests = ASKS[test], ("far", "near")[: 1 + (test == "near")]
    return [
        *(_look(n, 0.3, ORANGE, asks=True) for n in ([ASKED] if test == "far" else NEAR)),
        *_shelf("", SHELF, {test: ORANGE}),
        word("name", LEFT, TOP, name, INK, "start", BIG, HEAVY),
        word("more", LEFT, MORE, more, GREY, "start"),
        *(_result(each, 0, SHELF)[0] for each in tests),
        *_names(SHELF, tests),
    ]


def _turn(way: str, known: dict[str, Any]) -> list[Part]:
    """What a way keeps and looks at most, in the mean of heads, and how often it is right."""
    weights = known["weights"][:-1]
    n = weights.index(max(weights))
    return [
        _look(n, weights[n], BLUE if n == ASKED else GREY),
        *_way(way, known, SHELF),
        word("more", LEFT, MORE, WAYS[way][1], GREY, "start"),
    ]


def _way(way: str, known: dict[str, Any], at: Shelf, key: str = "") -> list[Part]:
    """A way's name, what it keeps, and its results."""
    y, end = (TOP, RIGHT) if at == SHELF else (at.top - 14, LEFT + LONG)
    return [
        *_shelf(way, at, {test: _colour(known[test]) for test in ASKS}, key),
        *(part for test in ASKS for part in _result(test, known[test], at, key)),
        *(_names(at) if at in (SHELF, END) else []),
        word(f"{key}name", LEFT, y, WAYS[way][0], INK, "start", BIG, HEAVY),
        word(f"{key}keeps", end, y, f"{share(way):.0%} kept", PURPLE, "end", weight=600),
    ]


def _colour(right: float) -> Colour:
    """Of what is found, or is missed."""
    return BLUE if right > 0.9 else GREY


def _result(test: str, right: float, at: Shelf, key: str = "") -> list[Part]:
    """How often a way is right in a test: its name, the number, and a bar under both."""
    end = at.ends[test == "near"]
    left, colour = end - at.long, _colour(right)
    return [
        box(f"{key}{test} all", (left, at.low), (at.long, THICK), GREY, 0.16),
        box(f"{key}{test} bar", (left, at.low), (at.long * right, THICK), colour),
        word(f"{key}{test}", end, at.low - 8, f"{right:.0%}", colour, "end", LARGE, HEAVY),
    ]


def _names(at: Shelf, tests: Iterable[str] = ASKS) -> list[Part]:
    """Of results: beside them, or over all at the end."""
    beside = ("name", at.low - 8, at.long, "start")
    key, y, aside, anchor = ("head", TOP, 0, "end") if at == END else beside
    ends = dict(zip(ASKS, at.ends, strict=True))
    return [
        word(f"{test} {key}", ends[test] - aside, y, SAID[test], GREY, anchor, SMALL)
        for test in tests
    ]
