"""Lesson 12 opens with a shelf: what is kept of it, and whether a far book is found.

A column is a book, or apart from them the question, a row a head: what a way keeps is as large as
it is beside what full attention keeps. The readers were trained as the lesson trains them;
`python -m tests.claims.shortcuts` does that again, and records in `opening.json` what they look at
in one text, and how often they are right.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

from attnlab.figures.live.film import Film, Frame
from attnlab.figures.live.parts import INK, SMALL, Part, Place, arc, box, line, word
from attnlab.figures.palette import BLUE, GREY, ORANGE, PURPLE, Colour

RECORDED = Path(__file__).with_suffix(".json")
AT_ONCE = {"full": 1.0, "shared": 0.66}  # are right with four questions at once, another test
WINDOW, LETTERS, BOOKS = 8, 8, 32  # tokens a window keeps; letters that may be in a book
ASKED, FEW, FOUR = 4, 8, (0, 2, 3, 6)  # a far book; books of the other test, and those asked for
HEADS, WIDTH = 4, 8  # and numbers in a head's key

HIGH, LEFT, RIGHT = 270, 4, 476  # of the sheet; its edges
APART, GAP = 10, 2  # the question from the books; rows of heads
THICKEST = 10  # an arc of weight 1
BIG, LARGE, HERO, HEAVY = 24, 36, 42, 700  # words; results
HALF, LOW, THICK = 222, 230, 12  # of a bar of results: 100%, its top, how thick
LONG, EACH = 326, 148  # at the end: 100%, and a shelf; from one way to the next

WAYS = {
    "full": ("full attention", "columns: books, rows: heads"),
    "window": ("window", f"the question and the last {WINDOW - 1} books"),
    "shared": ("shared keys and values", "all four heads read one row"),
}
TOLD = (
    f"Full attention keeps each book’s key and value in {HEADS} heads, and finds the far one.",
    "Asked for the far book, a window looks most at a near one, and guesses. "
    "Near books it mostly finds.",
    "All heads read the same keys and values. The far book is still found.",
    "Sharing has a price: asked four questions at once, "
    f"for one of {LETTERS} letters each, it misses a third.",
    "Both keep a quarter. A window drops books, and guesses the far one. "
    "Sharing drops rows, and finds it, at a price.",
)
Known = dict[str, dict[str, Any]]  # by way: how often it is right, and its weights


class Shelf(NamedTuple):
    """Where books stand: the first one's left, heads' top, and the way to the next of each."""

    left: float = LEFT
    top: float = 128
    pitch: float = 12.9
    row: float = 14
    books: int = BOOKS

    def middle(self, n: int) -> float:
        """Of a book, or of the question."""
        return self.left + n * self.pitch + self.wide / 2 + APART * (n == self.books)

    @property
    def wide(self) -> float:
        return 0.8 * self.pitch


SHELF = Shelf()
END = Shelf(top=60, pitch=(LONG - APART) / (BOOKS + 0.8), row=9)


def kept(tokens: int = BOOKS + 1) -> dict[str, int]:
    """How many numbers each way keeps of so many tokens, as the lesson counts them."""
    full = 2 * HEADS * WIDTH * tokens  # keys and values
    return {
        "full": full,
        "window": full * WINDOW // tokens,
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
        f"Three trained models, one layer each, are asked for the letter in a far book: "
        f"one of {LETTERS} letters."
    )
    sheets = [_question(), *(_turn(way, known[way]) for way in WAYS), _four(), _both(known)]
    frames = [Frame(*both) for both in zip(sheets, (asked, *TOLD), strict=True)]
    return Film("Keep a quarter: one way guesses, one finds", frames, HIGH)


def _shelf(
    way: str = "", key: str = "", at: Shelf = SHELF, marked: tuple[int, ...] = (ASKED,)
) -> list[Part]:
    """Books and the question, pale, row by row, and what a way keeps of them."""
    wide, thick = at.wide, at.row - (GAP if way else 0)
    rows = [at.top + head * at.row + thick / 2 for head in range(HEADS)]
    heads = 1 if way == "shared" else HEADS

    def row(name: str, y: float, first: int, colour: Colour, opacity: float = 1) -> Part:
        ends = [(at.middle(n) + by, y) for n, by in ((first, -wide / 2), (at.books - 1, wide / 2))]
        dashes = f"{wide:.2f} {at.pitch - wide:.2f}"
        return line(f"{key}{name}", ends, colour, thick, opacity, dashes, "butt")

    def column(name: str, n: int, many: int, colour: Colour, opacity: float = 1) -> Part:
        ends = [(at.middle(n), at.top + y) for y in (0, many * at.row - GAP)]
        return line(
            f"{key}{name}", ends, colour, wide, opacity, f"{thick} {at.row - thick}", "butt"
        )

    parts = [row(f"row {head}", y, 0, GREY, 0.25) for head, y in enumerate(rows)]
    parts.append(column("row question", at.books, HEADS, GREY, 0.25))
    if way:
        first = at.books + 1 - WINDOW if way == "window" else 0
        parts += [row(f"kept {n}", rows[n % heads], first, PURPLE) for n in range(HEADS)]
        parts.append(column("kept question", at.books, heads, PURPLE))
    if way in ("full", "shared") and at.books == BOOKS:
        parts.append(column("found", ASKED, heads, BLUE))
    for name, n in [(f"asked {n}", n) for n in marked] + [("question", at.books)]:
        corner, colour = (at.middle(n) - wide / 2, at.top), BLUE if n < at.books else ORANGE
        parts.append(box(f"{key}{name}", corner, (wide, HEADS * at.row - GAP), colour, 0, 2))
    return parts


def _look(key: str, n: int, weight: float, colour: Colour, at: Shelf, asks: bool = False) -> Part:
    """An arc from the question to a book, or one that asks only."""
    rise = (64 if at.row > END.row else 20) * (0.3 + 0.7 * (at.books - n) / at.books) / 0.75
    opacity = 1 / (0.25 + 0.75 * weight)
    look: dict[str, Any] = {"dashes": "1 9" if asks else "1 0", "thickest": THICKEST, "pull": rise}
    ends = at.middle(at.books), at.middle(n)
    return arc(f"{key}look {n}", *ends, at.top - 4, weight, colour, opacity, **look)


def _most(key: str, known: dict[str, Any], at: Shelf) -> Part:
    """The book that a way looks at most, in the mean of heads."""
    weights = known["weights"][:-1]
    n = weights.index(max(weights))
    return _look(key, n, weights[n], BLUE if n == ASKED else GREY, at)


def _named(name: str, more: str) -> list[Part]:
    return [
        word("asks", RIGHT, SHELF.top + 43, "?", ORANGE, "end", 44, HEAVY),
        word("name", LEFT, 24, name, anchor="start", size=BIG, weight=HEAVY),
        word("more", LEFT, 48, more, GREY, "start"),
    ]


def _question() -> list[Part]:
    """Nothing has looked yet: an arc that asks only, and what is at its ends."""
    return [
        _look("", ASKED, 0.3, ORANGE, SHELF, True),
        *_shelf(),
        *_named(f"{BOOKS} books", "each has a title, and a letter inside"),
        word("this", SHELF.middle(ASKED) - SHELF.wide / 2, 220, "this one", BLUE, "start", BIG),
        word("its", RIGHT, 220, "question", ORANGE, "end", BIG),
    ]


def _turn(way: str, known: dict[str, Any]) -> list[Part]:
    """What a way keeps and looks at, and how often it is right."""
    beside = SHELF.middle(BOOKS + 1 - WINDOW) - SHELF.wide / 2
    also = [
        word("near name", beside - 66, SHELF.top - 16, "right if near", BLUE, "end", SMALL),
        word("near", beside, SHELF.top - 16, f"{known['near']:.0%}", BLUE, "end", BIG, HEAVY),
    ]
    return [
        *(also if way == "window" else []),
        _most("", known, SHELF),
        *_shelf(way),
        *_named(*WAYS[way]),
        *_result("keeps", "kept", share(way), PURPLE, LEFT),
        *_result("right", "right if far", known["right"], BLUE, RIGHT - HALF),
        word("guesses", RIGHT - HALF + HALF / LETTERS, HIGH - 4, "guess", GREY, size=SMALL),
    ]


def _result(key: str, says: str, part: float, colour: Colour, left: float) -> list[Part]:
    """A share: its name, its number, and a bar under both."""
    y = LOW - 8
    return [
        word(f"{key} name", left, y, says, colour, "start", SMALL),
        word(key, left + HALF, y, f"{part:.0%}", colour, "end", LARGE, HEAVY),
        *_bar(key, (left, LOW), HALF, part, colour),
    ]


def _bar(key: str, corner: Place, long: float, part: float, colour: Colour) -> list[Part]:
    """A share of all; across one that is right, how often who guesses is."""
    guess, top = corner[0] + long / LETTERS, corner[1]
    ends = (guess, top + 1.5), (guess, top + THICK + 5)
    return [
        box(f"{key} all", corner, (long, THICK), GREY, 0.16),
        box(f"{key} bar", corner, (long * part, THICK), colour),
        *([line(f"{key} guess", ends, thick=3, dashes="0 5.5")] if colour == BLUE else []),
    ]


def _four() -> list[Part]:
    """Four questions at once, to heads with keys of their own, and to heads that share one."""
    parts = [
        word("test", LEFT, 24, f"{FEW} books, {len(FOUR)} questions", INK, "start", BIG, HEAVY),
        word("other", RIGHT, 24, "another test", GREY, "end"),
    ]
    for way, key, left in (("full", "full ", LEFT), ("shared", "", RIGHT - HALF)):
        at = Shelf(left, pitch=(HALF - APART) / (FEW + 0.8), books=FEW)
        parts += [_look(key, n, 0.2, ORANGE, at, True) for n in FOUR]
        parts += [
            *_shelf(way, key, at, FOUR),
            word(f"{key}more", left, 48, WAYS[way][0].split(" keys")[0], GREY, "start"),
            *_result(f"{key}right", "right", AT_ONCE[way], BLUE, left),
            word(f"{key}guesses", left + HALF / LETTERS, HIGH - 4, "guess", GREY, size=SMALL),
        ]
    return parts


def _both(known: Known) -> list[Part]:
    """Two ways that keep about the same: what of all books, and how often each is right."""
    parts = []
    for n, (way, key) in enumerate((("window", "window "), ("shared", ""))):
        top, right = n * EACH, known[way]["right"]
        at = END._replace(top=END.top + top)
        parts += [
            _most(key, known[way], at),
            *_shelf(way, key, at),
            *_bar(f"{key}right", (LEFT, top + 102), LONG, right, BLUE),
            word(f"{key}name", LEFT, top + 22, WAYS[way][0], INK, "start", BIG, HEAVY),
            word(f"{key}keeps", RIGHT, top + 22, f"{share(way):.0%} kept", PURPLE, "end"),
            word(f"{key}of all", RIGHT, top + 92, f"{right:.0%}", BLUE, "end", HERO, HEAVY),
            word(f"{key}of all name", RIGHT, top + 114, "right if far", BLUE, "end", SMALL),
        ]
    return parts
