"""Lesson 12 opens with full attention and three shortcuts: what each keeps, and what it loses.

One shelf is asked for the letter in one far book, by its title. Purple under it is what a way
keeps; pale, behind it, what full attention keeps. Shared keys and values find that book, and fail
where four are asked for at once. In the end the shortcuts stand one under the other, each where it
fails and full attention does not. The readers were trained as the lesson trains them; `python -m
tests.claims.shortcuts` does that again, and records in `opening.json` the text that is shown, what
they look at in it, and how often they are right.
"""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

from attnlab.figures.live.film import Film, Frame
from attnlab.figures.live.parts import (
    CODE,
    INK,
    LETTER,
    SIZE,
    SMALL,
    Part,
    Place,
    arc,
    box,
    line,
    word,
)
from attnlab.figures.palette import BLUE, GREY, ORANGE, PURPLE

RECORDED = Path(__file__).with_suffix(".json")
ONE, FOUR = "of 32", "4 at once"  # one book that no window reaches; four facts
FOUND = 0.95  # right so often, it finds
WINDOW, LETTERS = 8, 8  # what a window keeps; letters that may be in a book
BOOKS, FEW = 32, 8  # in the first test, and in the second
HEADS, WIDTH = 4, 8  # and numbers in a head's key
TABLE = (WIDTH * WIDTH + WIDTH) / (2 * WIDTH)  # a head's running sum, in keys and values of a token

HIGH, LEFT, RIGHT = 270, 4, 476  # of the sheet; margins
HEAD = 18  # over all lanes
LANE = (HIGH - HEAD) / 3  # how high one is
ACROSS, BESIDE = 224, 240  # right of its shelf; left of its words
LEAST, THICKEST = 0.03, 11  # a weight that is drawn; an arc of weight 1
BOOK, WIDEST = 0.84, 0.9  # a book's width, as a share of its room; of its height, at most
DROP = 2  # rows, from what others keep down to the running sum's table
PALE, FAR = 0.22, 0.45  # what is not kept; a book that is out of reach
BIG, LARGE, HUGE, HEAVY = 24, 28, 40, 700  # words; a result in a lane; alone

NAMES = {
    "full": "full attention",
    "window": f"window of {WINDOW}",
    "sum": "running sum",
    "shared": "shared keys + values",
}
PARTS = {1: "all", 4: "a quarter", 7: "a seventh"}
GROWS = {
    "full": "grows with each book",
    "window": "stays this size",
    "sum": "stays this size",
    "shared": "grows a quarter as fast",
}
LOSES = {"window": "far books", "sum": "exact letters", "shared": "four at once"}
Cells = dict[str, dict[str, dict[str, Any]]]  # by way and test


class Scene(NamedTuple):
    """A way that is tried: what it does, in three words and in a sentence."""

    way: str
    test: str
    does: str
    told: str


SCENES = (
    Scene(
        "full",
        ONE,
        "finds the book",
        f"Full attention keeps a key and a value of each book in {HEADS} heads, and finds it.",
    ),
    Scene(
        "window",
        ONE,
        "guesses far books",
        f"A window keeps {WINDOW - 1} books and the question. It guesses the rest: 1 in {LETTERS}.",
    ),
    Scene(
        "sum",
        ONE,
        "blurs many books",
        f"Each head adds all books into one table: {WIDTH * WIDTH + WIDTH} numbers "
        f"in place of {2 * WIDTH * (BOOKS + 1)}.",
    ),
    Scene(
        "shared",
        ONE,
        "finds the book",
        "Heads that share keys and values keep a quarter, and still find the book.",
    ),
    Scene(
        "shared",
        FOUR,
        "mixes four at once",
        f"For four of {FEW} at once it looks at others, too: {{right}} of letters right. "
        "Full: {full}.",
    ),
)


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
    known: Cells = json.loads(RECORDED.read_text(encoding="utf-8"))
    shares = {way: {test: each["right"] for test, each in known[way].items()} for way in known}
    says = f"The question names a title. The answer is the letter inside: one of {LETTERS}."
    frames = [Frame(_question(_Shelf(SCENES[0], known, STAGE)), says)]
    for scene, following in pairwise([*SCENES, SCENES[-1]]):
        shelf = _Shelf(scene, known, STAGE)
        parts = [*shelf.drawn(), *_says(shelf)]
        if following.way != scene.way:
            parts += shelf.handed(following.way)
        right = {"full": shares["full"][scene.test], "right": shares[scene.way][scene.test]}
        told = scene.told.format(**{key: _percent(share) for key, share in right.items()})
        frames.append(Frame(parts, told))
    failed = [scene for scene in SCENES if shares[scene.way][scene.test] < FOUND]
    parts = [
        word("all keep", LEFT, HEAD, "keeps", PURPLE, "start"),
        word("all lose", BESIDE, HEAD, "loses", ORANGE, "start"),
        word("all right", RIGHT, HEAD, "right", ORANGE, "end"),
    ]
    parts += [part for n, scene in enumerate(failed) for part in _lane(n, scene, known)]
    least = _percent(min(shares["full"].values()))
    says = f"Small models: full attention {least} in each, shared keys for one book."
    frames.append(Frame(parts, says))
    return Film("Each shortcut loses something else", frames, HIGH)


