"""Lesson 12 opens with a table that fills up: four ways to keep a text, and what each one loses.

One question is asked of all, for the letter in a far book. Purple under the books is what a way
keeps of them, pale what full attention keeps beyond that. Then comes a second test, four letters at
once. The readers were trained as the lesson trains them; `python -m tests.claims.shortcuts` does
that again, and records in `opening.json` what they look at in one text, and how often they are
right.
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

HIGH, LEFT = 268, 4  # of the sheet; left of all names
HEAD, ROWS, LANE = (16, 37), 46, 56  # lines over all rows; the first one's top; how high one is
TESTS = {FAR: (342, "1 far book", f"of {BOOKS}"), FOUR: (434, "4 at once", f"of {FEW}")}
LEAST, THICKEST = 0.05, 11  # a weight that is drawn; an arc of weight 1
BOOK = 0.8  # a book's width, as a share of its room
PALE, OUT = 0.22, 0.4  # what is not kept; a book that is out of reach
BIG, LARGE, HEAVY = 24, 27, 700  # words; results
ENDS, LATER = 34, "…"  # from a test's middle to its results' ends; in place of one

NAMES = {
    "full": "full attention",
    "window": f"window of {WINDOW}",
    "sum": "running sum",
    "shared": "shared keys",
}
TOLD = {
    "full": "Full attention keeps a key and a value of each book: {}% right.",
    "window": f"A window keeps {WINDOW - 1} books and the question. Far ones it guesses: "
    f"1 in {LETTERS}.",
    "sum": "A running sum adds all books into one small table in each head: {}% right.",
    "shared": "Heads that share keys and values keep a quarter, and still find the book.",
}
PARTS = {1: "all", 4: "a quarter", 7: "a seventh"}
Known = dict[str, dict[str, Any]]  # by way


class Room(NamedTuple):
    """Where a shelf is: its edges, the tops and feet of arcs, how high books are, rows of heads."""

    left: float
    right: float
    top: float
    floor: float
    high: float
    row: float


STAGE = Room(LEFT, 476, 72, 170, 36, 0)


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
    asked = f"The question names a far book. Its answer is the letter inside, one of {LETTERS}."
    frames = [Frame(_question(known), asked)]
    parts, ways = _heads(), [*NAMES]
    for n, way in enumerate(ways):
        parts += [*_named(n, way), *_shelf(n, way, known[way]), _result(n, way, FAR, known)]
        more = [_result(m, each, FOUR) for m, each in enumerate(ways[: n + 1])]
        if n + 1 < len(ways):
            more += _coming(n, ways[n + 1], known["full"])
        frames.append(Frame([*parts, *more], TOLD[way].format(_percent(known[way][FAR]))))
    parts += [_result(n, way, FOUR, known) for n, way in enumerate(ways)]
    says = "Another test: four letters at once. Here shared keys lose, too."
    frames.append(Frame(parts, says))
    return Film("Three ways to keep less, and what each one loses", frames, HIGH)


def _percent(share: float) -> str:
    return f"{100 * share:.0f}"


# A shelf ------------------------------------------------------------------------------------------


def _room(n: int) -> Room:
    """In a row of the table."""
    top = ROWS + n * LANE
    return Room(138, 288, top + 3, top + 23, 12, 3.5)


def _shelf(n: int, way: str, cell: dict[str, Any]) -> list[Part]:
    """In a row of the table: books, what is looked at, and what a way keeps."""
    room = _room(n)
    others = _kept(room, "full", f"{way} all", PALE)
    return [*others, *_kept(room, way, way), *_books(room, way, cell, way), *_arcs(room, way, cell)]


def _coming(n: int, way: str, full: dict[str, Any]) -> list[Part]:
    """Not seen yet: the shelf of a row, with all kept, that moves into the next one."""
    room = _room(n)
    parts = [
        *_kept(room, "full", f"{way} all"),
        *_kept(room, "full", way),
        *_books(room, way, full, "full"),
    ]
    return [part._replace(look={**part.look, "opacity": 0}) for part in parts]


def _at(room: Room, token: float) -> float:
    """The middle of its room."""
    return room.left + (token + 0.5) * (room.right - room.left) / (BOOKS + 1)


def _books(room: Room, key: str, cell: dict[str, Any], way: str) -> list[Part]:
    """The one asked for is blue, those out of a window's reach are pale; and a question mark."""
    parts, wide = [], BOOK * (room.right - room.left) / (BOOKS + 1)
    for token in range(BOOKS):
        corner = _at(room, token) - wide / 2, room.floor + 2
        colour, filled, edge = (BLUE, 0.6, 1.5) if token == cell["asked"] else (INK, 0.16, 0)
        seen, size = OUT if way == "window" and token <= BOOKS - WINDOW else 1, (wide, room.high)
        parts.append(box(f"{key} book {token}", corner, size, colour, filled, edge, seen))
    letter = max(SMALL, room.high)
    place = _at(room, BOOKS) + 2, room.floor + 2 + room.high / 2 + 0.36 * letter
    return [*parts, word(f"{key} asks", *place, "?", size=letter, weight=HEAVY)]


