"""Lesson 12 opens with a table that fills up: four ways to keep a text, and what each one loses.

One question is asked of all, for the letter in a far book. What a way keeps of the books is inked,
a stripe for each head, as large as it is beside what full attention keeps; pale is what it gave up.
The readers were trained as the lesson trains them; `python -m tests.claims.shortcuts` does that
again, and records in `opening.json` what they look at in one text, and how often they are right.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

from attnlab.figures.live.film import Film, Frame
from attnlab.figures.live.parts import SMALL, Part, arc, box, line, word
from attnlab.figures.palette import BLUE, GREY, ORANGE, PURPLE

RECORDED = Path(__file__).with_suffix(".json")
AT_ONCE = {"full": 1.0, "shared": 0.66}  # are right if four books are asked for, in another test
WINDOW, LETTERS, BOOKS = 8, 8, 32  # tokens a window keeps; letters that may be in a book
ASKED = 4  # the book, out of every window's reach
HEADS, WIDTH = 4, 8  # and numbers in a head's key
TABLE = (WIDTH * WIDTH + WIDTH) / (2 * WIDTH)  # a head's running sum, in keys and values of a token

HIGH, LEFT, RIGHT = 264, 4, 476  # of the sheet; of names, and of results
LEAST, THICKEST = 0.05, 9  # a weight that is drawn; an arc of weight 1
BOOK, GAP = 0.8, 2  # a book's width, as a share of its room; between the stripes of heads
FOUND = 0.95  # right so often, it finds
BIG, LARGE, HEAVY = 24, 25, 700  # words; results

WAYS = {"full": "full attention", "window": "window", "sum": "running sum", "shared": "shared keys"}
TOLD = (
    f"Full attention keeps every book's key and value, in {HEADS} heads, and finds it.",
    f"A window keeps the question and the last {WINDOW - 1} books. "
    f"Far ones it guesses: 1 in {LETTERS}.",
    "A running sum adds all books into one small table in each head.",
    f"{HEADS} heads share keys and values. For four books at once: {AT_ONCE['shared']:.0%}, "
    f"where full attention has {AT_ONCE['full']:.0%}.",
)
Known = dict[str, dict[str, Any]]  # by way: how often it is right, and its weights


class Room(NamedTuple):
    """Where a shelf is: its edges, how high arcs may be, their feet, and how high books are."""

    left: float
    right: float
    rise: float
    floor: float
    high: float

    @property
    def pitch(self) -> float:
        """From one token to the next."""
        return (self.right - self.left) / (BOOKS + 1)

    @property
    def wide(self) -> float:
        """A book."""
        return BOOK * self.pitch

    @property
    def asks(self) -> float:
        """The middle of the question, which is as high as books."""
        return self.before(BOOKS) + 0.34 * self.high

    @property
    def table(self) -> float:
        """The middle of a running sum, which stands behind the question."""
        return self.right + 36

    @property
    def dashes(self) -> str:
        """A line of books."""
        return f"{self.wide:.2f} {self.pitch - self.wide:.2f}"

    def at(self, n: int) -> float:
        """The middle of a token."""
        return self.left + (n + 0.5) * self.pitch

    def before(self, n: int) -> float:
        """The left edge of a book."""
        return self.at(n) - self.wide / 2


STAGE = Room(LEFT, 466, 96, 168, 40)
ROOMS = {way: Room(162, 364, 21, 49 + 60 * n, 24) for n, way in enumerate(WAYS)}


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
    asked = f"Four small trained models are asked for the letter in a far book, 1 of {LETTERS}."
    frames = [Frame(_question(), asked)]
    for turn, told in enumerate(TOLD):
        parts = [
            word("books", ROOMS["full"].left, 17, f"{BOOKS} books", GREY, "start", SMALL),
            word("of", RIGHT, 17, "right on far books", GREY, "end", SMALL),
        ]
        for n, way in enumerate(WAYS):
            books, *question = _shelf(way, ROOMS[way])
            parts += [books, *_ink(way, n <= turn), *question, _words(way)[0]]
            if n <= turn:
                parts += [*_looks(way, known), _words(way)[1], _result(way, known)]
        frames.append(Frame(parts, told))
    return Film("Three ways to keep less: is a far book found?", frames, HIGH)


# A shelf ------------------------------------------------------------------------------------------


def _shelf(way: str, room: Room, seen: float = 1) -> list[Part]:
    """All books, pale, the one that is asked for with an edge; and the question."""
    y = room.floor + 2 + room.high / 2
    ends = [(room.before(n), y) for n in (0, BOOKS)]
    corner, size = (room.before(ASKED), room.floor + 2), (room.wide, room.high)
    place = room.asks, y + 0.36 * room.high
    return [
        line(f"{way} shelf", ends, GREY, room.high, 0.2 * seen, room.dashes, "butt"),
        box(f"{way} asked", corner, size, BLUE, 0, 1.5, seen),
        word(f"{way} asks", *place, "?", size=room.high, weight=HEAVY, opacity=seen),
    ]


def _ink(way: str, known: bool) -> list[Part]:
    """What is kept of each book in each head; before its turn all, which is not seen yet."""
    room, parts, dashes = ROOMS[way], [], ROOMS[way].dashes
    start, end = room.before(0), room.before(BOOKS)
    if known and way == "window":
        start = room.before(BOOKS - WINDOW + 1)
    if known and way == "sum":
        wide = TABLE * room.wide
        start, end, dashes = room.table - wide / 2, room.table + wide / 2, f"{wide:.2f} 1"
    thick = (room.high - (HEADS - 1) * GAP) / HEADS
    for head in range(HEADS):
        stripe = 0 if known and way == "shared" else head
        y = room.floor + 2 + thick / 2 + stripe * (thick + GAP)
        look: dict[str, Any] = {"opacity": float(known), "cap": "butt"}
        ends = [(start, y), (end, y)]
        parts.append(line(f"{way} head {head}", ends, PURPLE, thick, dashes=dashes, **look))
        if way in ("full", "shared"):
            ends = [(room.before(ASKED), y), (room.before(ASKED) + room.wide, y)]
            parts.append(line(f"{way} found {head}", ends, BLUE, thick, **look))
    return parts


def _looks(way: str, known: Known) -> list[Part]:
    """What is looked at, in the mean of heads; who keeps no books looks at the table."""
    room = ROOMS[way]
    seen = [(n, room.at(n), each) for n, each in enumerate(known[way]["weights"][:-1])]
    if way == "sum":
        seen = [(BOOKS // 2, room.table, 1)]
    parts = []
    for n, x, weight in seen:
        if weight >= LEAST:
            pull = room.rise * (0.4 + 0.6 * (BOOKS - n) / BOOKS) / 0.75
            look: dict[str, Any] = {"opacity": 1.4, "pull": pull, "thickest": THICKEST}
            ends, colour = (room.asks, x), BLUE if n == ASKED else ORANGE
            key = f"{way} look {n}"
            parts.append(arc(key, *ends, room.floor, weight, colour, dashes="1 0", **look))
    return parts


# Words --------------------------------------------------------------------------------------------


def _question() -> list[Part]:
    """Nothing has looked yet: an arc that asks only, and what is at its ends."""
    ends = STAGE.asks, STAGE.at(ASKED)
    look: dict[str, Any] = {"pull": STAGE.rise / 0.75, "thickest": 12}
    y = STAGE.floor + STAGE.high + 32
    return [
        arc(f"full look {ASKED}", *ends, STAGE.floor, 0.2, BLUE, 2, dashes="1 9", **look),
        *(part for way in WAYS for part in _shelf(way, STAGE, float(way == "full"))),
        word("books", LEFT, 26, f"{BOOKS} books", anchor="start", size=BIG, weight=HEAVY),
        word("does", LEFT, 52, "each has a title, and a letter inside", GREY, "start", BIG),
        word("this", ends[1] - 8, y, "this one", BLUE, "start", BIG, HEAVY),
        word("asks for", RIGHT, y, "its letter?", anchor="end", size=BIG, weight=HEAVY),
    ]


def _words(way: str) -> tuple[Part, Part]:
    """A way's name, and how much it keeps."""
    name, y, many = WAYS[way], ROOMS[way].floor, kept()
    keeps = f"keeps {many[way] / many['full']:.0%}"
    return (
        word(f"{way} name", LEFT, y + 3, name, anchor="start", size=SMALL, weight=HEAVY),
        word(f"{way} keeps", LEFT, y + 25, keeps, PURPLE, "start", SMALL),
    )


def _result(way: str, known: Known) -> Part:
    """How often a way is right."""
    right, y = known[way]["right"], ROOMS[way].floor + 22
    colour = BLUE if right >= FOUND else ORANGE
    return word(f"{way} right", RIGHT, y, f"{right:.0%}", colour, "end", LARGE, HEAVY)