# A shelf ------------------------------------------------------------------------------------------


class Room(NamedTuple):
    """Where a shelf is: its edges, the tops and feet of arcs, how high books are, rows of heads."""

    left: float
    right: float
    top: float
    floor: float
    high: float
    row: float


STAGE = Room(LEFT, RIGHT, 72, 150, 30, 10)


class _Shelf:
    """Books, the question after them, what it looks at, and what is kept of them.

    Args:
        scene: the way that is tried, and in what.
        known: what was recorded.
        room: where.
        lane: before keys of what other lanes have too.
    """

    def __init__(self, scene: Scene, known: Cells, room: Room, lane: str = "") -> None:
        self.scene, self.room, self.lane = scene, room, lane
        self.cell = known[scene.way][scene.test]
        self.tokens = len(self.cell["weights"])
        self.apart = (room.right - room.left) / self.tokens
        self.book = min(BOOK * self.apart, WIDEST * room.high)
        self.middle = room.floor + 2 + room.high / 2  # of books
        self.memory = room.floor + room.high + 2 + 1.4 * room.row  # of the first head's row

    @property
    def keeps(self) -> str:
        many = kept(self.tokens)
        return f"keeps {PARTS[round(many['full'] / many[self.scene.way])]}"

    def at(self, token: int) -> float:
        """The middle of its room."""
        return self.room.left + (token + 0.5) * self.apart

    def drawn(self) -> list[Part]:
        """All of it."""
        pours = self.stems() if self.scene.way == "sum" else []
        return [*pours, *self.kept(), *self.books(), *self.letters(), *self.arcs()]

    def small(self) -> list[Part]:
        """All of it where rows of heads could not be told apart: a bar is kept of a bar."""
        (left, right), way, many = self.room[:2], self.scene.way, kept(self.tokens)
        wide, y = (right - left) * many[way] / many["full"], self.memory
        start = {"window": right - wide, "sum": (left + right - wide) / 2}.get(way, left)
        bars = (("all", left, right, PALE), ("kept", start, start + wide, 1.0))
        drawn = [
            line(f"{way} {key}", [(one, y), (other, y)], PURPLE, self.room.row, seen, cap="butt")
            for key, one, other, seen in bars
        ]
        return [*drawn, *self.books(), *self.letters(), *self.arcs()]

    def kept(self) -> list[Part]:
        """By its way, and by full attention where both have a token's in one place."""
        way = self.scene.way
        others = [] if way == "sum" else self.rows("full", "all", PALE)
        return [*others, *self.rows(way, f"{way} head")]

    def handed(self, way: str) -> list[Part]:
        """Not seen yet: all that full attention keeps, which will become what another way keeps."""
        return self.rows("full", f"{way} head", 0)

    def books(self) -> list[Part]:
        """Those asked for are blue, those out of a window's reach pale; and a question mark."""
        parts = []
        for token in range(self.tokens - 1):
            key, wide = f"{self.lane}book {self._back(token)}", self.book
            corner = self.at(token) - wide / 2, self.room.floor + 2
            size, asked = (wide, self.room.high), token in self.cell["asked"]
            colour, filled, edge = (BLUE, 0.3, 1.5) if asked else (INK, 0.13, 0)
            parts.append(box(key, corner, size, colour, filled, edge, self._seen(token)))
        letter, x = max(SMALL, 0.8 * self.room.high), self.at(self.tokens - 1)
        y = self.middle + 0.36 * letter
        return [*parts, word(f"{self.lane}asks", x, y, "?", size=letter, weight=HEAVY)]

    def letters(self) -> list[Part]:
        """In the books, where they can be read."""
        if self.book < LETTER * SMALL:
            return []
        parts = []
        for token, letter in enumerate(self.cell["letters"]):
            asked = token in self.cell["asked"]
            look: dict[str, Any] = {"opacity": self._seen(token), "face": CODE, "size": SMALL}
            place = self.at(token), self.middle + 6.5
            key, colour = f"letter {self._back(token)}", BLUE if asked else INK
            look |= {"weight": HEAVY if asked else 400}
            parts.append(word(key, *place, letter, colour, **look))
        return parts

    def arcs(self) -> list[Part]:
        """From the question to all that it gives weight to, in the mean of its heads."""
        last, (_, _, top, floor, high, _) = self.tokens - 1, self.room
        thickest = THICKEST * (high / STAGE.high) ** 0.5
        parts = []
        for m, weight in enumerate(self.cell["weights"][:-1]):
            if weight < LEAST:
                continue
            pull = (floor - top) * (0.4 + 0.6 * (last - m) / last) / 0.75
            colour = BLUE if m in self.cell["asked"] else ORANGE
            key = f"{self.lane}look {self.scene.test} {m}"
            look: dict[str, Any] = {"pull": pull, "thickest": thickest}
            parts.append(arc(key, self.at(last), self.at(m), floor, weight, colour, 1.4, **look))
        return parts

    def rows(self, way: str, key: str, opacity: float = 1) -> list[Part]:
        """What a way keeps, a row for each head with a dash for each token; a sum has no tokens."""
        left, right = self.at(0) - self.book / 2, self.at(self.tokens - 1) + self.book / 2
        gap, top = self.apart - self.book, self.memory
        if way == "window":
            left = right - (WINDOW - 1) * self.apart - self.book
        elif way == "sum":
            (left, right), gap, top = self.table, 0, top + DROP * self.room.row
        dashes = f"{self.book:.3f} {gap:.3f}"
        ys = (top + (0 if way == "shared" else n) * self.room.row for n in range(HEADS))
        look = (PURPLE, 0.74 * self.room.row, opacity, dashes, "butt")
        return [line(f"{key} {n}", [(left, y), (right, y)], *look) for n, y in enumerate(ys)]

    @property
    def table(self) -> Place:
        """Where the running sum's begins and ends: in the middle."""
        middle, half = (self.room.left + self.room.right) / 2, TABLE * self.book / 2
        return middle - half, middle + half

    def stems(self) -> list[Part]:
        """From each book into the running sum's table."""
        (left, right), top = self.table, self.room.floor + self.room.high + 3
        low = self.memory + (DROP - 0.5) * self.room.row
        parts = []
        for m in sorted(range(self.tokens - 1), key=self.cell["asked"].__contains__):
            into = left + (right - left) * (m + 0.5) / (self.tokens - 1)
            look = (BLUE, 2.2, 0.9) if m in self.cell["asked"] else (PURPLE, 1.2, 0.6)
            points, key = [(self.at(m), top), (into, low)], f"stem {self._back(m)}"
            parts.append(line(key, points, *look))
        return parts

    def _back(self, token: int) -> int:
        return self.tokens - 1 - token

    def _seen(self, token: int) -> float:
        return FAR if self.scene.way == "window" and self._back(token) >= WINDOW else 1