def _arcs(room: Room, key: str, cell: dict[str, Any]) -> list[Part]:
    """From the question to what it gives weight to, in the mean of its heads."""
    parts = []
    for m, weight in enumerate(cell["weights"][:-1]):
        if weight >= LEAST:
            pull = (room.floor - room.top) * (0.4 + 0.6 * (BOOKS - m) / BOOKS) / 0.75
            colour = BLUE if m == cell["asked"] else ORANGE
            ends = _at(room, BOOKS), _at(room, m)
            look: dict[str, Any] = {"pull": pull, "thickest": THICKEST}
            parts.append(arc(f"{key} look {m}", *ends, room.floor, weight, colour, 1.4, **look))
    return parts


def _kept(room: Room, way: str, key: str, opacity: float = 1) -> list[Part]:
    """What a way keeps, a row for each head, as long as its tokens; a sum is in the middle."""
    wide = (room.right - room.left) / (BOOKS + 1)
    left, right = room.left, room.right
    if way == "window":
        left = right - WINDOW * wide
    elif way == "sum":
        middle = (left + right) / 2
        left, right = middle - TABLE * wide / 2, middle + TABLE * wide / 2
    top = room.floor + room.high + 6.5
    ys = (top + (0 if way == "shared" else n) * room.row for n in range(HEADS))
    look: dict[str, Any] = {"opacity": opacity, "cap": "butt"}
    return [
        line(f"{key} head {n}", [(left, y), (right, y)], PURPLE, room.row - 1, **look)
        for n, y in enumerate(ys)
    ]


# Words --------------------------------------------------------------------------------------------


def _question(known: Known) -> list[Part]:
    """Nothing has looked yet: an arc that asks only, and what is at its ends."""
    cell = known["full"]
    ends = _at(STAGE, BOOKS), _at(STAGE, cell["asked"])
    look: dict[str, Any] = {"pull": (STAGE.floor - STAGE.top) / 0.75, "thickest": 12}
    y = STAGE.floor + STAGE.high + 32
    return [
        arc("question", *ends, STAGE.floor, 0.2, BLUE, 2, dashes="1 9", **look),
        *_books(STAGE, "full", cell, "full"),
        word("name", LEFT, 28, f"{BOOKS} books", anchor="start", size=BIG, weight=HEAVY),
        word("does", LEFT, 56, "each has a title, and a letter inside", GREY, "start", BIG),
        word("asked", ends[1] - 8, y, "this one", BLUE, "start", BIG, HEAVY),
        word("asks for", STAGE.right, y, "its letter?", anchor="end", size=BIG, weight=HEAVY),
    ]


def _heads() -> list[Part]:
    """Over what is kept, and over each test's results."""
    return [
        word("keeps", LEFT, HEAD[1], f"kept of {BOOKS} books", PURPLE, "start", SMALL),
        *(
            word(f"{test} {n}", x, y, text, size=SMALL)
            for test, (x, *lines) in TESTS.items()
            for n, (text, y) in enumerate(zip(lines, HEAD, strict=True))
        ),
    ]


def _named(n: int, way: str) -> list[Part]:
    """A way, and how much it keeps."""
    many, top = kept(), ROWS + n * LANE
    keeps = PARTS[round(many["full"] / many[way])]
    return [
        word(f"{way} name", LEFT, top + 21, NAMES[way], anchor="start", size=SMALL, weight=HEAVY),
        word(f"{way} keeps", LEFT, top + 43, keeps, PURPLE, "start", SMALL),
    ]


def _result(n: int, way: str, test: str, known: Known | None = None) -> Part:
    """How often a way is right in a test, if that is known by now."""
    place = TESTS[test][0] + ENDS, ROWS + n * LANE + 38
    text, colour = LATER, GREY
    if known:
        share = known[way][test]
        text, colour = f"{_percent(share)}%", BLUE if share >= FOUND else ORANGE
    return word(f"{way} {test}", *place, text, colour, "end", LARGE, HEAVY)
