"""Lesson 12 opens with a table that fills up: four ways to keep a text, and what each one loses.

One question is asked of all, for the letter in a far book. Purple under the books is what a way
keeps of them, pale what full attention keeps beyond that. Who passed has a second test, four
letters at once. The readers were trained as the lesson trains them; `python -m
tests.claims.shortcuts` does that again, and records in `opening.json` what they look at in one text
of each test, and how often they are right.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

from attnlab.figures.live.film import Film, Frame
from attnlab.figures.live.parts import INK, SMALL, Part, arc, box, line, word
from attnlab.figures.palette import BLUE, GREY, ORANGE, PURPLE

RECORDED = Path(__file__).with_suffix(".json")
FAR, FOUR = "far", "four"  # the letter in a book that no window reaches; in four books at once
FOUND = 0.95  # right so often, it finds
WINDOW, LETTERS = 8, 8  # what a window keeps; letters that may be in a book
BOOKS, FEW = 32, 8  # in the first test, and in the second
HEADS, WIDTH = 4, 8  # and numbers in a head's key
TABLE = (WIDTH * WIDTH + WIDTH) / (2 * WIDTH)  # a head's running sum, in keys and values of a token

HIGH, LEFT = 269, 4  # of the sheet; left of all names
HEAD, FULL, ROWS, LANE = 16, 44, 50, 73  # lines: tests, full attention; first row's top; a row
TESTS = {FAR: (367, "a far one"), FOUR: (443, f"4 of {FEW}")}
LEAST, THICKEST = 0.05, 11  # a weight that is drawn; an arc of weight 1
BOOK = 0.8  # a book's width, as a share of its room
PALE, LATER = 0.2, 0.3  # what is not kept, or out of reach; a way that has not had its turn
BIG, LARGE, HEAVY = 24, 25, 700  # words; results

NAMES = {
    "full": "full attention",
    "window": f"window of {WINDOW}",
    "sum": "running sum",
    "shared": "shared keys",
}
KEEPS = {
    "full": "keeps all",
    "window": f"keeps {WINDOW} of {BOOKS + 1}",
    "sum": "keeps a seventh",
    "shared": "keeps a quarter",
}
TOLD = {
    "full": f"Full attention keeps every book's key and value in {HEADS} heads: {{:.0%}} right.",
    "window": f"A window keeps {WINDOW - 1} books and the question. Far ones it guesses: "
    f"1 in {LETTERS}.",
    "sum": "A running sum adds all books into one small table in each head: {:.0%} right.",
    "shared": "Heads that share keys and values keep a quarter, and still find the book.",
}
Cell = dict[str, Any]  # how often a way is right in a test; what a text asks for, and its weights
Known = dict[str, dict[str, Cell]]  # by way and test


class Room(NamedTuple):
    """Where a shelf is: its edges, the tops and feet of arcs, how high books are, rows of heads."""

    left: float
    right: float
    top: float
    floor: float
    high: float
    row: float

    def at(self, n: int, tokens: int = BOOKS + 1) -> float:
        """The middle of a token."""
        return self.left + (n + 0.5) * (self.right - self.left) / tokens


STAGE = Room(LEFT, 472, 72, 168, 40, 6)
LINES = FULL, *(ROWS + n * LANE + 46 for n in range(3))  # of results
SHELF = 154, 320  # edges of one in a row


def kept(tokens: int = BOOKS + 1) -> dict[str, int]:
    """How many numbers each way keeps of so many tokens, as the lesson counts them."""
    full = 2 * HEADS * WIDTH * tokens  # keys and values
    return {
        "full": full,
        "window": full * WINDOW // tokens,
        "sum": HEADS * (WIDTH * WIDTH + WIDTH),
        "shared": full // HEADS,
    }


def opening() -> Film:
    """The film."""
    known: Known = json.loads(RECORDED.read_text(encoding="utf-8"))
    full, *ways = NAMES
    told = {way: TOLD[way].format(known[way][FAR]["right"]) for way in NAMES}
    asked = f"The question names a far book. Its answer is the letter inside, one of {LETTERS}."
    frames = [Frame(_question(_unseen(known)), asked)]
    parts = [
        word("asked", SHELF[1], HEAD, "right, if asked for", GREY, "end", SMALL),
        _head(FAR),
        *_words(full, SHELF[0], FULL, FULL),
        _result(full, FULL, FAR, known),
    ]
    large = [*_kept(STAGE, full, ways[0]), *_shelf(STAGE, ways[0], known[full][FAR])]
    frames.append(Frame([*parts, *large], told[full]))
    for n, way in enumerate(ways):
        row = _shelf(_room(n), way, known[way][FAR], WINDOW if way == "window" else BOOKS + 1)
        parts += [*_named(n, way), *row, _result(way, LINES[n + 1], FAR, known)]
        later = [part for m in range(n + 1, len(ways)) for part in _later(m, ways[m], known)]
        frames.append(Frame([*parts, *later], told[way]))
    parts = [part for part in parts if part.key not in {each.key for each in row}]
    parts += [_head(FOUR), *_shelf(_room(n), "few", known[way][FOUR])]
    parts += [_result(each, y, FOUR, known) for each, y in zip(NAMES, LINES, strict=True)]
    says = f"Four of {FEW} books at once: one shared key is too narrow, arcs go astray."
    frames.append(Frame(parts, says))
    return Film("Three ways to keep less, and what each one loses", frames, HIGH)


# A shelf ------------------------------------------------------------------------------------------


def _room(n: int) -> Room:
    """In a row of the table."""
    top = ROWS + n * LANE
    return Room(*SHELF, top + 5, top + 29, 16, 3.5)


def _named(n: int, way: str) -> list[Part]:
    """A way's name, and what it keeps, before what full attention keeps."""
    room, top = _room(n), ROWS + n * LANE
    return [
        *_words(way, LEFT, top + 34, top + 58),
        *_kept(room, "full", f"{way} all", PALE),
        *_kept(room, way, way),
    ]