# Words --------------------------------------------------------------------------------------------


def _percent(share: float) -> str:
    return f"{100 * share:.0f}%"


def _question(shelf: _Shelf) -> list[Part]:
    """Nothing has looked yet: an arc that asks only, and what is at its ends."""
    [asked], last = shelf.cell["asked"], shelf.tokens - 1
    pull, y = (STAGE.floor - STAGE.top) / 0.75, STAGE.floor + STAGE.high + 30
    ends = shelf.at(last), shelf.at(asked)
    look: dict[str, Any] = {"pull": pull, "thickest": 12}
    left = shelf.at(asked) - shelf.book / 2
    [title] = shelf.cell["names"]
    return [
        arc("question", *ends, STAGE.floor, 0.2, BLUE, 2, dashes="1 9", **look),
        *shelf.books(),
        word("name", LEFT, 28, f"{BOOKS} books", anchor="start", size=BIG, weight=HEAVY),
        word("does", LEFT, 56, "each has a title, and a letter inside", GREY, "start", BIG),
        word("asked", left, y, f"title {title}", BLUE, "start", BIG, HEAVY),
        word("asks for", RIGHT, y, f"what is in {title}?", anchor="end", size=BIG, weight=HEAVY),
    ]


def _says(shelf: _Shelf) -> list[Part]:
    """A way's name, what it does and keeps, and how often it is right."""
    scene, right = shelf.scene, shelf.cell["right"]
    colour = BLUE if right >= FOUND else ORANGE
    parts = [
        word("name", LEFT, 28, NAMES[scene.way], anchor="start", size=BIG, weight=HEAVY),
        word("does", LEFT, 56, scene.does, colour, "start", BIG),
        word("keeps", LEFT, HIGH - 10, shelf.keeps, PURPLE, "start", BIG, HEAVY),
        word("right", RIGHT - 52, 38, _percent(right), colour, "end", HUGE, HEAVY),
        word("of 100", RIGHT, 38, "right", colour, "end", SIZE),
    ]
    if scene.test == ONE:
        parts.append(word("grows", RIGHT, HIGH - 10, GROWS[scene.way], PURPLE, "end", SIZE))
    return parts


def _lane(n: int, scene: Scene, known: Cells) -> list[Part]:
    """A scene, small, with what it loses beside it; the last one is that of the scene before."""
    way, top = scene.way, HEAD + n * LANE
    room = Room(LEFT, ACROSS, top + 8, top + 42, 20, 8)
    shelf = _Shelf(scene, known, room, "" if scene == SCENES[-1] else f"{way} ")
    name, loss, right = (f"{way} {each}" for each in ("name", "loses", "right"))
    share, y = _percent(shelf.cell["right"]), top + 67
    return [
        *shelf.small(),
        word(name, BESIDE, top + 35, NAMES[way], anchor="start", weight=HEAVY),
        word(loss, BESIDE, y, LOSES[way], ORANGE, "start"),
        word(right, RIGHT, y, share, ORANGE, "end", LARGE, HEAVY),
    ]
