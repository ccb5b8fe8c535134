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
from math import cos, pi, sin, sqrt
from pathlib import Path
from typing import Any, NamedTuple

from attnlab.figures.live.film import Film, Frame
from attnlab.figures.live.parts import INK, SMALL, WIDE, Part, Place, box, dot, line, word
from attnlab.figures.palette import BLUE, GREY, GROUND, ORANGE, PURPLE, Colour

RECORDED = Path(__file__).with_suffix(".json")
WINDOW, LETTERS, BOOKS = 5, 8, 19  # tokens a window keeps; letters that may be in a book
ASKED, NEAR = 2, range(BOOKS + 1 - WINDOW, BOOKS)  # books: a far one, and those in a window
HEADS, WIDTH = 4, 8  # and numbers in a head's key

HIGH, TOP, MORE = 270, 20, 46  # of the sheet; its first lines
GAP, PALE = 0.17, 0.55  # between squares, as a share of one with its gap; what is kept
BIG, HEAVY = 24, 700  # words; results
ASK, STEP, LOWEST, FLOOR = 9, 19.5, 17, 4  # discs of questions, and ends of arcs, over the shelf
BAR, LONG, THICK, OVER = (161, 246), WIDE - 161, 16, 236  # of results; what is said over it
FOUND = (-0.24, 0.02), (-0.07, 0.19), (0.24, -0.19)  # marks, in squares
MISSED = (-0.2, -0.2), (0.2, 0.2), (0, 0), (0.2, -0.2), (-0.2, 0.2)

WAYS = {  # alone, and at the end
    "full": ("full attention", f"{BOOKS} books and the question, {HEADS} heads", ""),
    "window": ("window", "keeps the last four books and the question", "window: drops books"),
    "shared": (
        "sharing",
        "drops rows: all heads share one",
        "sharing: one row for all heads",
    ),
}
ASKS = {"far": "one far book", "near": "four near books"}
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
    """Where it is, how long, and how high arcs are over it."""

    left: float = 0
    top: float = 118
    long: float = WIDE
    rise: float = 1

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
        return self.left + n * self.step + self.side / 2, self.top + row * self.step + self.side / 2


SHELF = Shelf()
LEFTS, TOPS = (0, 252), {"window": 113, "shared": 225}  # of scenes, at the end, as long as this
SHORT, AT = 228, {"far": 116, "near": 342}  # and where their results start
ENDS = {
    (way, test): Shelf(left, top, SHORT, 0.53)
    for way, top in TOPS.items()
    for test, left in zip(ASKS, LEFTS, strict=True)
}


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
    says = "a square: a head's key and value"
    sheets[0].append(word("square", WIDE, 106, says, GREY, "end", SMALL))
    sheets.append(_end(known))
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


def _look(n: int, head: int, right: bool, way: str, at: Shelf, key: str) -> list[Part]:
    """A question, an arc to the book that it asks about, and a mark there: is the answer right?"""
    x, y = at.place(n, head)
    up = NEAR[-1] - n if n in NEAR else 2
    start, high = at.place(BOOKS)[0], at.top - at.rise * (LOWEST + up * STEP)
    small, colour = at.long / WIDE, _colour(right)
    floor = at.top - FLOOR * small
    turns = [step * pi / 40 for step in range(21)]
    bow = [(start + (x - start) * sin(t), floor + (high - floor) * cos(t)) for t in turns]
    is_kept = way != "window" or n in NEAR
    s = at.side * (1 if is_kept else 1.5)
    mark = [(x + across * s, y + down * s) for across, down in (FOUND if right else MISSED)]
    dashes = "1 0" if right else f"{6 * small:.1f} {7 * small:.1f}"
    asks = word(f"ask {up}", start, high + 6.5, "?", GROUND, size=SMALL, weight=HEAVY)
    return [
        line(f"{key}look {n}", bow, colour, 3.2 * sqrt(small), dashes=dashes),
        dot(f"{key}asks {up}", start, high, ASK * small, ORANGE),
        *([asks] if at == SHELF else []),
        *([box(f"{key}read {n}", (x - s / 2, y - s / 2), (s, s), colour)] if is_kept else []),
        line(f"{key}mark {n}", mark, GROUND if is_kept else colour, 2.6 * sqrt(small)),
    ]


def _scene(
    way: str, test: str, known: dict[str, Any], at: Shelf = SHELF, key: str = ""
) -> list[Part]:
    """A way's shelf, and what it looks at there in one text of a test."""
    far, *near = known["reads"]
    rows = list(dict.fromkeys(row for _, row, _ in sorted(near)))
    reads = [(n, rows.index(row), right) for n, row, right in near]
    reads = reads if test == "near" else [(far[0], 0, far[2])]
    return [
        *_shelf(way, at, key),
        *(part for read in reads for part in _look(*read, way, at, key)),
    ]


def _turn(way: str, test: str, known: dict[str, Any]) -> list[Part]:
    """A way in one test."""
    (name, more, _), right, (left, top) = WAYS[way], known[test], BAR
    parts = [
        *_scene(way, test, known),
        word("name", 0, TOP, name, INK, "start", BIG, HEAVY),
        word("more", 0, MORE, more, GREY, "start", SMALL),
        word("keeps", WIDE, TOP, f"{share(way):.0%} kept", PURPLE, "end", weight=600),
        word("about", WIDE, OVER, ASKS[test], GREY, "end", SMALL),
        _result("", right, (0, 262), 46),
        box("all", BAR, (LONG, THICK), GREY, 0.16),
        box("bar", BAR, (LONG * right, THICK), _colour(right)),
    ]
    if _colour(right) == BLUE:
        return parts
    tick, guess = left + LONG / LETTERS, f"guess: {1 / LETTERS:.0%}"
    return [
        *parts,
        line("tick", [(tick, top - 7), (tick, top)], INK, 2, cap="butt"),
        word("guess", left, OVER, guess, GREY, "start", SMALL),
    ]


def _end(known: Known) -> list[Part]:
    """Both ways in both tests: the last scene glides there."""
    says = f"{share('window'):.0%} of keys and values kept"
    parts = [word("quarter", 0, 17, says, PURPLE, "start", weight=600)]
    for test, left in zip(ASKS, LEFTS, strict=True):
        parts.append(word(f"{test} head", left, 44, ASKS[test], INK, "start", SMALL))
    for way, top in TOPS.items():
        parts.append(word(f"{way} name", 0, top - 40, WAYS[way][2], INK, "start", SMALL, 600))
    for (way, test), at in ENDS.items():
        key = "" if (way, test) == ("shared", "near") else f"{way} {test} "
        parts += _scene(way, test, known[way], at, key)
        parts.append(_result(f"{way} {test} ", known[way][test], (AT[test], at.top - 4), 26))
    return parts


def _result(key: str, right: float, at: Place, large: float) -> Part:
    """How often a way is right in a test."""
    return word(f"{key}right", *at, f"{right:.0%}", _colour(right), "start", large, HEAVY)


def _colour(right: float) -> Colour | str:
    """Of what is found, or is missed."""
    return BLUE if right > 0.9 else INK
