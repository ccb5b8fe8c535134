"""Lesson 12 opens with a shelf: what each way keeps of it, and what it then misses.

A column is a book, the last one the question, a row a head: keys and values. What a way keeps is as
large as it is beside what full attention keeps. For one text of each test an arc leads from each
question to the book that it asks about, in the row of the head that looks there most. Under the
shelf is a tick for each right answer and a cross for each wrong one, in the order of their books; a
wrong one's arc is broken, and what it missed is outlined. Heads have no order: rows stand in that
of the books that their heads look at. The readers were trained as the lesson trains them, for one
question about any book, or for four about the last four; `python -m tests.claims.shortcuts` does
that again, and records all this in `opening.json`.
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

HIGH, TOP, MORE = 270, 20, 46  # of the sheet; its first lines
GAP, PALE = 0.17, 0.55  # between squares, as a share of one with its gap; what is kept
BIG, HEAVY = 24, 700  # words; results
ASK, STEP, LOWEST, FLOOR = 9, 19.5, 17, 4  # discs of questions, and ends of arcs, over the shelf
BESIDE, UNDER, LARGE = 160, 33, 36  # words beside a result; at the end, one under its shelf
DISC, APART = 11, 2.5  # of answers: their radius, and from one to the next, in radii
FOUND = (-0.45, 0.04), (-0.13, 0.36), (0.45, -0.34)  # marks, in radii of their discs
MISSED = (-0.36, -0.36), (0.36, 0.36), (0, 0), (0.36, -0.36), (-0.36, 0.36)

WAYS = {  # alone, and at the end
    "full": ("full attention", f"{BOOKS} books and the question, {HEADS} heads", ""),
    "window": ("window", "keeps the last four books and the question", "drops books"),
    "shared": ("sharing", "drops rows: all heads share one", "drops rows"),
}
ASKS = {"far": "one far book", "near": "four near books"}
TOLD = (
    f"A book is a token with one of {LETTERS} letters. "
    "Asked for a far book’s letter, full attention finds it.",
    "It finds four near books at once too: here, each in the row of another head.",
    "A window keeps a quarter. Of the far book nothing is left, and it guesses.",
    "The last four books are all there. It finds them.",
    "Sharing keeps a quarter too: one row of each book. It finds the far one.",
    "Now four questions read one row. In this small layer some go wrong: in this text, two.",
    "In this small layer a window dropped books and lost the far one; "
    "sharing dropped rows and lost some of four.",
)
Known = dict[str, dict[str, Any]]  # by way: how often it is right, and what it reads in a text


class Shelf(NamedTuple):
    """Where it is, how long, and from one row to the next."""

    left: float = 0
    top: float = 118
    long: float = WIDE
    down: float = WIDE / (BOOKS + 1 - GAP)

    @property
    def step(self) -> float:
        """Of a square with its gap."""
        return self.long / (BOOKS + 1 - GAP)

    @property
    def side(self) -> float:
        """Of a square."""
        return self.step * (1 - GAP)

    @property
    def tall(self) -> float:
        """How high it is."""
        return self.down - GAP * self.step

    def place(self, n: int, row: float = 0) -> Place:
        """The middle of a square of a book, or of the question."""
        return self.left + n * self.step + self.side / 2, self.top + row * self.down + self.tall / 2


SHELF = Shelf()
LEFTS, TOPS = (116, 306), {"window": 30, "shared": 163}  # of scenes, at the end
ENDS = {
    (way, test): Shelf(left, top, WIDE - LEFTS[-1], 18)
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
    says = "a square: a head’s key and value"
    sheets[0].append(word("square", WIDE, 106, says, GREY, "end", SMALL))
    sheets.append(_end(known))
    frames = [Frame(*both) for both in zip(sheets, TOLD, strict=True)]
    return Film("Keep a quarter: what do you miss?", frames, HIGH)


def _shelf(way: str, at: Shelf, key: str = "") -> list[Part]:
    """Books and the question, row by row, and what a way keeps of them."""
    parts = {"far": (0, NEAR[0]), "near": (NEAR[0], BOOKS + 1)}
    rows = range(1 if way == "shared" else HEADS)

    def row(name: str, head: int, n: int, to: int, colour: Colour, opacity: float) -> Part:
        (x, y), half = at.place(n, head), at.side / 2
        ends = (x - half, y), (at.place(to - 1)[0] + half, y)
        dashes = f"{at.side:.3f} {at.step - at.side:.3f}"
        return line(f"{key}{name} {head}", ends, colour, at.tall, opacity, dashes, "butt")

    return [row("row", head, 0, BOOKS + 1, GREY, 0.2) for head in range(HEADS)] + [
        row(f"kept {part}", head, *parts[part], PURPLE, PALE)
        for part in parts
        for head in rows
        if (way, part) != ("window", "far")
    ]


def _read(n: int, head: int, right: bool, at: Shelf, key: str = "") -> Part:
    """What a question asks about: filled if it is found, else outlined."""
    (x, y), wide, high = at.place(n, head), at.side, at.tall
    edge = 0 if right else max(2.2, 0.18 * wide)
    corner = x - wide / 2, y - high / 2
    return box(f"{key}read {n}", corner, (wide, high), _colour(right), right, edge)


def _look(n: int, right: bool) -> list[Part]:
    """A question, and an arc to the book that it asks about."""
    x, start, up = SHELF.place(n)[0], SHELF.place(BOOKS)[0], NEAR[-1] - n if n in NEAR else 2
    high, floor = SHELF.top - (LOWEST + up * STEP), SHELF.top - FLOOR
    turns = [step * pi / 40 for step in range(21)]
    bow = [(start + (x - start) * sin(t), floor + (high - floor) * cos(t)) for t in turns]
    return [
        line(f"look {n}", bow, _colour(right), 3.2, dashes="1 0" if right else "6.0 7.0"),
        dot(f"asks {up}", start, high, ASK, ORANGE),
        word(f"ask {up}", start, high + 6.5, "?", GROUND, size=SMALL, weight=HEAVY),
    ]


def _answers(reads: list[tuple[int, int, bool]], y: float) -> list[Part]:
    """Which answers are right, in the order of the books that they are about."""
    r, parts = DISC, list[Part]()
    for back, (n, _, right) in enumerate(sorted(reads, reverse=True)):
        x = WIDE - r - back * APART * r
        mark = [(x + across * r, y + down * r) for across, down in (FOUND if right else MISSED)]
        parts.append(dot(f"answer {n}", x, y, r, _colour(right)))
        parts.append(line(f"mark {n}", mark, GROUND, 0.24 * r))
    return parts


def _scene(
    way: str, test: str, known: dict[str, Any], at: Shelf = SHELF, key: str = ""
) -> list[Part]:
    """A way's shelf, what it looks at there in one text of a test, and how often it is right."""
    far, *near = known["reads"]
    rows = list(dict.fromkeys(row for _, row, _ in sorted(near)))
    reads = [(n, rows.index(row), right) for n, row, right in near]
    reads = reads if test == "near" else [(far[0], 0, far[2])]
    y, large = (262, 46) if at == SHELF else (at.place(0, HEADS - 0.5)[1] + UNDER, LARGE)
    right = known[test]
    says = (f"{key}right", at.left, y, f"{right:.0%}", _colour(right), "start", large, HEAVY)
    parts = [*_shelf(way, at, key), *(_read(*read, at, key) for read in reads), word(*says)]
    if at == SHELF:
        parts += [part for n, _, right in reads for part in _look(n, right)]
        parts += _answers(reads, y - 0.365 * large)
    return parts


