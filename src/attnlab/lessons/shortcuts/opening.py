"""Lesson 12 opens with full attention and three shortcuts: what each keeps, and what it loses.

One shelf is asked for the letter in one far book. Purple under it is what a way keeps; pale, behind
it, what full attention keeps. Shared keys find that book, and fail where four are asked for at
once. In the end the shortcuts stand one under the other, each where it fails. The readers were
trained as the lesson trains them; `python -m tests.claims.shortcuts` does that again, and records
in `opening.json` the text that is shown, what they look at in it, and how often they are right.
"""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

from attnlab.figures.live.film import Film, Frame
from attnlab.figures.live.parts import CODE, INK, SIZE, SMALL, Part, arc, box, line, word
from attnlab.figures.palette import BLUE, GREY, ORANGE, PURPLE

RECORDED = Path(__file__).with_suffix(".json")
ONE, FOUR = "of 32", "4 at once"  # one book that no window reaches; four facts
FOUND = 0.95  # right so often, it finds
WINDOW, LETTERS = 8, 8  # what a window keeps; letters that may be in a book
BOOKS, FEW = 32, 8  # in the first test, and in the second
HEADS, WIDTH = 4, 8  # and numbers in a head's key
TABLE = (WIDTH * WIDTH + WIDTH) / (2 * WIDTH)  # a head's running sum, in keys and values of a token

HIGH, LEFT, RIGHT = 270, 4, 476  # of the sheet; margins
LANE, BESIDE = HIGH / 3, 286  # how high a lane is; left of its words
LEAST, THICKEST = 0.03, 11  # a weight that is drawn; an arc of weight 1
BOOK, WIDEST = 0.84, 0.9  # a book's width, as a share of its room; of its height, at most
PALE, FAR = 0.22, 0.45  # what is not kept; a book that is out of reach
BIG, HUGE, HEAVY = 24, 40, 700  # words; a result

