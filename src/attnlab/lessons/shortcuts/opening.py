"""Lesson 12 opens with a table that fills up: four ways to keep a text, and what each one loses.

One question is asked of all, for the letter in a far book. What a way keeps of the books is one
bar, as large as it is beside what full attention keeps; pale is what it gave up. The readers were
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

HIGH, LEFT, RIGHT = 266, 4, 476  # of the sheet; its edges
NAMES, KEEPS = 124, 78  # where names end, and how much is kept
LEAST, THICKEST = 0.1, 9  # a weight that is drawn; an arc of weight 1
BOOK, BESIDE = 0.8, 9  # a book's width, as a share of its room; from the shelf to the table
FOUND = 0.95  # right so often, it finds
BIG, LARGE, HEAVY = 24, 28, 700  # words; results

WAYS = {"full": "full attention", "window": "window", "sum": "running sum", "shared": "shared keys"}
TOLD = (
    f"Full attention keeps each book's key and value, in {HEADS} heads, and finds the far one.",
    f"A window keeps the question and the last {WINDOW - 1} books. "
    f"Far ones it guesses: 1 in {LETTERS}.",
    "A running sum adds all books into one small table in each head. No book stands out.",
    f"{HEADS} heads share each book's key and value, and find it. "
    f"For four books at once: {AT_ONCE['shared']:.0%}; full attention: {AT_ONCE['full']:.0%}.",
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
        """From one book to the next."""
        return (self.right - self.left) / BOOKS

    @property
    def wide(self) -> float:
        """A book."""
        return BOOK * self.pitch

    @property
    def asks(self) -> float:
        """The middle of the question."""
        return self.right + 5 + 0.3 * self.high

    @property
    def table(self) -> tuple[float, float]:
        """The edges of a running sum, which stands between books and question."""
        return self.right + BESIDE, self.right + BESIDE + TABLE * self.pitch

    def at(self, n: float) -> float:
        """The middle of a book."""
        return self.left + (n + 0.5) * self.pitch


STAGE = Room(LEFT, 440, 96, 168, 40)
ROOMS = {way: Room(134, 340, 21, 49 + 61 * n, 28) for n, way in enumerate(WAYS)}


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
            parts += [*_shelf(way, ROOMS[way], n <= turn), _name(way)]
            if n <= turn:
                parts += [*_looks(way, known), *_result(way, known)]
        frames.append(Frame(parts, told))
    return Film("Three ways to keep less: is a far book found?", frames, HIGH)


# A shelf ------------------------------------------------------------------------------------------


def _shelf(way: str, room: Room, inked: bool = False, seen: float = 1) -> list[Part]:
    """All books, pale, what is kept of them, the one that is asked for, and the question."""
    top, low = room.floor + 3, room.floor + 3 + room.high
    edge = (room.pitch - room.wide) / 2
    ends = [(x, (top + low) / 2) for x in (room.left + edge, room.right - edge)]
    (start, end), high, asks = (room.left, room.right), room.high, room.asks
    if inked and way == "window":
        start = room.right - (WINDOW - 1) * room.pitch
    if inked and way == "sum":
        start, end = room.table
        asks += end - room.right
    if inked and way == "shared":
        high /= HEADS
    asked = room.at(ASKED) - room.wide / 2, top
    found = high if inked and way in ("full", "shared") else 0
    dashes = f"{room.wide:.2f} {room.pitch - room.wide:.2f}"
    return [
        line(f"{way} shelf", ends, GREY, room.high, 0.25 * seen, dashes, "butt"),
        box(f"{way} kept", (start, top), (end - start, high), PURPLE, opacity=float(inked)),
        box(f"{way} asked", asked, (room.wide, room.high), BLUE, 0, 2, seen),
        box(f"{way} found", asked, (room.wide, found), BLUE, opacity=seen),
        word(
            f"{way} asks",
            asks,
            low - 0.14 * room.high,
            "?",
            size=room.high,
            weight=HEAVY,
            opacity=seen,
        ),
    ]


def _looks(way: str, known: Known) -> list[Part]:
    """What is looked at, in the mean of heads; who keeps no books looks at their sum."""
    room, parts = ROOMS[way], list[Part]()
    asks, (start, end) = room.asks, room.table
    seen = [(n, room.at(n), each) for n, each in enumerate(known[way]["weights"][:-1])]
    if way == "sum":
        asks += end - room.right
        for n, x, _ in seen:
            to = start + (end - start) * (0.55 - 0.5 * n / BOOKS)
            look: dict[str, Any] = {"opacity": 2, "pull": _pull(room, n)}
            parts.append(arc(f"sum adds {n}", x, to, room.floor, 0, PURPLE, **look))
        seen = [(BOOKS, end - 6, 1)]
    for n, x, weight in sorted(
        seen, key=lambda each: each[0] == ASKED
    ):  # what is found lies in front
        if weight >= LEAST:
            colour = BLUE if n == ASKED else ORANGE
            look = {"pull": _pull(room, n), "opacity": 1 / (0.25 + 0.75 * weight)}
            look |= {"dashes": "1 0", "thickest": THICKEST}
            parts.append(arc(f"{way} look {n}", asks, x, room.floor, weight, colour, **look))
    return parts


def _pull(room: Room, n: int) -> float:
    """How far an arc's ends pull it up, the further the book is."""
    return room.rise * (0.4 + 0.6 * (BOOKS - n) / BOOKS) / 0.75


# Words --------------------------------------------------------------------------------------------


def _question() -> list[Part]:
    """Nothing has looked yet: an arc that asks only, and what is at its ends."""
    ends = STAGE.asks, STAGE.at(ASKED)
    look: dict[str, Any] = {"pull": STAGE.rise / 0.75, "thickest": 12}
    y = STAGE.floor + STAGE.high + 32
    return [
        arc(f"full look {ASKED}", *ends, STAGE.floor, 0.2, BLUE, 2, dashes="1 9", **look),
        *(part for way in WAYS for part in _shelf(way, STAGE, seen=float(way == "full"))),
        word("books", LEFT, 26, f"{BOOKS} books", anchor="start", size=BIG, weight=HEAVY),
        word("does", LEFT, 52, "each has a title, and a letter inside", GREY, "start", BIG),
        word("this", ends[1] - 8, y, "this one", BLUE, "start", BIG, HEAVY),
        word("asks for", RIGHT, y, "its letter?", anchor="end", size=BIG, weight=HEAVY),
    ]


def _name(way: str) -> Part:
    return word(f"{way} name", NAMES, ROOMS[way].floor, WAYS[way], anchor="end", size=SMALL)


def _result(way: str, known: Known) -> list[Part]:
    """How much a way keeps, and how often it is right."""
    y, many, right = ROOMS[way].floor + 26, kept(), known[way]["right"]
    keeps, colour = f"{many[way] / many['full']:.0%}", BLUE if right >= FOUND else ORANGE
    return [
        word(f"{way} keeps", KEEPS, y, keeps, PURPLE, "end", BIG, HEAVY),
        word(f"{way} of it", NAMES, y, "kept", PURPLE, "end", SMALL),
        word(f"{way} right", RIGHT, y, f"{right:.0%}", colour, "end", LARGE, HEAVY),
    ]
