"""Lesson 12 opens with a table that fills up: four ways to keep a text, and what each one loses.

One question is asked of all, for the letter in a far book. What a way keeps of the books is inked,
as large as it is beside what full attention keeps; pale is what it gave up. The readers were
trained as the lesson trains them; `python -m tests.claims.shortcuts` does that again, and records
in `opening.json` what they look at in one text, and how often they are right.
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
BOOK = 0.8  # a book's width, as a share of its room
FOUND = 0.95  # right so often, it finds
BIG, LARGE, HEAVY = 24, 25, 700  # words; results

WAYS = {  # by what each keeps
    "full": ("full attention", "keeps all"),
    "window": ("window", f"keeps {WINDOW - 1} of {BOOKS}"),
    "sum": ("running sum", "keeps a seventh"),
    "shared": ("shared keys", "keeps a quarter"),
}
TOLD = (
    f"Full attention keeps every book's key and value, in {HEADS} heads, and finds it.",
    f"A window keeps the last {WINDOW - 1} books. Far ones it guesses: 1 in {LETTERS}.",
    "A running sum adds all books into one small table in each head.",
    f"Shared keys find one book. Of four at once: {AT_ONCE['shared']:.0%}, "
    f"full attention {AT_ONCE['full']:.0%}.",
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

    def at(self, n: int) -> float:
        """The middle of a token."""
        return self.left + (n + 0.5) * self.pitch


STAGE = Room(LEFT, 472, 96, 168, 40)
ROOMS = {way: Room(154, 394, 21, 49 + 60 * n, 23) for n, way in enumerate(WAYS)}


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
    asked = f"Four small trained models name the letter in a far book, 1 of {LETTERS} letters."
    frames = [Frame(_question(), asked)]
    for turn, told in enumerate(TOLD):
        parts = [word("of", RIGHT, 17, "right on far books", GREY, "end", SMALL)]
        for way in reversed(WAYS):  # until its turn, a way's ink lies behind that of the first
            parts += _ink(way if [*WAYS].index(way) <= turn else "full", way)
        for n, way in enumerate(WAYS):
            parts += [*_shelf(way, ROOMS[way]), _words(way)[0]]
            if n <= turn:
                parts += [*_looks(way, known), _words(way)[1], _result(way, known)]
        frames.append(Frame(parts, told))
    return Film("Three ways to keep less: is a far book found?", frames, HIGH)


# A shelf ------------------------------------------------------------------------------------------


def _shelf(way: str, room: Room) -> list[Part]:
    """All books, pale, the one that is asked for with an edge; and the question."""
    wide, y = BOOK * room.pitch, room.floor + 2 + room.high / 2
    start, end = (room.left + (n + (1 - BOOK) / 2) * room.pitch for n in (0, BOOKS))
    dashes = f"{wide:.2f} {room.pitch - wide:.2f}"
    corner = start + ASKED * room.pitch, room.floor + 2
    letter = max(SMALL, room.high)
    return [
        line(f"{way} shelf", [(start, y), (end, y)], GREY, room.high, 0.2, dashes, "butt"),
        box(f"{way} asked", corner, (wide, room.high), BLUE, 0, 1.5),
        word(f"{way} asks", room.at(BOOKS) + 2, y + 0.36 * letter, "?", size=letter, weight=HEAVY),
    ]


def _ink(way: str, key: str) -> list[Part]:
    """What a way keeps of each book: all, none, a quarter of its height, or all in one table."""
    room, parts = ROOMS[way], []
    wide, high = BOOK * room.pitch, room.high / HEADS if way == "shared" else room.high
    for n in range(BOOKS):
        x, colour = room.at(n) - wide / 2, BLUE if n == ASKED and way != "sum" else PURPLE
        size, seen = (wide, high), way != "window" or BOOKS - n < WINDOW
        if way == "sum":
            size = TABLE * wide, high
            x = (room.left + room.right - size[0]) / 2
        corner = x, room.floor + 2
        parts.append(box(f"{key} book {n}", corner, size, colour, opacity=float(seen)))
    return parts


def _looks(way: str, known: Known) -> list[Part]:
    """What is looked at, in the mean of heads; who keeps no books looks at the table."""
    room, weights = ROOMS[way], dict(enumerate(known[way]["weights"][:-1]))
    if way == "sum":
        weights = {BOOKS // 2: 1}
    parts = []
    for n, weight in weights.items():
        if weight >= LEAST:
            pull = room.rise * (0.4 + 0.6 * (BOOKS - n) / BOOKS) / 0.75
            look: dict[str, Any] = {"opacity": 1.4, "pull": pull, "thickest": THICKEST}
            ends, colour = (room.at(BOOKS), room.at(n)), BLUE if n == ASKED else ORANGE
            parts.append(arc(f"{way} look {n}", *ends, room.floor, weight, colour, **look))
    return parts


# Words --------------------------------------------------------------------------------------------


def _question() -> list[Part]:
    """Nothing has looked yet: an arc that asks only, and what is at its ends."""
    ends = STAGE.at(BOOKS), STAGE.at(ASKED)
    look: dict[str, Any] = {"pull": STAGE.rise / 0.75, "thickest": 12}
    y = STAGE.floor + STAGE.high + 32
    return [
        arc("question", *ends, STAGE.floor, 0.2, BLUE, 2, dashes="1 9", **look),
        *_shelf("full", STAGE),
        word("name", LEFT, 26, f"{BOOKS} books", anchor="start", size=BIG, weight=HEAVY),
        word("does", LEFT, 52, "each has a title, and a letter inside", GREY, "start", BIG),
        word("this", ends[1] - 8, y, "this one", BLUE, "start", BIG, HEAVY),
        word("asks for", STAGE.right, y, "its letter?", anchor="end", size=BIG, weight=HEAVY),
    ]


def _words(way: str) -> tuple[Part, Part]:
    """A way's name, and how much it keeps."""
    (name, keeps), y = WAYS[way], ROOMS[way].floor
    return (
        word(f"{way} name", LEFT, y + 3, name, anchor="start", size=SMALL, weight=HEAVY),
        word(f"{way} keeps", LEFT, y + 25, keeps, PURPLE, "start", SMALL),
    )


def _result(way: str, known: Known) -> Part:
    """How often a way is right."""
    right, y = known[way]["right"], ROOMS[way].floor + 22
    colour = BLUE if right >= FOUND else ORANGE
    return word(f"{way} right", RIGHT, y, f"{right:.0%}", colour, "end", LARGE, HEAVY)