NAMES = {
    "full": "full attention",
    "window": f"window of {WINDOW}",
    "sum": "running sum",
    "shared": "shared keys",
}
PARTS = {1: "all", 4: "a quarter", 7: "a seventh"}
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
        "loses far books",
        f"A window keeps the last {WINDOW}. Further back it guesses: 1 of {LETTERS} letters, so "
        f"{100 / LETTERS:.0f}%.",
    ),
    Scene(
        "sum",
        ONE,
        "blurs many books",
        "For a running sum, each head adds all books into one small table. They blur.",
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
        f"But ask for four of {FEW} books at once: one short key a book is too little here.",
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
    says = f"Name the letter in the blue book: one of {LETTERS}, far back among {BOOKS} books."
    frames = [Frame(_question(_Shelf(SCENES[0], known, STAGE)), says)]
    for scene, following in pairwise([*SCENES, SCENES[-1]]):
        shelf = _Shelf(scene, known, STAGE)
        parts = [*shelf.drawn(), *_says(shelf, known["full"][scene.test]["right"])]
        if following.way != scene.way:
            parts += shelf.handed(following.way)
        frames.append(Frame(parts, scene.told))
    failed = [each for each in SCENES if known[each.way][each.test]["right"] < FOUND]
    lanes = [part for n, scene in enumerate(failed) for part in _lane(n, scene, known)]
    found = min(known["full"][scene.test]["right"] for scene in failed)
    says = f"In these small models, full attention is {_percent(found)} right in all three."
    frames.append(Frame(lanes, says))
    return Film("Each shortcut keeps less, and loses something else", frames, HIGH)


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
        """All of it; letters only where they can be read."""
        letters = self.letters() if self.room is STAGE else []
        way = self.scene.way
        rows = [*self.rows("full", f"{self.lane}all", PALE), *self.rows(way, f"{way} head")]
        return [*rows, *self.arcs(), *self.books(), *letters]

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
        """In the books."""
        parts = []
        for token, letter in enumerate(self.cell["letters"]):
            asked = token in self.cell["asked"]
            look: dict[str, Any] = {"opacity": self._seen(token), "face": CODE, "size": SMALL}
            place = self.at(token), self.middle + 6.5
            key, colour, weight = f"letter {self._back(token)}", BLUE if asked else INK, HEAVY
            look |= {"weight": weight if asked else 400}
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
            key = f"{self.scene.way} look {self.scene.test} {m}"
            look: dict[str, Any] = {"pull": pull, "thickest": thickest}
            parts.append(arc(key, self.at(last), self.at(m), floor, weight, colour, 1.4, **look))
        return parts

    def rows(self, way: str, key: str, opacity: float = 1) -> list[Part]:
        """What a way keeps, a row for each head with a dash for each token; a sum has no tokens."""
        left, right = self.at(0) - self.book / 2, self.at(self.tokens - 1) + self.book / 2
        gap = self.apart - self.book
        if way == "window":
            left = right - (WINDOW - 1) * self.apart - self.book
        elif way == "sum":
            middle, long, gap = (left + right) / 2, TABLE * self.book, 0
            left, right = middle - long / 2, middle + long / 2
        dashes = f"{self.book:.3f} {gap:.3f}"
        ys = (self.memory + (0 if way == "shared" else n) * self.room.row for n in range(HEADS))
        look = (PURPLE, 0.74 * self.room.row, opacity, dashes, "butt")
        return [line(f"{key} {n}", [(left, y), (right, y)], *look) for n, y in enumerate(ys)]

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
    return [
        arc("question", *ends, STAGE.floor, 0.2, BLUE, 2, dashes="1 9", **look),
        *shelf.books(),
        *shelf.letters(),
        word("name", LEFT, 28, f"{BOOKS} books", anchor="start", size=BIG, weight=HEAVY),
        word("does", LEFT, 56, f"one of {LETTERS} letters in each", GREY, "start", BIG),
        word("asked", left, y, "which letter is in it?", BLUE, "start", BIG, HEAVY),
    ]


def _says(shelf: _Shelf, full: float) -> list[Part]:
    """A way's name, what it does and keeps, and how often it and full attention are right."""
    scene, right = shelf.scene, shelf.cell["right"]
    colour = BLUE if right >= FOUND else ORANGE
    parts = [
        word("name", LEFT, 28, NAMES[scene.way], anchor="start", size=BIG, weight=HEAVY),
        word("does", LEFT, 56, scene.does, colour, "start", BIG, HEAVY),
        word("keeps", LEFT, HIGH - 10, shelf.keeps, PURPLE, "start", BIG, HEAVY),
        word("right", RIGHT - 52, 38, _percent(right), colour, "end", HUGE, HEAVY),
        word("of 100", RIGHT, 38, "right", colour, "end", SIZE),
    ]
    if scene.way != "full":
        says = f"full attention {_percent(full)}"
        parts.append(word("beside", RIGHT, 62, says, GREY, "end", SMALL))
        says = "of what full attention keeps"
        parts.append(word("of all", RIGHT, HIGH - 10, says, GREY, "end", SMALL))
    return parts


def _lane(n: int, scene: Scene, known: Cells) -> list[Part]:
    """A scene, small, with its words beside it; the last one is that of the scene before."""
    top, last = n * LANE, scene == SCENES[-1]
    room = Room(LEFT, BESIDE - 18, top + 5, top + 48, 14, 4.6)
    shelf = _Shelf(scene, known, room, "" if last else f"{scene.way} ")
    way, right = scene.way, shelf.cell["right"]
    return [
        *shelf.drawn(),
        word(f"{way} name", BESIDE, top + 26, NAMES[way], anchor="start", weight=HEAVY),
        word(f"{way} right", RIGHT, top + 26, _percent(right), ORANGE, "end", BIG, HEAVY),
        word(f"{way} does", BESIDE, top + 51, scene.does, ORANGE, "start", SIZE, HEAVY),
        word(f"{way} keeps", BESIDE, top + 76, shelf.keeps, PURPLE, "start", SIZE, HEAVY),
    ]
