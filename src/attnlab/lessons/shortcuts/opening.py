"""Lesson 12 opens with a shelf: what each way keeps of it, and what it then misses.

A column is a book, or apart from them the question, a row a head: what a way keeps is as large as
it is beside what full attention keeps. For one text of each test an arc leads from the question to
each book that it asks about, in the row of the head that looks there most; a broken one is answered
wrong. Heads have no order: rows stand in that of the books that their heads look at. The readers
were trained as the lesson trains them, for one question about any book, or for four about the last
four; `python -m tests.claims.shortcuts` does that again, and records all this in `opening.json`.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
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
HEAD = 22  # the first at the end
GAP, APART = 0.17, 1.2  # between squares; the question from books: shares of a square
BIG, HEAVY, PALE = 24, 700, 0.55  # words; results; what is kept, where it is read
FAR_UP, NEAR_UP, THICK = 56, 11, 3.2  # how far ends of arcs pull them up, near ones a book
COLUMNS = {"far": 222, "near": 360}  # of results, at the end

WAYS = {  # alone, and at the end
    "full": ("full attention", f"{BOOKS} books, a row for each head", ""),
    "window": ("window", "drops all but the last four books", "drops books"),
    "shared": ("sharing", "drops rows: all heads share one", "drops rows"),
}
ASKS = {
    "far": ("question", "one far book", "one far book"),
    "near": ("4 questions", "four near books at once", "four at once"),
}
TOLD = (
    f"A layer is asked which of {LETTERS} letters is in a far book. Full attention finds it.",
    "It finds four near books at once too. Here each question has a row of its own.",
    "A window keeps a quarter. Of the far book nothing is left, and it guesses.",
    "The last four books are all there. It finds them.",
    "Sharing keeps a quarter too: one row of each book. It finds the far one.",
    "Now four questions share one row. Some go wrong: in this text, two.",
    "A window dropped books, and lost the far one. Sharing dropped rows, and lost some of four.",
)
Read = tuple[int, int, bool]  # which book, in which row, and whether the answer is right
Known = dict[str, dict[str, Any]]  # by way: how often it is right, and what it reads in a text


class Shelf(NamedTuple):
    """Where it is, how long, and how high a row is with its gap."""

    top: float = 112
    long: float = RIGHT - LEFT
    row: float = 23

    @property
    def wide(self) -> float:
        """Of a square with its gap."""
        return self.long / (BOOKS + 1 + APART - GAP)

    def middle(self, n: int) -> float:
        """Of a book, or of the question."""
        return LEFT + (n + (1 - GAP) / 2 + APART * (n == BOOKS)) * self.wide


class Result(NamedTuple):
    """Where it is: the start of its number, and of its bar; and how low a guess is named."""

    number: Place
    large: float
    bar: Place
    size: Place
    guess: float


SHELF = Shelf()
ALONE = Result((LEFT, 260), 46, (161, 244), (RIGHT - 161, 16), 234)
ENDS = {"window": Shelf(72, 194, 16), "shared": Shelf(202, 194, 16)}


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
    sheets = [_turn(way, test, known[way]) for way in WAYS for test in ASKS]
    keep = f"both keep {share('window'):.0%}"
    last = [word("keep", LEFT, HEAD, keep, PURPLE, "start", weight=600)]
    for test, left in COLUMNS.items():
        last.append(word(f"{test} head", left, HEAD, ASKS[test][2], GREY, "start", SMALL))
    sheets.append(last + [part for way in ENDS for part in _end(way, known[way])])
    frames = [Frame(*both) for both in zip(sheets, TOLD, strict=True)]
    return Film("What you drop is what you miss", frames, HIGH)


def _shelf(way: str, at: Shelf, key: str = "", reads: Sequence[Read] = ()) -> list[Part]:
    """Books and the question, pale, row by row, what a way keeps of them, and what it reads."""
    thick, half = at.row - 3, at.wide * (1 - GAP) / 2
    heads, first = 1 if way == "shared" else HEADS, NEAR[0] if way == "window" else 0
    keeps = {"far": (0, NEAR[0] - 1), "near": (NEAR[0], BOOKS - 1), "question": (BOOKS, BOOKS)}

    def row(name: str, head: int, n: int, m: int, colour: Colour, opacity: float = 1) -> Part:
        y = at.top + head * at.row + thick / 2
        ends = (at.middle(n) - half, y), (at.middle(m) + half, y)
        dashes = f"{2 * half:.3f} {at.wide - 2 * half:.3f}"
        return line(f"{key}{name}", ends, colour, thick, opacity, dashes, "butt")

    edge = (at.middle(BOOKS) - half - 1, at.top - 2), (2 * half + 2, HEADS * at.row + 1)
    return [
        *(row(f"row {head}", head, 0, BOOKS - 1, GREY, 0.15) for head in range(HEADS)),
        *(row(f"question {head}", head, BOOKS, BOOKS, GREY, 0.15) for head in range(HEADS)),
        *(
            row(f"kept {name} {head}", head, n, m, PURPLE, PALE if reads else 1)
            for name, (n, m) in keeps.items()
            for head in range(heads)
            if n >= first
        ),
        *(row(f"read {n}", head, n, n, _colour(right)) for n, head, right in reads if n >= first),
        box(f"{key}edge", *edge, ORANGE, 0, 2.5),
    ]


def _look(n: int, head: int, right: bool) -> list[Part]:
    """An arc from the question to a book, and down to its square; broken if the answer is wrong."""
    near = n in NEAR
    pull = NEAR_UP * (BOOKS + 1 - n) if near else FAR_UP
    start, x = SHELF.middle(BOOKS) + near * (16.5 - n) * SHELF.wide * 0.17, SHELF.middle(n)
    floor, colour = SHELF.top - 5, _colour(right)
    look: dict[str, Any] = {"dashes": "1 0" if right else "6 7", "thickest": THICK, "pull": pull}
    stem = (x, floor), (x, SHELF.top + head * SHELF.row)
    return [
        *([line(f"stem {n}", stem, colour, THICK, cap="butt")] if head else []),
        arc(f"look {n}", start, x, floor, 1, colour, 1, **look),
    ]


def _turn(way: str, test: str, known: dict[str, Any]) -> list[Part]:
    """A way in one test."""
    (name, more, _), (asks, about, _) = WAYS[way], ASKS[test]
    far, *near = known["reads"]
    rows = list(dict.fromkeys(row for _, row, _ in sorted(near)))
    reads = [(n, rows.index(row), right) for n, row, right in near]
    reads = reads if test == "near" else [(far[0], 0, far[2])]
    return [
        *_shelf(way, SHELF, "", reads),
        *(part for read in reads for part in _look(*read)),
        word("name", LEFT, TOP, name, INK, "start", BIG, HEAVY),
        word("more", LEFT, MORE, more, GREY, "start"),
        word("keeps", RIGHT, TOP, f"{share(way):.0%} kept", PURPLE, "end", weight=600),
        word("asks", RIGHT, MORE, asks, ORANGE, "end", SMALL),
        word("about", RIGHT, ALONE.guess, about, GREY, "end", SMALL),
        *_result(known[test], ALONE),
    ]


def _end(way: str, known: dict[str, Any]) -> list[Part]:
    """What a way keeps, and its results, side by side."""
    at, low = ENDS[way], ENDS[way].top + HEADS * ENDS[way].row - 3
    parts = [
        *_shelf(way, at, f"{way} "),
        word(f"{way} name", LEFT, at.top - 12, WAYS[way][0], INK, "start", BIG, HEAVY),
        word(f"{way} drops", LEFT + 108, at.top - 12, WAYS[way][2], GREY, "start", SMALL),
    ]
    for test, left in COLUMNS.items():
        size = RIGHT - COLUMNS["near"], 14
        place = Result((left, low - 23), 38, (left, low - 14), size, low + 19)
        parts += _result(known[test], place, f"{way} {test} ")
    return parts


def _colour(right: float) -> Colour:
    """Of what is found, or is missed."""
    return BLUE if right > 0.9 else GREY


def _result(right: float, at: Result, key: str = "") -> list[Part]:
    """How often a way is right in a test: the number, a bar and, in a grey one, a guess."""
    (left, y), (long, thick), colour = at.bar, at.size, _colour(right)
    tick = [(left + long / LETTERS, each) for each in (y - 3, y + thick + 3)]
    parts = [
        word(f"{key}right", *at.number, f"{right:.0%}", colour, "start", at.large, HEAVY),
        box(f"{key}all", at.bar, at.size, GREY, 0.16),
        box(f"{key}bar", at.bar, (long * right, thick), colour),
    ]
    if colour == GREY:
        parts.append(line(f"{key}tick", tick, INK, 2, cap="butt"))
    if right < 2 / LETTERS:
        guess = f"guess: 1 in {LETTERS}"
        parts.append(word(f"{key}guess", left, at.guess, guess, GREY, "start", SMALL))
    return parts
