"""Lesson 12 opens with a shelf: what each way keeps of it, and what it then misses.

A column is a book, the last one the question, a row a head: keys and values. What a way keeps is as
large as it is beside what full attention keeps. For one text of each test an arc leads from each
question to the book that it asks about, marked in the row of the head that looks there most; if the
answer is wrong the arc is broken, the mark a cross. Heads have no order: rows stand in that of the
books that their heads look at. The readers were trained as the lesson trains them, for one question
about any book, or for four about the last four; `python -m tests.claims.shortcuts` does that again,
and records all this in `opening.json`.
"""

from __future__ import annotations

import json
from math import cos, pi, sin
from pathlib import Path
from typing import Any, NamedTuple

from attnlab.figures.live.film import Film, Frame
from attnlab.figures.live.parts import INK, SMALL, WIDE, Part, Place, box, dot, line, word
from attnlab.figures.palette import BLUE, GREY, GROUND, ORANGE, PURPLE, Colour

RECORDED = Path(__file__).with_suffix(".json")
WINDOW, LETTERS, BOOKS = 5, 8, 19  # tokens a window keeps; letters that may be in a book
ASKED, NEAR = 2, range(BOOKS + 1 - WINDOW, BOOKS)  # books: a far one, and those in a window
HEADS, WIDTH = 4, 8  # and numbers in a head's key

HIGH, TOP, MORE = 266, 20, 46  # of the sheet; its first lines
GAP, PALE = 0.17, 0.55  # between squares, as a share of one with its gap; what is kept
BIG, HEAVY = 24, 700  # words; results
ASK, STEP, LOWEST, FLOOR = 9, 19.5, 17, 4  # discs of questions, and ends of arcs, over the shelf
COLUMNS = {"far": 248, "near": 374}  # of results, at the end
FOUND = (-0.24, 0.02), (-0.07, 0.19), (0.24, -0.19)  # marks, in squares
MISSED = (-0.2, -0.2), (0.2, 0.2), (0, 0), (0.2, -0.2), (-0.2, 0.2)
DROPS = 112  # at the end, where what is dropped is said

WAYS = {  # alone, and at the end
    "full": ("full attention", f"{BOOKS} books and the question, {HEADS} heads", ""),
    "window": ("window", "drops all but the last four books", "drops books"),
    "shared": ("sharing", "drops rows: all heads share one", "drops rows"),
}
ASKS = {"far": ("one far book", "one far"), "near": ("four near books", "four near")}
TOLD = (
    f"A layer is asked which of {LETTERS} letters is in a far book. Full attention finds it.",
    "It finds four near books at once too: here, each in the row of another head.",
    "A window keeps a quarter. Of the far book nothing is left, and it guesses.",
    "The last four books are all there. It finds them.",
    "Sharing keeps a quarter too: one row of each book. It finds the far one.",
    "Now four questions read one row. In this small layer some go wrong: in this text, two.",
    "A window dropped books and lost the far one. Sharing dropped rows and here lost some of four.",
)
Known = dict[str, dict[str, Any]]  # by way: how often it is right, and what it reads in a text


class Shelf(NamedTuple):
    """Where it is, and how long."""

    top: float = 118
    long: float = WIDE

    @property
    def step(self) -> float:
        """Of a square with its gap."""
        return self.long / (BOOKS + 1 - GAP)

    @property
    def side(self) -> float:
        """Of a square."""
        return self.step * (1 - GAP)

    def place(self, n: int, row: float = 0) -> Place:
        """The middle of a square of a book, or of the question."""
        return n * self.step + self.side / 2, self.top + row * self.step + self.side / 2


class Result(NamedTuple):
    """Where it is: the start of its number, and of its bar; and how low a guess is named."""

    number: Place
    large: float
    bar: Place
    size: Place
    guess: float


SHELF = Shelf()
ALONE = Result((0, 262), 46, (161, 246), (WIDE - 161, 16), 236)
ENDS = {"window": Shelf(78, 228), "shared": Shelf(196, 228)}


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
    last = [word("keeps", 0, TOP, f"{share('window'):.0%} kept", PURPLE, "start", weight=600)]
    for test, left in COLUMNS.items():
        last.append(word(f"{test} head", left, TOP, ASKS[test][1], GREY, "start", SMALL))
    sheets.append(last + [part for way in ENDS for part in _end(way, known[way])])
    frames = [Frame(*both) for both in zip(sheets, TOLD, strict=True)]
    return Film("What you drop is what you miss", frames, HIGH)