def _turn(way: str, test: str, known: dict[str, Any]) -> list[Part]:
    """A way in one test."""
    name, more, _ = WAYS[way]
    says = [word("about", BESIDE, 251, ASKS[test], INK, "start", SMALL)]
    if _colour(known[test]) == INK:
        guess = f"a guess: {1 / LETTERS:.0%}"
        says = [
            word("about", BESIDE, 240, ASKS[test], INK, "start", SMALL),
            word("guess", BESIDE, 262, guess, GREY, "start", SMALL),
        ]
    return [
        *_scene(way, test, known),
        word("name", 0, TOP, name, INK, "start", BIG, HEAVY),
        word("more", 0, MORE, more, GREY, "start", SMALL),
        word("keeps", WIDE, TOP, f"{share(way):.0%} kept", PURPLE, "end", weight=600),
        *says,
    ]


def _end(known: Known) -> list[Part]:
    """Both ways in both tests: the last scene glides there."""
    top, at = 15, ENDS["window", "far"]
    y = at.place(0, HEADS - 0.5)[1] + UNDER
    parts = [
        word("quarter", 0, top, f"{share('window'):.0%} kept", PURPLE, "start", SMALL, 600),
        word("guessed", at.left + 92, y, "a guess", GREY, "start", SMALL),
    ]
    for test, left in zip(ASKS, LEFTS, strict=True):
        parts.append(word(f"{test} head", left, top, ASKS[test], INK, "start", SMALL, 600))
    for way, under in TOPS.items():
        name, _, more = WAYS[way]
        parts.append(word(f"{way} name", 0, under + 28, name, INK, "start", SMALL, 600))
        parts.append(word(f"{way} more", 0, under + 50, more, GREY, "start", SMALL))
    for (way, test), at in ENDS.items():
        key = "" if (way, test) == ("shared", "near") else f"{way} {test} "
        parts += _scene(way, test, known[way], at, key)
    return parts


def _colour(right: float) -> Colour | str:
    """Of what is found, or is missed."""
    return BLUE if right > 0.9 else INK