def _later(n: int, way: str, known: Known) -> list[Part]:
    """A row that has not had its turn: a shelf of which all is kept."""
    room, [name, *_] = _room(n), _named(n, way)
    parts = [name, *_kept(room, "full", way), *_shelf(room, way, _unseen(known))]
    return [part._replace(look={**part.look, "opacity": LATER}) for part in parts]


def _unseen(known: Known) -> Cell:
    """The first test before anything has looked."""
    return {**known["full"][FAR], "weights": [0] * (BOOKS + 1)}


def _shelf(room: Room, key: str, cell: Cell, reach: int = BOOKS + 1) -> list[Part]:
    """Books, blue if asked for, pale if out of reach; what is looked at, in the mean of heads."""
    *weights, _ = cell["weights"]
    tokens, parts, arcs = len(weights) + 1, [], []
    asks, wide = room.at(tokens - 1, tokens), BOOK * (room.right - room.left) / tokens
    for n, weight in enumerate(weights):
        x, back, wanted = room.at(n, tokens), tokens - 1 - n, n in cell["asked"]
        corner, size = (x - wide / 2, room.floor + 2), (wide, room.high)
        colour, filled, edge = (BLUE, 0.6, 1.5) if wanted else (INK, 0.16, 0)
        seen = 1 if back < reach else PALE
        parts.append(box(f"{key} book {n}", corner, size, colour, filled, edge, seen))
        if weight >= LEAST:
            pull = (room.floor - room.top) * (0.4 + 0.6 * back / len(weights)) / 0.75
            look: dict[str, Any] = {"opacity": 1.4, "pull": pull, "thickest": THICKEST}
            colour = BLUE if wanted else ORANGE
            arcs.append(arc(f"{key} look {n}", asks, x, room.floor, weight, colour, **look))
    letter = max(SMALL, room.high)
    y = room.floor + 2 + room.high / 2 + 0.36 * letter
    return [*parts, word(f"{key} asks", asks + 2, y, "?", size=letter, weight=HEAVY), *arcs]


def _kept(room: Room, way: str, key: str, opacity: float = 1) -> list[Part]:
    """What a way keeps, a row for each head, as long as its tokens; into a sum all books run."""
    wide, foot = (room.right - room.left) / (BOOKS + 1), room.floor + room.high + 3
    long = {"window": WINDOW, "sum": TABLE}.get(way, BOOKS + 1) * wide
    top = foot + 3 * room.row
    ys = (top + (0 if way == "shared" else n) * room.row for n in range(HEADS))
    look: dict[str, Any] = {"opacity": opacity, "cap": "butt"}
    ends, into = (room.right - long, room.right), (room.right - long / 2, top - room.row / 2)
    return [
        *(
            line(f"{key} head {n}", [(x, y) for x in ends], PURPLE, room.row - 1, **look)
            for n, y in enumerate(ys)
        ),
        *(
            line(f"{key} into {n}", [(room.at(n), foot), into], PURPLE, 0.6, 0.6)
            for n in range(BOOKS if way == "sum" else 0)
        ),
    ]


# Words --------------------------------------------------------------------------------------------


def _question(cell: Cell) -> list[Part]:
    """Nothing has looked yet: an arc that asks only, and what is at its ends."""
    ends = STAGE.at(BOOKS), STAGE.at(cell["asked"][0])
    look: dict[str, Any] = {"pull": (STAGE.floor - STAGE.top) / 0.75, "thickest": 12}
    y = STAGE.floor + STAGE.high + 32
    return [
        arc("question", *ends, STAGE.floor, 0.2, BLUE, 2, dashes="1 9", **look),
        *_shelf(STAGE, "window", cell),
        word("name", LEFT, 26, f"{BOOKS} books", anchor="start", size=BIG, weight=HEAVY),
        word("does", LEFT, 52, "each has a title, and a letter inside", GREY, "start", BIG),
        word("this", ends[1] - 8, y, "this one", BLUE, "start", BIG, HEAVY),
        word("asks for", STAGE.right, y, "its letter?", anchor="end", size=BIG, weight=HEAVY),
    ]


def _head(test: str) -> Part:
    """Over a test's results."""
    x, text = TESTS[test]
    return word(test, x, HEAD, text, size=SMALL)


def _words(way: str, left: float, y: float, low: float) -> list[Part]:
    """A way's name, and how much it keeps."""
    return [
        word(f"{way} name", LEFT, y, NAMES[way], anchor="start", size=SMALL, weight=HEAVY),
        word(f"{way} keeps", left, low, KEEPS[way], PURPLE, "start", SMALL),
    ]


def _result(way: str, y: float, test: str, known: Known) -> Part:
    """How often a way is right in a test, if it was put to it."""
    text, colour = "–", GREY
    if cell := known[way].get(test):
        text, colour = f"{cell['right']:.0%}", BLUE if cell["right"] >= FOUND else ORANGE
    return word(f"{way} {test}", TESTS[test][0], y, text, colour, size=LARGE, weight=HEAVY)
