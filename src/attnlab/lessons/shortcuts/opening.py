"""Lesson 12 opens with full attention and three shortcuts, one under the other, in two tests.

Each has a lane: the books, what the question looks at, what is kept, and how often it is right.
One book of 32 is asked for, and then, in all lanes at once, four of 8. Its readers were trained as
the lesson trains them; `python -m tests.claims.shortcuts` does that again, and records in
`opening.json` what they look at in one text, and how often they are right.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from attnlab.figures.live.film import Film, Frame
from attnlab.figures.live.parts import INK, SMALL, Part, arc, box, dot, line, word
from attnlab.figures.palette import BLUE, GREY, ORANGE, PURPLE

RECORDED = Path(__file__).with_suffix(".json")
ONE, FOUR = TESTS = "of 32", "4 at once"  # one book that no window reaches; four facts
FOUND = 0.95  # right so often, it finds
WINDOW, LETTERS = 8, 8  # what a window keeps; letters that may be in a book
BOOKS, FEW = 32, 8  # in the first test, and in the second
HEADS, WIDTH = 4, 8  # and numbers in a head's key
TABLE = (WIDTH * WIDTH + WIDTH) / (2 * WIDTH)  # a head's running sum, in keys and values of a token

HIGH, TOPS = 270, (16, 37)  # of the sheet; lines over the lanes
LANES, LOW = 46, 270  # from here to there are lanes, which share the room
FIRST, LAST = 104, {ONE: 378, FOUR: 272}  # middles of the first book, and of the one that asks
COLUMNS = {ONE: {ONE: 430}, FOUR: {ONE: 326, FOUR: 430}}  # of results, in each test
LINE, RESULT = 20, 28  # from line to line of a name; size of a result
TALLEST, LEAST = 110, 0.03  # an arc; a weight that is drawn
HEAVY = 600

WAYS = {
    "full": ("full", "attention"),
    "window": ("window", f"of {WINDOW}"),
    "sum": ("running", "sum"),
    "shared": ("shared", "keys"),
}
Cells = dict[str, dict[str, Any]]  # a way's, by test


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
    known: dict[str, Cells] = json.loads(RECORDED.read_text(encoding="utf-8"))
    told = [
        "Full attention keeps all, in four heads, looks at each, and finds the book.",
        f"A window keeps the last {WINDOW}. What is further off, it guesses: "
        f"one of {LETTERS} letters.",
        "A running sum adds all books into one small table a head. They blur there.",
        "Heads that share keys and values keep a quarter, and still find the book.",
    ]
    says = f"{BOOKS} dots are books, each with one of {LETTERS} letters. The last dot asks for one."
    [first] = _lanes(known, 1)
    frames = [Frame([_books(ONE), *first.question(), *first.books(ONE)], says)]
    over = [_books(ONE), _kept(), *_head(ONE, ONE)]
    for many, says in enumerate(told, 1):
        lanes = _lanes(known, many)
        landed = [part for lane in lanes for part in lane.drawn(ONE)]
        coming = [part for way in [*WAYS][many : many + 1] for part in lanes[-1].handed(way)]
        frames.append(Frame([*over, *landed, *coming], says))
    over = [_books(FOUR), _kept(), *_head(ONE, FOUR), *_head(FOUR, FOUR)]
    asked = [part for lane in lanes for part in lane.asked()]
    says = f"A second test: of {FEW} books, four are asked for at once."
    frames.append(Frame([*over, *asked], says))
    landed = [part for lane in lanes for part in lane.drawn(FOUR)]
    says = "Full attention finds all four. One short shared key mixes them up."
    frames.append(Frame([*over, *landed], says))
    missed = [lane.missed() for lane in lanes[1:]]
    says = (
        f"No shortcut keeps little and finds all here. The window sees {WINDOW - 1} of {FEW} books."
    )
    frames.append(Frame([*over, *missed, *landed], says))
    return Film("What each shortcut keeps, and how often it is right", frames, HIGH)


# Over the lanes -----------------------------------------------------------------------------------


def _books(test: str) -> Part:
    """What dots are."""
    says = f"{BOOKS if test == ONE else FEW} books"
    return word("books", FIRST - 5, TOPS[0], says, anchor="start", size=SMALL, weight=HEAVY)


def _kept() -> Part:
    """What is purple."""
    return word("kept", FIRST - 5, TOPS[1], "kept", PURPLE, "start", SMALL, HEAVY)


def _head(column: str, test: str) -> list[Part]:
    """Of a column of results."""
    x, many = COLUMNS[test][column], f"1 of {BOOKS}" if column == ONE else f"4 of {FEW}"
    return [
        word(f"{column} many", x, TOPS[0], many, size=SMALL, weight=HEAVY),
        word(f"{column} asked", x, TOPS[1], "asked for", BLUE, size=SMALL),
    ]


# A lane -------------------------------------------------------------------------------------------


class _Lane:
    """What one way keeps, looks at and finds.

    Args:
        way: one of `WAYS`.
        cells: what was recorded of it, by test.
        top: y.
        high: how much room it has.
    """

    def __init__(self, way: str, cells: Cells, top: float, high: float) -> None:
        self.way, self.cells = way, cells
        large = high / (LOW - LANES) * len(WAYS)  # beside one of four lanes
        self.root = large**0.5  # so much larger its parts are
        self.row = 5 * self.root  # from head to head
        low = top + high - 3 * large  # of what is kept
        self.kept = low - 3 * self.row - self.row / 3
        self.middle = self.kept - 10 * self.root
        self.floor = self.middle - 6 * self.root  # of arcs
        self.tall = min(self.floor - top - 1, TALLEST)

    def drawn(self, test: str) -> list[Part]:
        """All of it, as it is once it has answered in a test."""
        return [*self._looks(test), *self._stands(test), *self._results(test, COLUMNS[test])]

    def asked(self) -> list[Part]:
        """As it is before it has answered in the second test."""
        return [*self._stands(FOUR), *self._results(FOUR, [ONE])]

    def handed(self, way: str) -> list[Part]:
        """Not seen yet: what the next way is given, the text here and all that is kept of it."""
        parts = [*self.books(ONE), *self._memory(ONE)]
        return [
            part._replace(key=part.key.replace(self.way, way, 1), look={**part.look, "opacity": 0})
            for part in parts
        ]

    def question(self) -> list[Part]:
        """An arc that asks only, and what is at its ends."""
        last, y = self._tokens(ONE) - 1, self.middle + 36
        ends = self._at(last, ONE), self._at(self.cells[ONE]["asked"][0], ONE)
        pull = self.tall / 0.75
        return [
            arc("question", *ends, self.floor, 0.2, BLUE, 2, pull=pull, dashes="1 9", thickest=12),
            word("asked", ends[1], y, "asked for", BLUE, size=SMALL),
            word("asks", ends[0] + 6, y, "asks", anchor="end", size=SMALL),
        ]

    def missed(self) -> Part:
        """Behind the worse of its results."""
        test = min(TESTS, key=lambda each: float(self.cells[each]["right"]))
        wide, high = 84, 38
        corner = (COLUMNS[FOUR][test] - wide / 2, self.middle - high / 2)
        return box(f"{self.way} missed", corner, (wide, high), ORANGE, 0.15)

    def books(self, test: str) -> list[Part]:
        """And the token that asks; those out of a window's reach are pale."""
        tokens, asked = self._tokens(test), self.cells[test]["asked"]
        small, big = 3 * self.root**0.3, 5.5 * self.root**0.6
        parts = []
        for back in range(tokens):
            token = tokens - 1 - back
            colour, r = (BLUE, big) if token in asked else (INK, small if back else big)
            pale = (
                (0.45 if token in asked else 0.3) if self.way == "window" and back >= WINDOW else 1
            )
            place = self._at(token, test), self.middle
            parts.append(dot(f"{self.way} {back} back", *place, r, colour, pale))
        return sorted(parts, key=lambda part: float(part.look["r"]))

    def _stands(self, test: str) -> list[Part]:
        name = [
            word(f"{self.way} name {n}", 4, y, says, anchor="start", size=SMALL, weight=500)
            for n, says in enumerate(WAYS[self.way])
            for y in [self.middle - 4 + LINE * n]
        ]
        return [*name, *self.books(test), *self._memory(test)]

    def _looks(self, test: str) -> list[Part]:
        """Arcs from what asks to all that it gives weight to."""
        weights, asked = self.cells[test]["weights"], self.cells[test]["asked"]
        last = len(weights) - 1
        parts = []
        for m, weight in enumerate(weights[:-1]):
            ends = self._at(last, test), self._at(m, test)
            pull = self.tall * (0.4 + 0.6 * (last - m) / last) / 0.75
            colour, thickest = (BLUE if m in asked else ORANGE), 11 * self.root**0.6
            key = f"{self.way} look {test} {m}"
            if weight >= LEAST:
                look = {"pull": pull, "thickest": thickest}
                parts.append(arc(key, *ends, self.floor, weight, colour, 1.4, **look))
        if self.way == "window" and test == ONE:
            middle = (self._at(asked[0], test) + self._at(last - WINDOW, test)) / 2
            parts.append(word("out", middle, self.floor - 5, "out of reach", GREY, size=SMALL))
        return parts

    def _memory(self, test: str) -> list[Part]:
        """A row for each head, with a dash for each token; a running sum's has no tokens."""
        tokens, long = self._tokens(test), 6.0  # of a token
        held = WINDOW if self.way == "window" else tokens
        step = (LAST[test] - FIRST) / (tokens - 1)
        right = LAST[test] + long / 2
        left, gap = right - (held - 1) * step - long, step - long
        if self.way == "sum":
            left, gap = right - TABLE * long, 0
        look = (PURPLE, 0.72 * self.row, 1, f"{long} {gap:.3f}", "butt")
        ys = (self.kept + (0 if self.way == "shared" else n * self.row) for n in range(HEADS))
        return [
            line(f"{self.way} head {n}", [(left, y), (right, y)], *look) for n, y in enumerate(ys)
        ]

    def _results(self, test: str, columns: Iterable[str]) -> list[Part]:
        """How often it is right, in one test or both."""
        parts = []
        for column in columns:
            right, place = self.cells[column]["right"], (COLUMNS[test][column], self.middle + 10)
            colour, says = (BLUE if right >= FOUND else ORANGE), f"{100 * right:.0f}%"
            key = f"{self.way} {column}"
            parts.append(word(key, *place, says, colour, size=RESULT, weight=700))
        return parts

    def _tokens(self, test: str) -> int:
        return len(self.cells[test]["weights"])

    def _at(self, token: int, test: str) -> float:
        return FIRST + token * (LAST[test] - FIRST) / (self._tokens(test) - 1)


def _lanes(known: dict[str, Cells], many: int) -> list[_Lane]:
    """The first ways, so many that share the room."""
    high = (LOW - LANES) / many
    return [_Lane(way, known[way], LANES + n * high, high) for n, way in enumerate([*WAYS][:many])]
