"""Lesson 12 opens with a shelf: what each way keeps of it, and what it then misses.

A column is a book, or apart from them the question, a row a head: what a way keeps is as large as
it is beside what full attention keeps. For one text of each test an arc shows a question: which
book, in the row of the head that looks there most; a broken one is answered wrong. Of full
attention the four near questions are told, so that its far one is pale. The readers were trained as
the lesson trains them, for one question about any book, or for four about the last four;
`python -m tests.claims.shortcuts` does that again, and records all this in `opening.json`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

from attnlab.figures.live.film import Film, Frame
from attnlab.figures.live.parts import INK, SMALL, Part, Place, arc, box, line, word
from attnlab.figures.palette import BLUE, GREY, ORANGE, PURPLE, Colour

RECORDED = Path(__file__).with_suffix(".json")
WINDOW, LETTERS, BOOKS = 5, 8, 19  # tokens a window keeps; letters that may be in a book
ASKED, NEAR = 2, range(BOOKS + 1 - WINDOW, BOOKS)  # books: a far one, and those in a window
HEADS, WIDTH = 4, 8  # and numbers in a head's key

HIGH, LEFT, RIGHT, TOP, MORE = 270, 4, 476, 24, 48  # of the sheet; its edges, and its first lines
GAP, APART = 0.17, 1.2  # between squares; the question from books: shares of a square
BIG, HEAVY = 24, 700  # words; results
PULL, THICK = 64, 3.2  # of arcs: how far their ends pull the far one up
LONG, EACH = 176, 122  # at the end, a shelf, and from one way to the next

WAYS = {
    "full": ("full attention", "a key and a value in each square"),
    "window": ("window", "the question and the last four books"),
    "shared": ("sharing", "one row of keys and values for all heads"),
}
ASKS = {
    "far": ("one question", "about the letter in a far book"),
    "near": ("four questions at once", "about near books"),
}
SAID = {"far": "one far", "near": "four at once"}
TOLD = (
    f"One test: a trained layer is asked which of {LETTERS} letters is in a far book.",
    "The other test: four questions at once, all about the last four books.",
    "Full attention keeps four rows, one a head. Here each question has a row of its own.",
    "A window drops books. It answers four questions about near ones, and guesses the far one.",
    "Sharing drops rows. It finds the far book. Four questions share one row, and some go wrong.",
    "Both keep a quarter. Here, dropping books lost the far one; dropping rows, some of the four.",
)
Known = dict[str, dict[str, Any]]  # by way: how often it is right, and what it reads in a text


class Shelf(NamedTuple):
    """Where it is, and its results: how wide a square and how high a row is with its gap."""

    top: float = 118
    wide: float = (RIGHT - LEFT) / (BOOKS + 1 + APART - GAP)
    row: float = 17
    starts: Place = (LEFT, 248)  # of results
    long: float = 228  # of a bar: 100%
    low: float = 236  # of bars
    large: float = 36
    bar: float = 10  # how thick

    def middle(self, n: int) -> float:
        """Of a book, or of the question."""
        return LEFT + (n + (1 - GAP) / 2 + APART * (n == BOOKS)) * self.wide


SHELF, ASK = Shelf(), Shelf(row=26)
END = Shelf(84, LONG / (BOOKS + 1 + APART - GAP), 13.5, (200, 348), 128, 121, 40, 14)


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
    keep = f"both keep {share('window'):.0%}"
    sheets[-1] += [
        word("keep", LEFT, TOP, keep, PURPLE, "start", weight=600),
        *(
            word(f"{test} head", left, TOP, SAID[test], GREY, "start")
            for test, left in zip(ASKS, END.starts, strict=True)
        ),
    ]
    frames = [Frame(*both) for both in zip(sheets, TOLD, strict=True)]
    return Film("What you drop is what you miss", frames, HIGH)


def _shelf(way: str, at: Shelf, key: str = "", reads: Iterable[list[int]] = ()) -> list[Part]:
    """Books and the question, pale, row by row, what a way keeps of them, and what it reads."""
    thick, half, pale = at.row - 3 * bool(way), at.wide * (1 - GAP) / 2, 0.15 if way else 0.25
    heads = {"": 0, "shared": 1}.get(way, HEADS)
    first = NEAR[0] if way == "window" else 0

    def row(name: str, head: int, n: int, m: int, colour: Colour, opacity: float = 1) -> Part:
        y = at.top + head * at.row + thick / 2
        ends = (at.middle(n) - half, y), (at.middle(m) + half, y)
        dashes = f"{2 * half:.3f} {at.wide - 2 * half:.3f}"
        return line(f"{key}{name}", ends, colour, thick, opacity, dashes, "butt")

    return [
        *(row(f"row {head}", head, 0, BOOKS - 1, GREY, pale) for head in range(HEADS)),
        *(row(f"question {head}", head, BOOKS, BOOKS, GREY, pale) for head in range(HEADS)),
        *(row(f"kept {head}", head, first, BOOKS - 1, PURPLE) for head in range(heads)),
        *(row(f"kept question {head}", head, BOOKS, BOOKS, PURPLE) for head in range(heads)),
        *(row(f"read {n}", head, n, n, _colour(right)) for n, head, right in reads if n >= first),
        _edge("question", BOOKS, BOOKS, at, key),
    ]


def _edge(name: str, n: int, m: int, at: Shelf, key: str = "") -> Part:
    """Around what asks, or what is asked for."""
    half = at.wide * (1 - GAP) / 2 + 1
    left, right = at.middle(n) - half, at.middle(m) + half
    size = right - left, HEADS * at.row
    return box(f"{key}edge {name}", (left, at.top - 1), size, ORANGE, 0, 2.5)


def _look(n: int, at: Shelf, colour: Colour, dashes: str, opacity: float = 1) -> Part:
    """An arc from the question to a book: dotted if it only asks, broken if the answer is wrong."""
    far = min(5, BOOKS - n)
    pull, aside = PULL * (1 if far > 4 else 0.16 + 0.12 * far), (far - 3) * at.wide * 0.17
    ends = at.middle(BOOKS) + aside, at.middle(n)
    look: dict[str, Any] = {"dashes": dashes, "thickest": THICK, "pull": pull}
    return arc(f"look {n}", *ends, at.top - 5, 1, colour, opacity, **look)


def _asked(test: str) -> list[Part]:
    """Nothing has looked yet: arcs that ask only."""
    (name, more), under = ASKS[test], ASK.top + HEADS * ASK.row + 24
    books = [ASKED] if test == "far" else NEAR
    return [
        *(_look(n, ASK, ORANGE, "1 8") for n in books),
        *_shelf("", ASK),
        _edge(test, books[0], books[-1], ASK),
        word("name", LEFT, TOP, name, INK, "start", BIG, HEAVY),
        word("more", LEFT, MORE, more, GREY, "start"),
        word("books", LEFT, under, f"{BOOKS} books, a letter in each", GREY, "start", SMALL),
        word("asks", RIGHT, under, "question", ORANGE, "end", SMALL),
    ]


def _turn(way: str, known: dict[str, Any]) -> list[Part]:
    """A way alone, and what it keeps."""
    near, (_, *four) = SHELF.middle(NEAR[0]) - 14, known["reads"]
    text = f"one text: {sum(right for *_, right in four)} of {len(four)}"
    pale = {ASKED: 0.45} if way == "full" else {}
    return [
        *(
            _look(n, SHELF, _colour(right), "1 0" if right else "6 7", pale.get(n, 1))
            for n, _, right in known["reads"]
        ),
        *_way(way, known, SHELF),
        word("more", LEFT, MORE, WAYS[way][1], GREY, "start"),
        word("keeps", RIGHT, TOP, f"{share(way):.0%} kept", PURPLE, "end", weight=600),
        word("text", near, SHELF.top - 8, text, GREY, "end", SMALL),
    ]


def _way(way: str, known: dict[str, Any], at: Shelf, key: str = "") -> list[Part]:
    """A way's name, what it keeps and, alone, reads, and its results."""
    alone = at == SHELF
    at_name = (LEFT, TOP if alone else at.top - 10)
    of = "" if alone else f"{way} "  # results do not move
    return [
        *_shelf(way, at, key, known["reads"] if alone else ()),
        *(part for test in ASKS for part in _result(test, at, known[test], of)),
        word(f"{key}name", *at_name, WAYS[way][0], INK, "start", BIG, HEAVY),
    ]


def _colour(right: float) -> Colour:
    """Of what is found, or is missed."""
    return BLUE if right > 0.9 else GREY


def _result(test: str, at: Shelf, right: float, key: str = "") -> list[Part]:
    """How often a way is right in a test: a bar, the number, and where guesses end."""
    left, y, under = at.starts[test == "near"], at.low - 8, at.low + at.bar
    tick = [(left + at.long / LETTERS, each) for each in (at.low - 2, under + 2)]
    colour = _colour(right)
    parts = [
        box(f"{key}{test} all", (left, at.low), (at.long, at.bar), GREY, 0.16),
        box(f"{key}{test} bar", (left, at.low), (at.long * right, at.bar), colour),
        word(f"{key}{test}", left, y, f"{right:.0%}", colour, "start", at.large, HEAVY),
        line(f"{key}{test} tick", tick, INK, 2, cap="butt"),
    ]
    if at == SHELF:
        parts.append(word(f"{test} name", left + at.long, y, SAID[test], GREY, "end", SMALL))
    if test == "far" and at in (SHELF, END):
        parts.append(word(f"{key}guess", left, under + 19, "guess", GREY, "start", SMALL))
    return parts
