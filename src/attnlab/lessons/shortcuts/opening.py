"""Lesson 12 opens with a shelf: what is kept of it, and whether a far book is found.

A column is a book, or the question, a row a head: what a way keeps is as large as it is beside what
full attention keeps. The readers were trained as the lesson trains them;
`python -m tests.claims.shortcuts` does that again, and records in `opening.json` what they look at
in one text, and how often they are right.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from attnlab.figures.live.film import Film, Frame
from attnlab.figures.live.parts import INK, SMALL, Part, Place, arc, box, curve, line, word
from attnlab.figures.palette import BLUE, GREY, ORANGE, PURPLE, Colour

RECORDED = Path(__file__).with_suffix(".json")
AT_ONCE = {"full": 1.0, "shared": 0.66}  # are right if four books are asked for, in another test
WINDOW, LETTERS, BOOKS = 8, 8, 32  # tokens a window keeps; letters that may be in a book
ASKED = 4  # the book, out of every window's reach
HEADS, WIDTH = 4, 8  # and numbers in a head's key
TABLE = (WIDTH * WIDTH + WIDTH) / (2 * WIDTH)  # a head's running sum, in keys and values of a token

HIGH, LEFT, RIGHT = 266, 4, 476  # of the sheet; its edges
PITCH, WIDE = 13.4, 10.8  # from one column to the next; a column
TOP, ROW, GAP = 138, 15, 2  # of the shelf: y; from one head's row to the next; between them
LOW = TOP + HEADS * ROW
ADDED = 385, 12  # the top left of a running sum
RISE, LEAST, THICKEST = 70, 0.1, 10  # the highest arc; a weight that is drawn; an arc of weight 1
BIG, LARGE, HEAVY = 24, 40, 700  # words; results
FIRST, EACH, SMALLER = 46, 61, 0.4  # y of the first way's name at the end; to the next; a shelf
COUNT, START, LONG = 294, 308, 92  # where a count ends; a bar's left; of 100%
FOUND = 0.95  # right so often, it finds

WAYS = {
    "full": ("full attention", "columns: books, rows: heads"),
    "sum": ("running sum", "all books added into one table"),
    "window": ("window", f"the last {WINDOW} columns"),
    "shared": ("shared keys and values", "four heads still ask; they share one row"),
}
TOLD = (
    f"Full attention keeps each book's key and value in {HEADS} heads, and finds the far one.",
    "A running sum adds all books into one small table in each head. It misses most far ones.",
    f"A window keeps the question and the last {WINDOW - 1} books. Far ones it guesses.",
    "All heads read the same keys and values. The far book is still found.",
    "Window and sharing keep about the same: one guesses, one finds. "
    "Thin bars: another test, four at once.",
)
Known = dict[str, dict[str, Any]]  # by way: how often it is right, and its weights


def kept(tokens: int = BOOKS + 1) -> dict[str, int]:
    """How many numbers each way keeps of so many tokens, as the lesson counts them."""
    full = 2 * HEADS * WIDTH * tokens  # keys and values
    return {
        "full": full,
        "window": full * WINDOW // tokens,
        "sum": HEADS * (WIDTH * WIDTH + WIDTH),
        "shared": full // HEADS,
    }


def share(way: str) -> float:
    """How much a way keeps of what full attention keeps."""
    many = kept()
    return many[way] / many["full"]


def opening() -> Film:
    """The film."""
    known: Known = json.loads(RECORDED.read_text(encoding="utf-8"))
    asked = (
        f"Four trained models, one layer each, are asked for the letter in a far book: "
        f"one of {LETTERS} letters."
    )
    sheets = [_question(), *(_turn(way, known[way]) for way in WAYS), _rows(known)]
    frames = [Frame(*both) for both in zip(sheets, (asked, *TOLD), strict=True)]
    return Film("About the same memory: one guesses, one finds", frames, HIGH)


# The shelf ----------------------------------------------------------------------------------------


def middle(n: int) -> float:
    """Of a book, or of the question."""
    return LEFT + (n + 0.5) * PITCH


def _shelf(way: str = "", key: str = "", at: Place = (LEFT, TOP), scale: float = 1) -> list[Part]:
    """Books and the question, pale, row by row, and what a way keeps of them."""
    (left, top), wide, parts = at, scale * WIDE, list[Part]()
    thick = scale * (ROW - GAP if way else ROW)
    books, whole = f"{wide:.2f} {scale * (PITCH - WIDE):.2f}", f"{scale * PITCH:.2f} 0"
    rows = [top + scale * (head + 0.5) * ROW for head in range(HEADS)]

    def span(n: int, last: int, y: float) -> list[Place]:
        return [
            (left + scale * (middle(m) - LEFT + by), y)
            for m, by in ((n, -WIDE / 2), (last, WIDE / 2))
        ]

    for head, y in enumerate(rows):
        parts.append(line(f"{key}row {head}", span(0, BOOKS, y), GREY, thick, 0.25, books, "butt"))
    for head, y in enumerate(rows if way else ()):
        y, look = rows[0] if way == "shared" else y, books
        ends = span(BOOKS + 1 - WINDOW if way == "window" else 0, BOOKS, y)
        if way == "sum":
            x, up = ADDED if scale == 1 else (left + scale * (BOOKS + 1) * PITCH + 6, top)
            ends, look = [(each, y + up - top) for each in (x, x + TABLE * wide)], whole
        parts.append(line(f"{key}kept {head}", ends, PURPLE, thick, 1, look, "butt"))
        if way in ("full", "shared"):
            ends = span(ASKED, ASKED, y)
            parts.append(line(f"{key}found {head}", ends, BLUE, thick, 1, whole, "butt"))
    for name, n, colour in (("asked", ASKED, BLUE), ("question", BOOKS, INK)):
        corner, high = span(n, n, top)[0], scale * (LOW - TOP)
        parts.append(box(f"{key}{name}", corner, (wide, high), colour, 0, 1 + scale))
    return parts


def _look(n: int, weight: float, colour: Colour, dashes: str = "1 0") -> Part:
    """An arc from the question to a book."""
    pull = RISE * (0.3 + 0.7 * (BOOKS - n) / (BOOKS - ASKED)) / 0.75
    opacity = 1 / (0.25 + 0.75 * weight)
    look: dict[str, Any] = {"dashes": dashes, "thickest": THICKEST, "pull": pull}
    return arc(f"look {n}", middle(BOOKS), middle(n), TOP - 4, weight, colour, opacity, **look)


def _named(name: str, more: str) -> list[Part]:
    return [
        word("name", LEFT, 26, name, anchor="start", size=BIG, weight=HEAVY),
        word("more", LEFT, 52, more, GREY, "start"),
    ]


def _asks(y: float) -> Part:
    return word("asks", RIGHT, y, "?", anchor="end", size=44, weight=HEAVY)


def _question() -> list[Part]:
    """Nothing has looked yet: an arc that asks only, and what is at its ends."""
    return [
        _look(ASKED, 0.3, BLUE, "1 9"),
        *_shelf(),
        _asks(TOP + 46),
        *_named(f"{BOOKS} books", "each has a title, and a letter inside"),
        word("this", middle(ASKED) - WIDE / 2, 234, "this one", BLUE, "start", BIG, HEAVY),
        word("its", RIGHT, 234, "question", anchor="end", size=BIG, weight=HEAVY),
    ]


def _turn(way: str, known: dict[str, Any]) -> list[Part]:
    """What a way keeps and looks at, in the mean of heads, and how often it is right."""
    parts = list[Part]()
    if way == "sum":
        for n in range(BOOKS + 1):
            x, colour, thick = ADDED[0] + TABLE * WIDE * (n + 0.5) / (BOOKS + 1), PURPLE, 1
            if n == ASKED:
                colour, thick = BLUE, 3
            ends = (middle(n), TOP - 3), (x, ADDED[1] + LOW - TOP + 1)
            parts.append(curve(f"adds {n}", *ends, colour, thick, upright=True))
    else:
        seen = {n: each for n, each in enumerate(known["weights"][:-1]) if each >= LEAST}
        for n in sorted(seen, key=ASKED.__eq__):  # what is found lies in front
            parts.append(_look(n, seen[n], BLUE if n == ASKED else GREY))
    right, keeps = known["right"], f"{share(way):.0%}"
    return [
        *parts,
        *_shelf(way),
        _asks((ADDED[1] if way == "sum" else TOP) + 46),
        *_named(*WAYS[way]),
        word("kept", LEFT, 252, "kept", PURPLE, "start", BIG),
        word("keeps", LEFT + 60, 252, keeps, PURPLE, "start", LARGE, HEAVY),
        word("right", RIGHT - 62, 252, f"{right:.0%}", _colour(right), "end", LARGE, HEAVY),
        word("of all", RIGHT, 252, "right", _colour(right), "end", BIG),
    ]


def _colour(right: float) -> Colour:
    """Of what is right so often: it finds, or it misses."""
    return BLUE if right >= FOUND else ORANGE


def _rows(known: Known) -> list[Part]:
    """What the ways keep, and how often each is right: asked for one book, and two for four."""
    guess = START + LONG / LETTERS
    parts = [
        word("kept title", COUNT, 16, "kept", PURPLE, "end", SMALL),
        word("guesses", START, 16, "guess", GREY, "start", SMALL),
        word("right title", RIGHT, 16, "right", GREY, "end", SMALL),
    ]
    for n, (way, (name, _)) in enumerate(WAYS.items()):
        key, y = f"{way} " * (way != "shared"), FIRST + n * EACH
        ink, weight = (INK, HEAVY) if way in ("window", "shared") else (GREY, 400)
        parts += [
            word(f"{key}name", LEFT, y, name, ink, "start", SMALL, weight),
            *_shelf(way, key, (LEFT, y + 8), SMALLER),
            word(f"{way} keeps", COUNT, y, f"{share(way):.0%}", PURPLE, "end", weight=weight),
            *_bar(f"{way} ", y, 16, known[way]["right"], BIG - 2),
        ]
        if way in AT_ONCE:
            four = f"{way} four "
            parts.append(word(four, COUNT, y + 26, "four at once", GREY, "end", SMALL))
            parts += _bar(four, y + 26, 6, AT_ONCE[way], SMALL)
    return [*parts, line("guess", [(guess, 26), (guess, HIGH - 4)], GREY, 2, 1, "1 6")]


def _bar(key: str, y: float, thick: float, right: float, size: float) -> list[Part]:
    """How often it is right: a bar, and the number at its end."""
    colour, long = _colour(right), LONG * right
    return [
        box(f"{key}bar", (START, y - 0.36 * size - thick / 2), (long, thick), colour),
        word(f"{key}right", START + long + 7, y, f"{right:.0%}", colour, "start", size, HEAVY),
    ]