def _shelf(way: str, at: Shelf, key: str = "") -> list[Part]:
    """Books and the question, row by row, and what a way keeps of them."""
    parts = {"far": (0, NEAR[0]), "near": (NEAR[0], BOOKS + 1)}
    rows = range(1 if way == "shared" else HEADS)

    def row(name: str, head: int, n: int, to: int, colour: Colour, opacity: float) -> Part:
        (x, y), half = at.place(n, head), at.side / 2
        ends = (x - half, y), (at.place(to - 1)[0] + half, y)
        dashes = f"{at.side:.3f} {at.step - at.side:.3f}"
        return line(f"{key}{name} {head}", ends, colour, at.side, opacity, dashes, "butt")

    return [row("row", head, 0, BOOKS + 1, GREY, 0.15) for head in range(HEADS)] + [
        row(f"kept {part}", head, *parts[part], PURPLE, PALE)
        for part in parts
        for head in rows
        if (way, part) != ("window", "far")
    ]


def _look(n: int, head: int, right: bool, way: str) -> list[Part]:
    """A question, an arc to the book that it asks about, and a mark there: is the answer right?"""
    x, y = SHELF.place(n, head)
    up = NEAR[-1] - n if n in NEAR else 2
    start, high = SHELF.place(BOOKS)[0], SHELF.top - LOWEST - up * STEP
    floor, colour, s = SHELF.top - FLOOR, _colour(right), SHELF.side
    turns = [step * pi / 40 for step in range(21)]
    bow = [(start + (x - start) * sin(t), floor + (high - floor) * cos(t)) for t in turns]
    is_kept = way != "window" or n in NEAR
    mark = [(x + across * s, y + down * s) for across, down in (FOUND if right else MISSED)]
    return [
        line(f"look {n}", bow, colour, 3.2, dashes="1 0" if right else "6 7"),
        dot(f"asks {up}", start, high, ASK, ORANGE),
        word(f"ask {up}", start, high + 6.5, "?", GROUND, size=SMALL, weight=HEAVY),
        *([box(f"read {n}", (x - s / 2, y - s / 2), (s, s), colour)] if is_kept else []),
        line(f"mark {n}", mark, GROUND if is_kept else colour, 2.6),
    ]


def _turn(way: str, test: str, known: dict[str, Any]) -> list[Part]:
    """A way in one test."""
    name, more, _ = WAYS[way]
    far, *near = known["reads"]
    rows = list(dict.fromkeys(row for _, row, _ in sorted(near)))
    reads = [(n, rows.index(row), right) for n, row, right in near]
    reads = reads if test == "near" else [(far[0], 0, far[2])]
    return [
        *_shelf(way, SHELF),
        *(part for read in reads for part in _look(*read, way)),
        word("name", 0, TOP, name, INK, "start", BIG, HEAVY),
        word("more", 0, MORE, more, GREY, "start", SMALL),
        word("keeps", WIDE, TOP, f"{share(way):.0%} kept", PURPLE, "end", weight=600),
        word("about", WIDE, ALONE.guess, ASKS[test][0], GREY, "end", SMALL),
        *_result(known[test], ALONE),
    ]


def _end(way: str, known: dict[str, Any]) -> list[Part]:
    """What a way keeps, and its results, side by side: sharing glides there."""
    at, key = ENDS[way], "" if way == "shared" else f"{way} "
    parts = [
        *_shelf(way, at, key),
        word(f"{key}name", 0, at.top - 14, WAYS[way][0], INK, "start", BIG, HEAVY),
        word(f"{way} drops", DROPS, at.top - 14, WAYS[way][2], GREY, "start", SMALL),
    ]
    low, size = at.place(0, HEADS - 1)[1] + at.side / 2, (WIDE - COLUMNS["near"], 12)
    for test, left in COLUMNS.items():
        place = Result((left, at.top + 25), 34, (left, low - 12), size, low + 20)
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
        guess = f"guess: {1 / LETTERS:.0%}"
        parts.append(line(f"{key}tick", tick, INK, 2, cap="butt"))
        parts.append(word(f"{key}guess", left, at.guess, guess, GREY, "start", SMALL))
    return parts
